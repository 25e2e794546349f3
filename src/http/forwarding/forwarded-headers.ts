// Parses `Forwarded` (RFC 7239) and `X-Forwarded-*` into lists of hops, the client first; it does not decide which to
// trust.
import { isIP, isIPv6 } from 'node:net'
import { withoutOptionalWhiteSpace } from '../negotiation/optional-white-space.ts'

/** What one proxy reports about the sender of the request that it forwards. */
export interface Hop {
  /** An IP address; null for `unknown`, an obfuscated name or an invalid value. */
  readonly address: string | null
  readonly scheme: 'http' | 'https' | null
  /** Host and port; null when absent or invalid. */
  readonly host: string | null
}

/** From a longer chain only the nearest hops are read: only those can be trusted. */
const MAX_HOPS = 32

type ReadHeader = (name: string) => string | undefined

/** A hop exists, but nothing is known about it. */
const UNKNOWN: Hop = { address: null, scheme: null, host: null }

/**
 * Returns null without the header, and for a header without elements. A malformed element becomes an unknown hop, so
 * that no other header is trusted in its place; the hops nearer to the gateway stay valid. After an unclosed quotation
 * mark, the rest of the header is one malformed element.
 */
export function forwardedHops(header: ReadHeader): readonly Hop[] | null {
  const elements = partsOutsideQuotes(header('forwarded') ?? '', ',')
  if (elements.length === 0) return null
  return elements.slice(-MAX_HOPS).map((element) => {
    const pairs = readPairs(element)
    if (pairs === null) return UNKNOWN
    return {
      address: nodeAddress(pairs.get('for')),
      scheme: toScheme(pairs.get('proto')),
      host: toHost(pairs.get('host')),
    }
  })
}

/**
 * Returns null without `X-Forwarded-For`. A list of schemes or hosts that is as long as the address list is matched hop
 * by hop. From a list of any other length only the last item is used: the nearest proxy added it.
 */
export function xForwardedHops(header: ReadHeader): readonly Hop[] | null {
  const addresses = header('x-forwarded-for')?.split(',')
  if (addresses === undefined) return null
  const schemes = header('x-forwarded-proto')?.split(',') ?? []
  const hosts = header('x-forwarded-host')?.split(',') ?? []
  const first = Math.max(0, addresses.length - MAX_HOPS)
  const at = (list: readonly string[], index: number) =>
    withoutOptionalWhiteSpace((list.length === addresses.length ? list[index] : list.at(-1)) ?? '')
  return addresses.slice(first).map((_, place) => ({
    address: nodeAddress(at(addresses, first + place)),
    scheme: toScheme(at(schemes, first + place)),
    host: toHost(at(hosts, first + place)),
  }))
}

const PAIR = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z:[\]-]+)|"((?:[^"\\]|\\.)*)")$/

/**
 * Parses one element (RFC 7239 section 4), but tolerates an unquoted port or bracket. Returns null when the element is
 * malformed or names a parameter twice.
 */
function readPairs(element: string): ReadonlyMap<string, string> | null {
  const pairs = new Map<string, string>()
  for (const part of partsOutsideQuotes(element, ';')) {
    const [, name, token, quoted] = PAIR.exec(part) ?? []
    if (name === undefined || pairs.has(name.toLowerCase())) return null
    pairs.set(name.toLowerCase(), token ?? (quoted ?? '').replace(/\\(.)/g, '$1'))
  }
  return pairs
}

/**
 * Splits at separators outside quotes. Drops empty parts: they carry no meaning (RFC 9110 section 5.6.1, RFC 7239
 * section 4).
 */
function partsOutsideQuotes(text: string, separator: ',' | ';'): readonly string[] {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (isQuoted && character === '\\') at += 1
    else if (character === '"') isQuoted = !isQuoted
    else if (character === separator && !isQuoted) {
      parts.push(withoutOptionalWhiteSpace(text.slice(start, at)))
      start = at + 1
    }
  }
  parts.push(withoutOptionalWhiteSpace(text.slice(start)))
  return parts.filter((part) => part !== '')
}

/**
 * Parses `192.0.2.1`, `192.0.2.1:47011`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:47011` (RFC 7239 section 6).
 */
function nodeAddress(node: string | undefined): string | null {
  if (node === undefined) return null
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\w{1,5})?$/.exec(node) ?? []
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed : null
  const address = plain ?? node
  return isIP(address) === 0 || address.includes('%') ? null : address
}

function toScheme(text: string | undefined): Hop['scheme'] {
  const lower = text?.toLowerCase()
  return lower === 'http' || lower === 'https' ? lower : null
}

/** A name or an address, with an optional port (RFC 3986 section 3.2). */
export function isHost(text: string): boolean {
  return /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/.test(text)
}

function toHost(text: string | undefined): string | null {
  return text !== undefined && isHost(text) ? text : null
}
