// Limits pipelining: decides which requests of a connection are handled, and when, and stops reading a connection whose
// responses are not read.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createRoundRobin, ONE_A_TURN } from '../limits/round-robin-scheduler.ts'
import type { IdleConnections } from './connections/idle-connections.ts'

/** Maximum number of requests in flight per connection. A request counts until its response has left the process. */
const MAX_IN_FLIGHT = 16
/**
 * Maximum number of requests of all connections that begin in the turn of the event loop in which they were read, behind
 * others of their connection. Beyond that they wait.
 */
const MAX_BEHIND_PER_TURN = 64
/**
 * Maximum number of requests read and discarded after the last request of a connection. Closing the connection on them
 * would cut off its last response. node:http keeps a little memory for each.
 */
const MAX_DROPPED = 64
/** While a connection has more unsent bytes than this, its next request waits. */
const MAX_UNSENT_BYTES = 262_144
/**
 * Maximum number of requests that wait on all connections together. Each takes some two kilobytes, and one read of a
 * socket may hold thousands of them. Few wait on the connection of a client that has a few requests in flight and
 * takes their answers, and not for long.
 */
const MAX_WAITING = 16_384

/** RFC 9110 section 9.2.1; QUERY is an extension that is safe too. */
const SAFE_METHODS = new Set<string | undefined>(['GET', 'HEAD', 'OPTIONS', 'QUERY', 'TRACE'])

const closing = new WeakSet<Socket>()

/**
 * Makes this request, which must be the newest, the last one of its connection. Its response, whose head must not be
 * written yet, says `Connection: close`; later requests are not handled (RFC 9112 section 9.6).
 */
export function closeAfter({ socket }: IncomingMessage, response: ServerResponse): void {
  response.shouldKeepAlive = false
  closing.add(socket)
}

export type Listener = (incoming: IncomingMessage, response: ServerResponse) => void

export interface Pipelining {
  readonly listen: Listener
  /** Whether the newest request of the connection was passed on. If not, it waits, or is not going to be handled. */
  readonly isNewestHandled: (socket: Socket) => boolean
  /** Number of requests that were passed on and whose responses have not left the process completely. */
  readonly inFlight: () => number
  /** The same for one connection. */
  readonly inFlightOn: (socket: Socket) => number
}

interface Connection {
  /** Handled, but not yet sent completely. */
  readonly inFlight: ServerResponse[]
  /** Parsed, but not yet handled: a single read of the socket may hold several requests. */
  readonly waiting: (readonly [incoming: IncomingMessage, response: ServerResponse])[]
  /** Whether it is in line for a turn in which those that wait are handled. */
  isInLine: boolean
  /** Number of requests discarded after the connection's last request. */
  dropped: number
}

/**
 * Calls the listener for a few requests of a connection at a time, in order; one whose method is not safe is handled
 * alone. While requests wait, the socket is paused. They begin in later turns of the event loop, those of one connection
 * in each: refusals, preflights and health checks do not wait for admission, so one turn would answer thousands of them.
 * When `isStopping` returns true, a connection is closed as soon as all its requests are answered. Requests that still
 * wait when their connection ends are dropped, and so are requests after the last one. When too many requests wait on
 * all connections together, `onTooMany` is told of the connection with one more, which is closed: nothing else releases
 * what node:http holds of its requests. `idle` is told which connections have no requests.
 */
