// Slows down connections that send request bodies in very many chunks: node:http calls a function for each, so that one
// read of a socket with chunks of one byte takes as long as hundreds of requests.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { createRoundRobin, ONE_A_TURN } from '../../limits/round-robin-scheduler.ts'
import { keepPaused } from '../pipelining.ts'

/** Chunks of one connection in one turn of the event loop that do not slow it down. */
const MAX_CHUNKS_PER_TURN = 256

interface Connection {
  /** The turn in which `chunks` were counted. */
  turn: number
  chunks: number
  isPaused: boolean
}

/** Called before the body of this request is parsed. */
export type PaceBody = (incoming: IncomingMessage) => void

/**
 * Counts the chunks of each connection, whether or not anything reads them. A connection that sends too many in a turn is
 * paused. Each turn lets one of the paused connections go on.
 */
export function createBodyPacing(): PaceBody {
  const yieldTurn = createRoundRobin(ONE_A_TURN)
  const connections = new WeakMap<Socket, Connection>()
  let turn = 0
  let isCounting = false

  function endTurn(): void {
    turn += 1
    isCounting = false
  }

  function open(socket: Socket): Connection {
    const connection = { turn, chunks: 0, isPaused: false }
    connections.set(socket, connection)
    return connection
  }

  function pause(socket: Socket, connection: Connection): void {
    connection.isPaused = true
    keepPaused(socket, () => connection.isPaused)
    void yieldTurn().then(() => {
      connection.isPaused = false
      socket.resume()
    })
  }

  function count(socket: Socket): void {
    if (!isCounting) setImmediate(endTurn)
    isCounting = true
    const connection = connections.get(socket) ?? open(socket)
    if (connection.turn !== turn) Object.assign(connection, { turn, chunks: 0 })
    connection.chunks += 1
    // What was read before the pause still arrives.
    if (connection.chunks > MAX_CHUNKS_PER_TURN && !connection.isPaused) pause(socket, connection)
  }

  return (incoming) => {
    // Other bodies come in pieces as large as a read of the socket.
    if (incoming.headers['transfer-encoding'] === undefined) return
    // A listener for the data would make it flow before anything reads it.
    const { push, socket } = incoming
    incoming.push = (chunk) => {
      count(socket)
      return push.call(incoming, chunk)
    }
  }
}
