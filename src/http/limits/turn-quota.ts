// Bounds what is read, or written, in one turn of the event loop: more of it waits for a turn of its own.
import type { YieldTurn } from './round-robin-scheduler.ts'

/** Bytes of one turn, all requests together: less than half a millisecond of reading or writing. */
const MAX_PER_TURN = 131_072

/** Resolves when so many bytes may be read or written. Null when they may be at once. */
export type Pace = (byteLength: number) => Promise<void> | null

export function createTurnQuota(yieldTurn: YieldTurn): Pace {
  let used = 0

  function nextTurn(): void {
    used = 0
  }

  return (byteLength) => {
    if (used === 0) setImmediate(nextTurn)
    if (used > 0 && used + byteLength > MAX_PER_TURN) return yieldTurn()
    used += byteLength
    return null
  }
}
