// Reads the PROXY header of connections from trusted proxies before HTTP sees the first byte.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type ProxiedConnection, readProxyHeader } from './proxy-protocol.ts'

/** Time limit for the header. A proxy sends it at once. */
const HEADER_TIMEOUT_MS = 3_000

export interface ProxyProtocol {
  /** What the PROXY header of this connection says; undefined for a connection without one. */
  readonly sourceOf: (socket: Socket) => ProxiedConnection['source'] | undefined
  /** The number of bytes of its PROXY header; 0 for a connection without one. */
  readonly headerBytesOf: (socket: Socket) => number
}

/**
 * Requires a header from trusted peers and parses none from all others: the gateway never guesses whether there is one
 * (section 5 of the specification). A connection without a well-formed header is closed without an answer, and
 * `onRefused` receives the peer's address. A peer that closes before the first byte is not reported: load balancers
 * probe ports that way.
 */
export function acceptProxyProtocol(
  server: Server,
  isTrusted: (address: string) => boolean,
  onRefused: (peer: string) => void,
): ProxyProtocol {
  const found = new WeakMap<Socket, ProxiedConnection>()
  const asHttp = server.listeners('connection')
  server.removeAllListeners('connection')

  function pass(socket: Socket): void {
    for (const listener of asHttp) listener.call(server, socket)
  }

  server.on('connection', (socket: Socket) => {
    const { remoteAddress: peer = '' } = socket
    if (!isTrusted(peer)) {
      pass(socket)
      return
    }
    let received: Buffer = Buffer.alloc(0)
    const give = () => socket.destroy()
    const refuse = () => {
      onRefused(peer)
      give()
    }
    const endEarly = () => (received.length > 0 ? refuse() : give())
    const timer = setTimeout(refuse, HEADER_TIMEOUT_MS)
    socket
      .once('close', () => clearTimeout(timer))
      .on('error', give)
      .once('end', endEarly)
    socket.on('data', function onData(chunk: Buffer) {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const header = readProxyHeader(received)
      if (header === 'incomplete') return
      clearTimeout(timer)
      socket.off('data', onData).off('error', give).off('end', endEarly)
      if (header === 'malformed') {
        refuse()
        return
      }
      found.set(socket, header)
      pass(socket)
      // Must run before the next read from the socket, which happens in a later turn of the event loop.
      if (received.length > header.byteLength) socket.unshift(received.subarray(header.byteLength))
    })
  })

  return {
    sourceOf: (socket) => found.get(socket)?.source,
    headerBytesOf: (socket) => found.get(socket)?.byteLength ?? 0,
  }
}
