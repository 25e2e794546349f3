// Maps a client address to the network that rate limits count, because a host with one IPv6 address usually has 2^64 of
// them.
import { isIPv4 } from 'node:net'
import { addressBytes, networkGroups } from '../ip-address.ts'

/** An IPv4 address, also from its IPv4-mapped form; the /64 of an IPv6 address; any other text unchanged. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  const bytes = addressBytes(address)
  if (bytes === null) return address
  if (bytes.length === 4) return bytes.join('.')
  return `${networkGroups(bytes).join(':')}::/64`
}
