// Runs something once a response is over: it was sent completely, or its connection has closed.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Calls `run` once, at once for a response that is over already: it does not emit `close` again. */
export function whenClosed(response: ServerResponse, run: () => void): void {
  if (response.destroyed) run()
  else response.once('close', run)
}

/**
 * Unfinished responses for which `closeOnEnd` was called, perhaps several times: a request waits in one place after the
 * other. One listener serves all of a connection.
 */
const closedOnEnd = new WeakMap<Socket, Set<ServerResponse>>()

/**
 * Until the response is over, closes the connection when the client closes its side of it; at once if it has. Not while
 * another response of the connection is under way for which this was not called: a client that closes its side behind
 * its requests waits for their answers. `underWayOn` returns the number of a connection's unfinished responses.
 */
export function closeOnEnd(
  incoming: IncomingMessage,
  response: ServerResponse,
  underWayOn: (socket: Socket) => number,
): void {
  // node:http sets the socket of a destroyed request to null, although its types do not say so.
  const socket: Socket | null = incoming.socket
  if (socket === null) return
  const known = closedOnEnd.get(socket)
  const responses = known ?? new Set()
  closedOnEnd.set(socket, responses)
  const closeUnlessAwaited = () => {
    if (responses.size > 0 && responses.size >= underWayOn(socket)) socket.destroy()
  }
  responses.add(response)
  whenClosed(response, () => responses.delete(response))
  if (socket.readableEnded) closeUnlessAwaited()
  else if (!known) socket.once('end', closeUnlessAwaited)
}
