// Reads the Content-Type of a body, for every caller in one place.
import { MIMEType } from 'node:util'

/** A longer header never counts as JSON, because MIMEType takes quadratic time on runs of spaces. */
const MAX_LENGTH = 256

/**
 * True for `application/json` with any parameters, as long as the charset is UTF-8 or absent (RFC 8259 section 8.1).
 */
export function isJsonMediaType(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  if (contentType === undefined || contentType.length > MAX_LENGTH) return false
  const { essence, params } = readMediaType(contentType) ?? {}
  const charset = params?.get('charset')?.toLowerCase() ?? 'utf-8'
  return essence === 'application/json' && (charset === 'utf-8' || charset === 'utf8')
}

function readMediaType(contentType: string): MIMEType | null {
  try {
    return new MIMEType(contentType)
  } catch {
    return null
  }
}
