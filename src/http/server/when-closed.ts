// Runs something once a response is over: it was sent completely, or its connection has closed.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Calls `run` once, at once for a response that is over already: it does not emit `close` again. */
export function whenClosed(response: ServerResponse, run: () => void): void {
  if (response.destroyed) run()
  else response.once('close', run)
}

/** One listener for each: many requests of a connection may wait. */
const closedOnEnd = new WeakSet<Socket>()

/** Closes the connection when the client closes its side of it; at once if it has. */
export function closeOnEnd(incoming: IncomingMessage): void {
  // node:http sets the socket of a destroyed request to null, although its types do not say so.
  const socket: Socket | null = incoming.socket
  if (socket === null || closedOnEnd.has(socket)) return
  closedOnEnd.add(socket)
  if (socket.readableEnded) socket.destroy()
  else socket.once('end', () => socket.destroy())
}
