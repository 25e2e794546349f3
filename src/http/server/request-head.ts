// Rejects invalid request heads that node:http lets pass.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type FailureCode, GatewayError } from '../../errors.ts'

/**
 * Apache and HAProxy accept about a hundred lines. A header line may be as short as four bytes, and takes up to twenty
 * times that in memory.
 */
const MAX_HEADER_LINES = 128

/** Number of lines that node:http reads: one more than a request may have, which reveals that there are too many. */
export const HEADER_LINES_READ = MAX_HEADER_LINES + 1

/** RFC 3986 section 3.2: a name, an IPv4 address, or an IPv6 address in brackets, with an optional port. */
const HOST = /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*|\[[\da-f:.]{2,45}\])(?::\d*)?$/i

/** RFC 9110 section 4.2.1: an absolute target with an empty host is invalid. */
const NAMELESS_TARGET = /^https?:\/\/(?:[:/?#]|$)/i

/**
 * Returns why the head is refused; null for a valid one. `namedHost` is the host of an absolute target, otherwise the
 * `Host` field.
 */
export function refusalOfHead(incoming: IncomingMessage, namedHost: string | undefined): FailureCode | null {
  if (hasTooManyLines(incoming)) return 'HEADERS_TOO_LARGE'
  return isSound(incoming, namedHost) ? null : 'BAD_REQUEST'
}

function hasTooManyLines({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length > MAX_HEADER_LINES * 2
}

/**
 * Checks the version (RFC 9112 section 2.3: HTTP/1), and `Host` (section 3.2: exactly one valid line, optional only in
 * HTTP/1.0). `namedHost` must be a valid host too; in an absolute target it contains no user name (RFC 9110 section
 * 4.2.4). Content-Type and Authorization may not repeat: node:http keeps the first line and drops the others, while a
 * proxy may read another one.
 */
function isSound(incoming: IncomingMessage, namedHost: string | undefined): boolean {
  const { httpVersionMajor, httpVersionMinor, rawHeaders, headers, url = '' } = incoming
  const { host } = headers
  if (!url.startsWith('/') && NAMELESS_TARGET.test(url)) return false
  if (httpVersionMajor !== 1 || (namedHost !== host && !HOST.test(namedHost ?? ''))) return false
  if (host === undefined ? httpVersionMinor > 0 : !HOST.test(host)) return false
  return hasNoRepeatedLine(rawHeaders) && !hasUnknownCoding(headers)
}

/** Runs for every request, so it reads a name only when another name is as long. */
function hasNoRepeatedLine(rawHeaders: readonly string[]): boolean {
  let asLongAsHost = 0
  let asLongAsContentType = 0
  let asLongAsAuthorization = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const length = rawHeaders[at]?.length
    if (length === 4) asLongAsHost += 1
    else if (length === 12) asLongAsContentType += 1
    else if (length === 13) asLongAsAuthorization += 1
  }
  return (
    (asLongAsHost <= 1 || !isRepeated('host', rawHeaders)) &&
    (asLongAsContentType <= 1 || !isRepeated('content-type', rawHeaders)) &&
    (asLongAsAuthorization <= 1 || !isRepeated('authorization', rawHeaders))
  )
}

function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  let lines = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at]
    if (given?.length === name.length && given.toLowerCase() === name) lines += 1
  }
  return lines > 1
}

/**
 * RFC 9112 section 6.1: node:http decodes chunks but no other transfer coding, so the body would be read in its coded
 * form.
 */
function hasUnknownCoding({ 'transfer-encoding': codings }: IncomingHttpHeaders): boolean {
  return codings !== undefined && codings.toLowerCase() !== 'chunked'
}

/** Throws `UNSUPPORTED_MEDIA_TYPE` for a coded body. Names of codings are case-insensitive (RFC 9110 section 8.4.1). */
export function requirePlainBody({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding'] ?? ''
  if (coding === '' || coding.toLowerCase() === 'identity') return
  throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', {
    message: 'Send the body without a content encoding.',
    acceptEncoding: 'identity',
  })
}

/** RFC 9110 section 10.1.1: HTTP/1.0 has no `100 Continue`. */
export function expectsContinue({ httpVersionMinor, headers }: IncomingMessage): boolean {
  return httpVersionMinor > 0 && headers.expect?.toLowerCase() === '100-continue'
}

/**
 * Whether a proxy may see another end of this request, so that its connection must close. RFC 9112 section 6.1:
 * HTTP/1.0 has no transfer codings, and the gateway knows none but chunked. The same holds for a request whose lines
 * were not all read.
 */
export function hasFaultyFraming(incoming: IncomingMessage): boolean {
  const { httpVersionMinor, headers } = incoming
  if (httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined) return true
  return hasUnknownCoding(headers) || hasTooManyLines(incoming)
}
