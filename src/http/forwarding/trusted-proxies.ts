// Knows which peer addresses are the operator's proxies: only their statements about a client are trusted.
import { BlockList, isIP, isIPv6 } from 'node:net'

export interface TrustedProxies {
  /** False for a text that is not an IP address. */
  readonly includes: (address: string) => boolean
}

/**
 * Explains why a text is not an address or a network in CIDR notation (RFC 4632 section 3.1, RFC 4291 section 2.3);
 * null when it is one.
 */
export function networkProblem(text: string): string | null {
  const { address, prefix, maxPrefix } = parseNetwork(text)
  if (maxPrefix === 0) return `"${address}" is not an IP address`
  if (Number.isNaN(prefix) || prefix > maxPrefix)
    return `the prefix length of ${address} must be from 1 to ${maxPrefix}`
  if (prefix === 0) return '/0 would trust every client: list the addresses of the proxies'
  return null
}

/** Throws a `RangeError` for a network that `networkProblem` rejects. */
export function createTrustedProxies(networks: readonly string[]): TrustedProxies {
  // Without networks no connection needs a lookup.
  if (networks.length === 0) return { includes: () => false }
  const blocks = new BlockList()
  for (const network of networks) {
    const problem = networkProblem(network)
    if (problem !== null) throw new RangeError(problem)
    const { address, prefix } = parseNetwork(network)
    blocks.addSubnet(address, prefix, family(address))
  }
  return {
    includes(zoned) {
      const address = zoned.split('%')[0] ?? ''
      return isIP(address) !== 0 && blocks.check(address, family(address))
    },
  }
}

function parseNetwork(text: string): { readonly address: string; readonly prefix: number; readonly maxPrefix: number } {
  const [address = '', length, ...more] = text.split('/')
  const version = address.includes('%') ? 0 : isIP(address)
  const maxPrefix = version === 4 ? 32 : version === 6 ? 128 : 0
  if (length === undefined) return { address, prefix: maxPrefix, maxPrefix }
  return { address, prefix: more.length === 0 && /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN, maxPrefix }
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}
