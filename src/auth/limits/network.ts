// Which addresses count as one network: whoever has an IPv6 address has 2^64 of them.
import { isIPv4, isIPv6 } from 'node:net'

const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i

/** An IPv4 address, also in its IPv4-mapped form, in the dotted form; any other text as it is. */
export function unmappedAddress(address: string): string {
  return MAPPED_IPV4.exec(address)?.[1] ?? address
}

/** An IPv4 address by itself, the /64 of an IPv6 address (`2001:db8:0:1::/64`); any other text as it is. */
export function networkOf(address: string): string {
  const plain = unmappedAddress(address)
  if (isIPv4(plain) || !isIPv6(plain)) return plain
  return `${ipv6Groups(plain).slice(0, 4).join(':')}::/64`
}

/** The eight groups without leading zeros; a zone (`%eth0`) is not part of the network. */
function ipv6Groups(address: string): readonly string[] {
  const [text = ''] = address.split('%')
  const [head = '', tail] = text.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  // A dotted quad at the end stands for two groups; they are none of the first four.
  const width = (groups: readonly string[]) => groups.length + (groups.at(-1)?.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? 0 : 8 - width(before) - width(after)
  return [...before, ...Array.from({ length: zeros }, () => '0'), ...after].map((group) =>
    group.toLowerCase().replace(/^0+(?=.)/, ''),
  )
}
