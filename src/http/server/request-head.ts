// What is wrong with the head of a request that node:http lets pass.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type FailureCode, GatewayError } from '../../errors.ts'

/** Apache and HAProxy take about a hundred. In memory a line takes up to twenty times what it has on the wire: four bytes. */
const MAX_HEADER_LINES = 128

/** What node:http is to read: one line more than a request may have, which tells that there are too many. */
export const HEADER_LINES_READ = MAX_HEADER_LINES + 1

/** RFC 3986 section 3.2: a name, an IPv4 address or an IPv6 address in brackets, and perhaps a port. */
const HOST = /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*|\[[\da-f:.]{2,45}\])(?::\d*)?$/i

/** RFC 9110 section 4.2.1: an absolute target with an empty host. */
const NAMELESS_TARGET = /^https?:\/\/(?:[:/?#]|$)/i

/** Why it is refused; null for a sound one. `namedHost` is that of an absolute target, else the one of `Host`. */
export function refusalOfHead(incoming: IncomingMessage, namedHost: string | undefined): FailureCode | null {
  if (hasTooManyLines(incoming)) return 'HEADERS_TOO_LARGE'
  return isSound(incoming, namedHost) ? null : 'BAD_REQUEST'
}

function hasTooManyLines({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length > MAX_HEADER_LINES * 2
}

/**
 * RFC 9112 section 2.3: the version is one of HTTP/1. Section 3.2: the request has exactly one Host, or none in HTTP/1.0, and its value
 * is one of a host. So is `namedHost`, that of an absolute target (RFC 9110 section 4.2.4: it names no user), else the same. Of other
 * fields that a proxy may read as well, node:http takes the first line and drops the others: such a field has one line.
 */
function isSound(incoming: IncomingMessage, namedHost: string | undefined): boolean {
  const { httpVersionMajor, httpVersionMinor, rawHeaders, headers, url = '' } = incoming
  const { host } = headers
  if (!url.startsWith('/') && NAMELESS_TARGET.test(url)) return false
  if (httpVersionMajor !== 1 || (namedHost !== host && !HOST.test(namedHost ?? ''))) return false
  if (host === undefined ? httpVersionMinor > 0 : !HOST.test(host)) return false
  return hasNoRepeatedLine(rawHeaders) && !hasUnknownCoding(headers)
}

/** Runs for every request: a name is read only where another one is as long. */
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

/** RFC 9112 section 6.1: node:http takes the chunks off and leaves any other coding on, so the body would be read as what it is not. */
function hasUnknownCoding({ 'transfer-encoding': codings }: IncomingHttpHeaders): boolean {
  return codings !== undefined && codings.toLowerCase() !== 'chunked'
}

/** Throws `UNSUPPORTED_MEDIA_TYPE`. RFC 9110 section 8.4.1: the names of codings have no case. */
export function requirePlainBody({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding'] ?? ''
  if (coding === '' || coding.toLowerCase() === 'identity') return
  throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body without a content encoding.' })
}

/** RFC 9110 section 10.1.1: HTTP/1.0 has no such answer. */
export function expectsContinue({ httpVersionMinor, headers }: IncomingMessage): boolean {
  return httpVersionMinor > 0 && headers.expect?.toLowerCase() === '100-continue'
}

/**
 * RFC 9112 section 6.1: HTTP/1.0 has no transfer codings, and others than chunks are unknown here. A proxy may see another end
 * of such a request, and its connection closes. So does that of a request whose lines were not all read.
 */
export function hasFaultyFraming(incoming: IncomingMessage): boolean {
  const { httpVersionMinor, headers } = incoming
  if (httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined) return true
  return hasUnknownCoding(headers) || hasTooManyLines(incoming)
}
