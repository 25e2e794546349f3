// The part of a client address that is stored: enough to recognize a place, too little to identify a person.
import { addressBytes, networkGroups } from './ip-address.ts'

/** `192.0.2.0/24` or `2001:db8:0:1::/64`; empty if the text is not an IP address. */
export function coarseNetworkOf(address: string): string {
  const bytes = addressBytes(address)
  if (bytes === null) return ''
  if (bytes.length === 4) return `${bytes.slice(0, 3).join('.')}.0/24`
  const groups = networkGroups(bytes)
  // Removes trailing zero groups for the canonical spelling (RFC 5952) of an address whose second half is zero.
  while (groups.at(-1) === '0') groups.pop()
  return `${groups.join(':')}::/64`
}
