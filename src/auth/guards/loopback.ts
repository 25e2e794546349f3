// Tells which addresses and host names mean this machine.
import { BlockList, isIP, isIPv6 } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether this is an IP address of the loopback range, also in its IPv4-mapped form. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** Whether a `Host` header names this machine: localhost, 127.0.0.1 or [::1], with or without a port. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i.test(host)
}

/** Whether a listen address (a name or an IP address) can be reached only from this machine. */
export function isLoopbackBinding(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host)
}
