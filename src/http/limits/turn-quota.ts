// Bounds how many bytes are read or written in one turn of the event loop: the excess waits for a later turn.
import type { Owner } from './fair-line.ts'
import type { YieldTurn } from './round-robin-scheduler.ts'

/** Bytes per turn for all requests together: less than half a millisecond of reading or writing. */
const MAX_PER_TURN = 131_072

/** Resolves when that many bytes may be read or written. Returns null when they may be at once. */
export type Pace = (byteLength: number, owner?: Owner) => Promise<void> | null

/** Anything shorter than `minBytes` counts as `minBytes`, for work that takes time however little it is. */
export function createTurnQuota(yieldTurn: YieldTurn, { minBytes = 0 } = {}): Pace {
  let used = 0

  function nextTurn(): void {
    used = 0
  }

  return (byteLength, owner) => {
    if (used === 0) setImmediate(nextTurn)
    const counted = Math.max(byteLength, minBytes)
    if (used > 0 && used + counted > MAX_PER_TURN) return yieldTurn(owner)
    used += counted
    return null
  }
}
