// Relays the connections of a test to another port.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface RelayOptions {
  readonly host: string
  readonly port: number
  /** Passes the bytes on in both directions; called for each accepted connection. */
  readonly relay: (client: Socket, upstream: Socket) => void
  /** Whether connections are accepted now; all of them by default. */
  readonly isOpen?: () => boolean
}

export interface Relay {
  readonly port: number
  /** The open sockets of both sides. */
  readonly sockets: ReadonlySet<Socket>
}

/** Listens on loopback. When one side of a connection ends, so does the other; all of them end with the test. */
export async function startRelay({ host, port, relay, isOpen = () => true }: RelayOptions): Promise<Relay> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    if (!isOpen()) {
      client.destroy()
      return
    }
    const upstream = connect(port, host)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        // Ends it only after the pending bytes are sent.
        other.end()
      })
    }
    relay(client, upstream)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sockets }
}
