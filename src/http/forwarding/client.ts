// Who the client is: the rightmost address that no trusted proxy has.
import type { Client } from '../../auth/caller.ts'
import { forwardedHops, type Hop, xForwardedHops } from './forwarded-headers.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

type ReadHeader = (name: string) => string | undefined

/**
 * `direct` is a trusted proxy: the other end of the connection, or of the one that a PROXY header names. A proxy that writes one kind of header
 * passes the other on as the client wrote it: where the two name different clients, neither is believed.
 */
export function clientOf(direct: Client, proxies: TrustedProxies, header: ReadHeader): Client {
  const chains = [forwardedHops(header), xForwardedHops(header)].flatMap((hops) => (hops === null ? [] : [hops]))
  const [client = direct, other = client] = chains.map((hops) => nearestStranger(hops, direct, proxies))
  return client.address === other.address ? client : direct
}

/** Back from the nearest hop: each is believed as long as the one who says it is trusted. */
function nearestStranger(hops: readonly Hop[], direct: Client, proxies: TrustedProxies): Client {
  let client = direct
  for (const { address, scheme, host } of hops.toReversed()) {
    client = { address: address ?? client.address, scheme: scheme ?? client.scheme, host: host ?? client.host }
    if (address === null || !proxies.includes(address)) break
  }
  return client
}
