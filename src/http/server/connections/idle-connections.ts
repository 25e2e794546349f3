// Knows the connections on which no request is answered. When all places are taken, the one that has been idle longest is
// closed, and a gateway that stops closes them all.
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface IdleConnections {
  /** Called for each connection that Node accepts. */
  readonly onConnection: (socket: Socket) => void
  /** Called when the answers to all requests of a connection have left the process. */
  readonly add: (socket: Socket) => void
  /** Called when a request arrives on a connection. */
  readonly remove: (socket: Socket) => void
  /**
   * Called when the time for the headers of a request is over. Returns whether nothing has arrived on the connection so
   * far; it then counts as idle from now on, and is closed after `unusedTimeoutMs`.
   */
  readonly keepUnused: (socket: Duplex) => boolean
  /** Closes those on which no request has begun to arrive. */
  readonly close: () => void
}

/**
 * Without the first rule, one client could keep all others out: it sends a request on each of thousands of connections,
 * and then nothing for as long as idle connections are kept. `headerBytesOf` returns the length of the PROXY header that
 * a connection began with.
 */
export function createIdleConnections(
  maxConnections: number,
  headerBytesOf: (socket: Socket) => number,
  unusedTimeoutMs: number,
): IdleConnections {
  /** No request has come so far. These do not make room for others before the headers timeout. */
  const unasked = new Set<Socket>()
  /** Idle, without any request so far. */
  const unused = new Set<Socket>()
  /** The one that has been idle longest comes first. The values are `bytesRead` when it became idle. */
  const idle = new Map<Socket, number>()
  /** Idle, but something has arrived since, such as half of a head. They are closed only when there are no others. */
  const begun = new Set<Socket>()
  /** Those not closed by this code: after `destroy`, a connection emits `close` only in a later turn. */
  const open = new Set<Socket>()

  function remove(socket: Socket): void {
    unasked.delete(socket)
    idle.delete(socket)
    begun.delete(socket)
    if (unused.delete(socket)) socket.setTimeout(0)
  }

  function add(socket: Socket): void {
    if (socket.destroyed) return
    idle.set(socket, socket.bytesRead)
    makeRoom()
  }

  function isUnused(socket: Socket): boolean {
    return socket.bytesRead <= headerBytesOf(socket)
  }

  function close(socket: Socket): void {
    remove(socket)
    open.delete(socket)
    socket.destroy()
  }

  function makeRoom(): void {
    // Looked at first: the search for the oldest steps over all that have left the map since it was last resized.
    if (open.size < maxConnections) return
    for (const [socket, bytesRead] of idle) {
      if (socket.bytesRead === bytesRead) {
        close(socket)
        return
      }
      idle.delete(socket)
      begun.add(socket)
    }
    const [oldest] = begun
    if (oldest) close(oldest)
  }

  return {
    onConnection(socket) {
      open.add(socket)
      unasked.add(socket)
      socket.once('close', () => {
        open.delete(socket)
        remove(socket)
      })
      makeRoom()
    },
    add,
    remove,
    keepUnused(given) {
      const socket = given as Socket
      if (!unasked.has(socket) || !isUnused(socket)) return false
      unasked.delete(socket)
      unused.add(socket)
      // node:http closes the connection when this timeout is over.
      socket.setTimeout(unusedTimeoutMs)
      add(socket)
      return true
    },
    close() {
      for (const socket of unasked) if (isUnused(socket)) close(socket)
      for (const [socket, bytesRead] of idle) if (socket.bytesRead === bytesRead) close(socket)
    },
  }
}
