// Connections of trusted proxies begin with a PROXY header, which is read before HTTP sees the first byte.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type ProxiedConnection, readProxyHeader } from './proxy-protocol.ts'

/** A proxy sends the header at once. */
const HEADER_TIMEOUT_MS = 3_000

export interface ProxyProtocol {
  /** What the header of this connection says; undefined for a connection that has none. */
  readonly sourceOf: (socket: Socket) => ProxiedConnection['source'] | undefined
}

/**
 * From these peers a header is required, from all others it is not understood: whether there is one is never guessed
 * (section 5 of the specification). A connection without a well-formed header is closed without an answer, and
 * `onRefused` is told of its peer. One that its peer closes before the first byte is none of them: balancers look so whether a port is open.
 */
export function acceptProxyProtocol(
  server: Server,
  isTrusted: (address: string) => boolean,
  onRefused: (peer: string) => void,
): ProxyProtocol {
  const sources = new WeakMap<Socket, ProxiedConnection['source']>()
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
      sources.set(socket, header.source)
      pass(socket)
      // Before the next read of the connection: that is a later turn of the event loop.
      if (received.length > header.byteLength) socket.unshift(received.subarray(header.byteLength))
    })
  })

  return { sourceOf: (socket) => sources.get(socket) }
}
