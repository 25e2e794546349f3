// The network an address belongs to, as far as it is told of a client: /24 of IPv4, /64 of IPv6.
import { isIPv4, isIPv6 } from 'node:net'

const IPV6_GROUPS = 8
const NETWORK_GROUPS = 4

/** `192.0.2.0/24`, `2001:db8:0:1::/64`; an IPv4-mapped address is an IPv4 one. Empty for what is no address. */
export function networkOf(address: string): string {
  const unmapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
  if (isIPv4(unmapped)) return `${unmapped.slice(0, unmapped.lastIndexOf('.'))}.0/24`
  const [bare = ''] = unmapped.split('%')
  if (!isIPv6(bare)) return ''
  const groups = expand(bare).slice(0, NETWORK_GROUPS)
  // The canonical spelling (RFC 5952) of an address whose second half is zero.
  while (groups.at(-1) === '0') groups.pop()
  return `${groups.join(':')}::/64`
}

/** All eight groups of a valid IPv6 address, without leading zeros. */
function expand(address: string): string[] {
  const [head = '', tail = ''] = address.split('::')
  const front = groupsOf(head)
  const back = address.includes('::') ? groupsOf(tail) : []
  const zeros = Array.from({ length: IPV6_GROUPS - front.length - back.length }, () => '0')
  return [...front, ...zeros, ...back].map((group) => Number.parseInt(group, 16).toString(16))
}

/** An IPv4 address at the end stands for two groups. */
function groupsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
}
