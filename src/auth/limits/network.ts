// Maps a client address to the network that rate limits count, because a host with one address often has many: usually
// 2^64 in IPv6, and 2^24 on loopback.
import { isIPv4 } from 'node:net'
import { isLoopbackAddress } from '../guards/loopback.ts'
import { addressBytes, networkGroups } from '../ip-address.ts'

/** A program on this machine chooses which of the loopback addresses it comes from (RFC 1122 section 3.2.1.3). */
const LOOPBACK_NETWORK = '127.0.0.1'

/**
 * `127.0.0.1` for all of loopback, also for `::1`; otherwise an IPv4 address, also from its IPv4-mapped form; the /64 of
 * an IPv6 address; any other text unchanged.
 */
export function networkOf(address: string): string {
  if (isLoopbackAddress(address)) return LOOPBACK_NETWORK
  if (isIPv4(address)) return address
  const bytes = addressBytes(address)
  if (bytes === null) return address
  if (bytes.length === 4) return bytes.join('.')
  return `${networkGroups(bytes).join(':')}::/64`
}
