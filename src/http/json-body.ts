// Request bodies that are JSON.
import { GatewayError } from '../errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

export interface JsonBody {
  readonly text: string
  readonly value: unknown
}

/** Throws `MALFORMED_JSON`, without a word of what the body holds. */
export function parseJson(bytes: Uint8Array): JsonBody {
  try {
    const text = utf8.decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch {
    throw new GatewayError('MALFORMED_JSON')
  }
}
