// Determines the client's address: the rightmost one in the forwarding headers that is no trusted proxy.
import type { Client } from '../../auth/caller.ts'
import { addressBytes } from '../../auth/ip-address.ts'
import { forwardedHops, type Hop, xForwardedHops } from './forwarded-headers.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

type ReadHeader = (name: string) => string | undefined

/**
 * `direct` is a trusted proxy: the other end of the connection, or the address that a PROXY header names. A proxy that
 * writes one kind of header passes the other kind on as the client sent it. So when the two kinds name different
 * clients, neither is trusted.
 */
export function clientOf(direct: Client, proxies: TrustedProxies, header: ReadHeader): Client {
  const chains = [forwardedHops(header), xForwardedHops(header)].flatMap((hops) => (hops === null ? [] : [hops]))
  const [client = direct, other = client] = chains.map((hops) => nearestStranger(hops, direct, proxies))
  return isSameAddress(client.address, other.address) ? client : direct
}

/** Each proxy spells addresses in its own way. */
function isSameAddress(one: string, other: string): boolean {
  return one === other || addressBytes(one)?.join() === addressBytes(other)?.join()
}

/** Walks back from the nearest hop. A hop is trusted as long as the proxy that reported it is trusted. */
function nearestStranger(hops: readonly Hop[], direct: Client, proxies: TrustedProxies): Client {
  let client = direct
  for (const { address, scheme, host } of hops.toReversed()) {
    client = { address: address ?? client.address, scheme: scheme ?? client.scheme, host: host ?? client.host }
    if (address === null || !proxies.includes(address)) break
  }
  return client
}
