// Maps a client address to the network that rate limits count, because a host with one address often has many: usually
// 2^64 in IPv6, and 2^24 on loopback.
import { isIPv4 } from 'node:net'
import { addressBytes, networkGroups } from '../ip-address.ts'

/** All of 127.0.0.0/8 is the host itself (RFC 1122 section 3.2.1.3): a program there chooses which it comes from. */
const LOOPBACK_PREFIX = '127.'
const LOOPBACK_NETWORK = '127.0.0.1'

/**
 * An IPv4 address, also from its IPv4-mapped form, but `127.0.0.1` for all of loopback; the /64 of an IPv6 address; any
 * other text unchanged.
 */
export function networkOf(address: string): string {
  const bytes = isIPv4(address) ? null : addressBytes(address)
  if (bytes?.length === 16) return `${networkGroups(bytes).join(':')}::/64`
  const text = bytes?.join('.') ?? address
  return text.startsWith(LOOPBACK_PREFIX) ? LOOPBACK_NETWORK : text
}
