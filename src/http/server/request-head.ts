// What is wrong with the head of a request that node:http lets pass.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** RFC 3986 section 3.2: a name, an IPv4 address or an IPv6 address in brackets, and perhaps a port. */
const HOST = /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*|\[[\da-f:.]{2,45}\])(?::\d*)?$/i

/**
 * RFC 9112 section 3.2: the request has exactly one Host, or none in HTTP/1.0, and its value is one of a host. Of other
 * fields that a proxy may read as well, node:http takes the first line and drops the others: such a field has one line.
 */
export function isSoundHead({ httpVersionMinor, rawHeaders, headers }: IncomingMessage): boolean {
  const { host } = headers
  if (host === undefined ? httpVersionMinor > 0 : !HOST.test(host)) return false
  return hasNoRepeatedLine(rawHeaders) && !hasUnknownCoding(headers)
}

/** Runs for every request: the length of a name rules out nearly all of them. */
function hasNoRepeatedLine(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  let contentTypes = 0
  let authorizations = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
    else if (name.length === 12 && name.toLowerCase() === 'content-type') contentTypes += 1
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations += 1
  }
  return hosts <= 1 && contentTypes <= 1 && authorizations <= 1
}

/** RFC 9112 section 6.1: node:http takes the chunks off and leaves any other coding on, so the body would be read as what it is not. */
function hasUnknownCoding({ 'transfer-encoding': codings }: IncomingHttpHeaders): boolean {
  return codings !== undefined && codings.toLowerCase() !== 'chunked'
}

/**
 * RFC 9112 section 6.1: HTTP/1.0 has no transfer codings, and others than chunks are unknown here. A proxy may see another end
 * of such a request, and its connection closes.
 */
export function hasFaultyFraming({ httpVersionMinor, headers }: IncomingMessage): boolean {
  return (httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined) || hasUnknownCoding(headers)
}
