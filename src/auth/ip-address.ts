// Parses IP addresses into bytes, so that different spellings of an address compare equal.
import { isIPv4, isIPv6 } from 'node:net'

const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

/**
 * 4 bytes for IPv4, also for its IPv4-mapped form (RFC 4291 section 2.5.5.2); 16 bytes for IPv6, ignoring a zone;
 * otherwise null.
 */
export function addressBytes(address: string): readonly number[] | null {
  if (isIPv4(address)) return address.split('.').map(Number)
  if (!isIPv6(address)) return null
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const [before, after] = [groupBytes(head), groupBytes(tail ?? '')]
  const zeros = Array.from({ length: 16 - before.length - after.length }, () => 0)
  const bytes = [...before, ...zeros, ...after]
  return MAPPED_PREFIX.every((byte, at) => bytes[at] === byte) ? bytes.slice(12) : bytes
}

/** Always 16 bytes: an IPv4 address becomes IPv4-mapped. */
export function mappedBytes(bytes: readonly number[]): readonly number[] {
  return bytes.length === 4 ? [...MAPPED_PREFIX, ...bytes] : bytes
}

function groupBytes(groups: string): readonly number[] {
  if (groups === '') return []
  return groups.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}

/** The /64 of an IPv6 address as four groups in hexadecimal, none omitted. */
export function networkGroups(bytes: readonly number[]): string[] {
  return [0, 2, 4, 6].map((at) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16))
}
