// Request bodies that are JSON.
import { GatewayError } from '../errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** `application/json`, and no charset but UTF-8 (RFC 8259 section 8.1). */
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i

export function isJsonMediaType(contentType: string | undefined): boolean {
  return JSON_MEDIA_TYPE.test(contentType ?? '')
}

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
