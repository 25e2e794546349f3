// Which addresses count as one network: a host with one IPv6 address usually has 2^64 of them.
import { isIPv4 } from 'node:net'
import { addressBytes, networkGroups } from '../ip-address.ts'

/** An IPv4 address by itself, also in its IPv4-mapped form; the /64 of an IPv6 address; any other text as it is. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  const bytes = addressBytes(address)
  if (bytes === null) return address
  if (bytes.length === 4) return bytes.join('.')
  return `${networkGroups(bytes).join(':')}::/64`
}
