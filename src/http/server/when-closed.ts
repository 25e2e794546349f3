// Runs something once a response is over: it was sent completely, or its connection has closed.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Calls `run` once, at once for a response that is over already: it does not emit `close` again. */
export function whenClosed(response: ServerResponse, run: () => void): void {
  if (response.destroyed) run()
  else response.once('close', run)
}

/** Numbers of unfinished responses for which `closeOnEnd` was called. One listener serves all of a connection. */
const closedOnEnd = new WeakMap<Socket, number>()

/** Until the response is over, closes the connection when the client closes its side of it; at once if it has. */
export function closeOnEnd(incoming: IncomingMessage, response: ServerResponse): void {
  // node:http sets the socket of a destroyed request to null, although its types do not say so.
  const socket: Socket | null = incoming.socket
  if (socket === null) return
  if (socket.readableEnded) {
    socket.destroy()
    return
  }
  const isNew = !closedOnEnd.has(socket)
  const count = (change: 1 | -1) => closedOnEnd.set(socket, (closedOnEnd.get(socket) ?? 0) + change)
  count(1)
  whenClosed(response, () => count(-1))
  if (isNew) socket.once('end', () => closedOnEnd.get(socket) !== 0 && socket.destroy())
}
