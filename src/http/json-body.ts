// Decodes and parses JSON request bodies.
import { GatewayError } from '../errors.ts'
import { parseJsonText } from '../json-text.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes a body as UTF-8. Throws `MALFORMED_JSON` if it is not UTF-8. */
export function jsonText(bytes: Uint8Array): string {
  return orMalformed(() => utf8.decode(bytes))
}

/** Throws `MALFORMED_JSON`; the error reveals nothing of the text. */
export function parseJson(text: string): unknown {
  // Often the client did send a body, and a proxy or a redirect dropped it.
  if (text === '') throw new GatewayError('MALFORMED_JSON', { message: 'The request has no body: send JSON.' })
  return orMalformed(() => parseJsonText(text))
}

function orMalformed<T>(read: () => T): T {
  try {
    return read()
  } catch {
    throw new GatewayError('MALFORMED_JSON')
  }
}
