// Request bodies that are JSON.
import { GatewayError } from '../errors.ts'
import { parseJsonText } from '../json-text.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The text of a body. Throws `MALFORMED_JSON` where it is not UTF-8. */
export function jsonText(bytes: Uint8Array): string {
  return orMalformed(() => utf8.decode(bytes))
}

/** Throws `MALFORMED_JSON`, without a word of what the text holds. */
export function parseJson(text: string): unknown {
  return orMalformed(() => parseJsonText(text))
}

function orMalformed<T>(read: () => T): T {
  try {
    return read()
  } catch {
    throw new GatewayError('MALFORMED_JSON')
  }
}