export function limitPipelining(
  listener: Listener,
  isStopping: () => boolean,
  onTooMany: (socket: Socket) => void,
  idle: Pick<IdleConnections, 'add' | 'remove'>,
): Pipelining {
  const connections = new WeakMap<Socket, Connection>()
  /** Number of requests that wait on all connections, and of dropped ones: node:http holds these until the end, too. */
  let allWaiting = 0
  let allInFlight = 0
  /** Number of requests that have begun behind others of their connection in this turn, as they were read. */
  let begunBehind = 0
  const yieldTurn = createRoundRobin(ONE_A_TURN)

  function mayBeginBehind(): boolean {
    if (begunBehind === 0) setImmediate(() => (begunBehind = 0))
    if (begunBehind >= MAX_BEHIND_PER_TURN) return false
    begunBehind += 1
    return true
  }

  function handle(connection: Connection, incoming: IncomingMessage, response: ServerResponse): void {
    idle.remove(incoming.socket)
    connection.inFlight.push(response)
    allInFlight += 1
    response.on('close', () => {
      const at = connection.inFlight.indexOf(response)
      if (at === -1) return
      connection.inFlight.splice(at, 1)
      allInFlight -= 1
      if (connection.waiting.length > 0) handleWaitingInTurn(connection, incoming.socket)
      else if (connection.inFlight.length > 0) return
      else if (isStopping()) endConnection(incoming.socket)
      else idle.add(incoming.socket)
    })
    listener(incoming, response)
  }

  function handleWaitingInTurn(connection: Connection, socket: Socket): void {
    if (connection.isInLine) return
    connection.isInLine = true
    void yieldTurn().then(() => {
      connection.isInLine = false
      handleWaiting(connection, socket)
    })
  }

  function handleWaiting(connection: Connection, socket: Socket): void {
    const { waiting } = connection
    if (!socket.writable) dropWaiting(connection)
    for (let [next] = waiting; next && hasRoom(connection, next[0]); [next] = waiting) {
      waiting.shift()
      allWaiting -= 1
      handle(connection, ...next)
    }
    if (waiting.length === 0) socket.resume()
  }

  function dropWaiting({ waiting }: Connection): void {
    allWaiting -= waiting.length
    waiting.length = 0
  }

  function open(socket: Socket): Connection {
    const connection: Connection = { inFlight: [], waiting: [], isInLine: false, dropped: 0 }
    connections.set(socket, connection)
    closeWithoutStacks(socket, () => {
      dropWaiting(connection)
      allWaiting -= connection.dropped
      closeQueued(connection)
    })
    return connection
  }

  function refuse(socket: Socket): void {
    onTooMany(socket)
    socket.destroy()
  }

  const listen: Listener = (incoming, response) => {
    const { socket } = incoming
    // node:http goes on parsing what it had read of a connection before that was closed.
    if (socket.destroyed) return
    const connection = connections.get(socket) ?? open(socket)
    if (closing.has(socket)) {
      if (allWaiting >= MAX_WAITING) return refuse(socket)
      allWaiting += 1
      drop(connection, incoming)
      return
    }
    const { inFlight, waiting } = connection
    if (waiting.length === 0 && hasRoom(connection, incoming) && (inFlight.length === 0 || mayBeginBehind())) {
      handle(connection, incoming, response)
      return
    }
    if (allWaiting >= MAX_WAITING) return refuse(socket)
    connection.waiting.push([incoming, response])
    allWaiting += 1
    if (connection.waiting.length === 1) keepPaused(socket, () => connection.waiting.length > 0)
  }

  return {
    listen,
    isNewestHandled(socket) {
      const connection = connections.get(socket)
      return connection !== undefined && connection.waiting.length === 0 && connection.dropped === 0
    },
    inFlight: () => allInFlight,
    inFlightOn: (socket) => connections.get(socket)?.inFlight.length ?? 0,
  }
}

/**
 * When a connection closes, node:http makes an error for each request that has no answer, and reads its stack trace. For
 * the thousands that one read of a socket may hold, this would take longer than to answer them, so there are no stack
 * traces until `onClose` is called. It is called after the listener of node:http, which was there before.
 */
function closeWithoutStacks(socket: Socket, onClose: () => void): void {
  let { stackTraceLimit } = Error
  socket.prependOnceListener('close', () => {
    stackTraceLimit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
  })
  socket.once('close', () => {
    Error.stackTraceLimit = stackTraceLimit
    onClose()
  })
}

/**
 * Closes the connection after all written bytes have gone out. A request that arrives meanwhile is not handled: it could
 * not be answered.
 */
function endConnection(socket: Socket): void {
  closing.add(socket)
  if (!socket.destroyed) socket.end(() => socket.destroy())
}

function drop(connection: Connection, incoming: IncomingMessage): void {
  incoming.resume()
  connection.dropped += 1
  if (connection.dropped === MAX_DROPPED) keepPaused(incoming.socket, () => true)
}

/**
 * node:http emits `close` only on the response whose turn it is when the connection ends, but queued responses hold
 * memory too.
 */
function closeQueued({ inFlight }: Connection): void {
  for (const response of inFlight.filter(({ socket }) => socket === null)) {
    response.destroy()
    response.emit('close')
  }
}

/** Pauses the socket again whenever node:http resumes it for its own reasons: a request ends, or a response is sent. */
export function keepPaused(socket: Socket, isPaused: () => boolean): void {
  const onResume = () => {
    if (isPaused()) socket.pause()
    else socket.off('resume', onResume)
  }
  socket.pause()
  socket.on('resume', onResume)
}

/**
 * Only requests with safe methods are in flight together (RFC 9112 section 9.3.2): a read that was sent behind a logout
 * must not be answered as if it came before it.
 */
function hasRoom({ inFlight }: Connection, next: IncomingMessage): boolean {
  if (inFlight.length === 0) return true
  if (inFlight.length >= MAX_IN_FLIGHT) return false
  if (!isSafe(next) || inFlight.some(({ req }) => !isSafe(req))) return false
  const unsentBytes = inFlight.reduce((sum, { writableLength }) => sum + writableLength, 0)
  return unsentBytes <= MAX_UNSENT_BYTES
}

function isSafe({ method }: IncomingMessage): boolean {
  return SAFE_METHODS.has(method)
}
