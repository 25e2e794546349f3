// Reads the Content-Type of a body, for every caller in one place.
import { MIMEType } from 'node:util'

/** A longer header never counts as JSON, because MIMEType takes quadratic time on runs of spaces. */
const MAX_LENGTH = 256
/** ASCII is a part of UTF-8; clients for .NET and Java name it. */
const CHARSETS: readonly string[] = ['utf-8', 'utf8', 'us-ascii']

/**
 * True for `application/json` with any parameters, as long as the charset is absent, or UTF-8 (RFC 8259 section 8.1) or
 * a part of it.
 */
export function isJsonMediaType(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  if (contentType === undefined || contentType.length > MAX_LENGTH) return false
  const { essence, params } = readMediaType(contentType) ?? {}
  const charset = params?.get('charset')?.toLowerCase() ?? 'utf-8'
  return essence === 'application/json' && CHARSETS.includes(charset)
}

function readMediaType(contentType: string): MIMEType | null {
  try {
    return new MIMEType(contentType)
  } catch {
    return null
  }
}
