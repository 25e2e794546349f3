// An address that stands for a network, for the audit log, which takes addresses.

/** The first address of an IPv6 /64; an IPv4 address as it is. */
export function addressOfNetwork(network: string): string {
  return network.replace(/\/64$/, '')
}
