// What counts as this machine.
import { BlockList, isIP, isIPv6 } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** An IP address of the loopback range, also in its IPv4-mapped form. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** The value of a `Host` header that names this machine: localhost, 127.0.0.1 or [::1], with or without a port. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i.test(host)
}

/** A name or address to listen on that only this machine can reach. */
export function isLoopbackBinding(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host)
}
