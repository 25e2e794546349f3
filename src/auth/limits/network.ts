// Which addresses count as one network: a host with one IPv6 address usually has 2^64 of them.
import { isIPv4 } from 'node:net'
import { addressBytes } from '../ip-address.ts'

/** An IPv4 address by itself, also in its IPv4-mapped form; the /64 of an IPv6 address; any other text as it is. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  const bytes = addressBytes(address)
  if (bytes === null) return address
  if (bytes.length === 4) return bytes.join('.')
  const groups = [0, 2, 4, 6].map((at) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16))
  return `${groups.join(':')}::/64`
}
