// Keeps a place free for the next connection: when all places are taken, closes the connection that has been idle
// longest.
import type { Socket } from 'node:net'

export interface IdleConnections {
  /** Called for each connection that Node accepts. */
  readonly onConnection: (socket: Socket) => void
  /** Called when the answers to all requests of a connection have left the process. */
  readonly add: (socket: Socket) => void
  /** Called when a request arrives on a connection. */
  readonly remove: (socket: Socket) => void
}

/**
 * Otherwise one client could keep all others out: it sends a request on each of thousands of connections, and then
 * nothing for as long as idle connections are kept.
 */
export function createIdleConnections(maxConnections: number): IdleConnections {
  /** The one that has been idle longest comes first. */
  const idle = new Set<Socket>()
  let openCount = 0

  function makeRoom(): void {
    // Looked at first: the search for the oldest steps over all that have left the set since it was last resized.
    if (openCount < maxConnections) return
    const [oldest] = idle
    if (!oldest) return
    idle.delete(oldest)
    oldest.destroy()
  }

  return {
    onConnection(socket) {
      openCount += 1
      socket.once('close', () => {
        openCount -= 1
        idle.delete(socket)
      })
      makeRoom()
    },
    add(socket) {
      if (socket.destroyed) return
      idle.add(socket)
      makeRoom()
    },
    remove: (socket) => void idle.delete(socket),
  }
}
