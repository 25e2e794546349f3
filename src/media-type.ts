// What a Content-Type says of a body: one reader for everybody who asks.
import { MIMEType } from 'node:util'

/** A longer header names no JSON: MIMEType takes quadratic time on runs of spaces. */
const MAX_LENGTH = 256

/** `application/json` with any parameters, and no charset but UTF-8 (RFC 8259 section 8.1). */
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
