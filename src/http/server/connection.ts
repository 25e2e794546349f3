// Caches the facts about a connection for all of its requests: each of these facts costs a system call.
import type { Socket } from 'node:net'
import type { Client, Peer } from '../../auth/caller.ts'
import type { ProxyProtocol } from '../forwarding/accept-proxy-protocol.ts'
import { clientOf } from '../forwarding/client.ts'
import type { TrustedProxies } from '../forwarding/trusted-proxies.ts'

export interface Connection {
  readonly peer: Peer
  /** Counts one more request and returns the number of requests so far. */
  readonly countRequest: () => number
  /** Returns the client of one request; `header` reads that request's headers by lower-case name. */
  readonly client: (header: (name: string) => string | undefined) => Client
}

export type ConnectionOf = (socket: Socket) => Connection

export function createConnections(proxies: TrustedProxies, proxyProtocol: ProxyProtocol | null): ConnectionOf {
  const connections = new WeakMap<Socket, Connection>()

  function connect(socket: Socket): Connection {
    const address = socket.remoteAddress ?? ''
    const source = proxyProtocol?.sourceOf(socket)
    const direct = { address: source?.address ?? address, scheme: source?.isTls ? 'https' : 'http' } as const
    const isTrustedProxy = proxies.includes(address)
    // A proxy that sends a PROXY header passes requests on as they came, so the forwarding headers are those of the
    // named client.
    const mayForward = source === undefined ? isTrustedProxy : source !== null && proxies.includes(direct.address)
    const peer = {
      address,
      port: socket.remotePort ?? 0,
      localAddress: socket.localAddress ?? '',
      localPort: socket.localPort ?? 0,
      isTrustedProxy,
      mayForward,
      hasNamedClient: source != null,
    }
    let requests = 0
    return {
      peer,
      countRequest() {
        requests += 1
        return requests
      },
      client(header) {
        const stated = { ...direct, host: header('host') ?? '' }
        return mayForward ? clientOf(stated, proxies, header) : stated
      },
    }
  }

  return (socket) => {
    const known = connections.get(socket)
    if (known) return known
    const connection = connect(socket)
    connections.set(socket, connection)
    return connection
  }
}
