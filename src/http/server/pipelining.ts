// Which requests of a connection are handled, and when: a connection whose answers are not read is not read either.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Of one connection at a time, until an answer has left the process. */
const MAX_UNANSWERED = 16
/** What comes behind the last request of a connection is read and forgotten: closing on it would cut the answer off. Of each, node:http keeps a little. */
const MAX_DROPPED = 64
/** With more than this not sent, the next request waits until everything is. */
const MAX_UNSENT_BYTES = 262_144

const closing = new WeakSet<Socket>()

/**
 * Makes this the last request of its connection, which has to be the newest: its answer, whose head is not written yet, says
 * `Connection: close`, and what comes behind is not handled (RFC 9112 section 9.6).
 */
export function closeAfter({ socket }: IncomingMessage, response: ServerResponse): void {
  response.shouldKeepAlive = false
  closing.add(socket)
}

export type Listener = (incoming: IncomingMessage, response: ServerResponse) => void

interface Connection {
  /** Handled, and not yet sent whole. */
  readonly unanswered: ServerResponse[]
  /** Parsed, and not yet handled: what a single read of the socket held. */
  readonly waiting: (readonly [incoming: IncomingMessage, response: ServerResponse])[]
  /** How many have come behind its last request. */
  dropped: number
}

/**
 * Calls the listener for a few requests of a connection at a time, in order. While requests wait, the socket is paused. Where `isStopping`,
 * a connection is closed once all that came on it is answered.
 * Requests that wait when their connection ends are dropped, and so is what comes behind the last one.
 */
export function limitPipelining(listener: Listener, isStopping: () => boolean): Listener {
  const connections = new WeakMap<Socket, Connection>()

  function handle(connection: Connection, incoming: IncomingMessage, response: ServerResponse): void {
    connection.unanswered.push(response)
    response.on('close', () => {
      const at = connection.unanswered.indexOf(response)
      if (at === -1) return
      connection.unanswered.splice(at, 1)
      if (connection.waiting.length > 0) handleWaiting(connection, incoming.socket)
      else if (connection.unanswered.length === 0 && isStopping()) endConnection(incoming.socket)
    })
    listener(incoming, response)
  }

  function handleWaiting(connection: Connection, socket: Socket): void {
    const { waiting } = connection
    if (!socket.writable) waiting.length = 0
    while (waiting.length > 0 && hasRoom(connection)) {
      const [next] = waiting.splice(0, 1)
      if (next) handle(connection, ...next)
    }
    if (waiting.length === 0) socket.resume()
  }

  function open(socket: Socket): Connection {
    const connection: Connection = { unanswered: [], waiting: [], dropped: 0 }
    connections.set(socket, connection)
    socket.once('close', () => closeQueued(connection))
    return connection
  }

  return (incoming, response) => {
    const { socket } = incoming
    const connection = connections.get(socket) ?? open(socket)
    if (closing.has(socket)) {
      drop(connection, incoming)
      return
    }
    if (connection.waiting.length === 0 && hasRoom(connection)) {
      handle(connection, incoming, response)
      return
    }
    connection.waiting.push([incoming, response])
    if (connection.waiting.length === 1) keepPaused(socket, () => connection.waiting.length > 0)
  }
}

/** Once all that was written has gone out. */
function endConnection(socket: Socket): void {
  if (!socket.destroyed) socket.end(() => socket.destroy())
}

function drop(connection: Connection, incoming: IncomingMessage): void {
  incoming.resume()
  connection.dropped += 1
  if (connection.dropped === MAX_DROPPED) keepPaused(incoming.socket, () => true)
}

/** node:http tells only the response whose turn it is that its connection has ended: those behind it hold memory too. */
function closeQueued({ unanswered }: Connection): void {
  for (const response of unanswered.filter(({ socket }) => socket === null)) {
    response.destroy()
    response.emit('close')
  }
}

/** node:http resumes a socket for reasons of its own: a request that ends, an answer that is sent. */
function keepPaused(socket: Socket, isPaused: () => boolean): void {
  const onResume = () => {
    if (isPaused()) socket.pause()
    else socket.off('resume', onResume)
  }
  socket.pause()
  socket.on('resume', onResume)
}

function hasRoom({ unanswered }: Connection): boolean {
  if (unanswered.length === 0) return true
  if (unanswered.length >= MAX_UNANSWERED) return false
  const unsentBytes = unanswered.reduce((sum, { writableLength }) => sum + writableLength, 0)
  return unsentBytes <= MAX_UNSENT_BYTES
}
