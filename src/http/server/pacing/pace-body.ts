// Slows down request bodies that come in very many pieces: node:http calls a function for each chunk, so that one read of
// a socket with chunks of one byte takes as long as hundreds of requests.
import type { IncomingMessage } from 'node:http'
import { createRoundRobin, ONE_A_TURN } from '../../limits/round-robin-scheduler.ts'
import { createTurnQuota } from '../../limits/turn-quota.ts'
import { keepPaused } from '../pipelining.ts'

/** Pieces of a body that are not slowed down: more than clients that stream JSON send, as a rule. */
const FREE_PIECES = 1_024
/** A piece counts as at least this many bytes, so that a turn reads about a thousand of them. */
const MIN_PIECE_BYTES = 128

/** Returns a function to call for each piece of this body. It stops reading the connection until a later turn. */
export type PaceBody = (incoming: IncomingMessage) => (piece: Uint8Array) => void

/** When a turn has read its quota, the connections that sent more are read again one a turn. */
export function createBodyPacing(): PaceBody {
  const pace = createTurnQuota(createRoundRobin(ONE_A_TURN), { minBytes: MIN_PIECE_BYTES })

  return ({ socket }) => {
    let pieces = 0
    let isPaused = false

    function onTurn(): void {
      isPaused = false
      socket.resume()
    }

    return ({ byteLength }) => {
      pieces += 1
      // What was read before the pause still arrives.
      if (pieces <= FREE_PIECES || isPaused) return
      const turn = pace(byteLength)
      if (turn === null) return
      isPaused = true
      keepPaused(socket, () => isPaused)
      void turn.then(onTurn)
    }
  }
}
