// Work that is done piece by piece, so that a large answer does not hold up the small ones: owners take turns, however many pieces each asks for.
import { createFairLine, type Owner } from './fair-line.ts'

/** Resolves when the caller may do its next piece. Pieces without an owner are of one. */
export type YieldTurn = (owner?: Owner) => Promise<void>

export interface RoundRobinOptions {
  /** Milliseconds of each turn of the event loop, at least. */
  readonly minMs: number
  /** Of the time that everything else took since the last piece: with more to do than can be done, pieces are done as well. */
  readonly share: number
}

const USUAL: RoundRobinOptions = { minMs: 0.25, share: 0.25 }
/** Whatever the time: for pieces that cost others something else than time. */
export const ONE_A_TURN: RoundRobinOptions = { minMs: 0, share: 0 }

/** Immediates that are set at a time, in place of one for each that waits: each costs something in every turn, its piece or not. */
const MAX_ARMED = 16

const NOBODY: Owner = { name: '', isKnown: false }

interface Waiting {
  readonly since: number
  readonly start: () => void
}

/**
 * Pieces of one owner in the order in which they were asked for, in each turn of the event loop one, and more while they are short: with one a
 * turn, many of them would wait for ever beside turns that are long for other reasons.
 */
export function createRoundRobin({ minMs, share }: RoundRobinOptions = USUAL): YieldTurn {
  const line = createFairLine<Waiting>()
  let endsAt: number | null = null
  let lastAt = 0
  let armed = 0

  function arm(): void {
    if (armed >= MAX_ARMED || armed >= line.length()) return
    armed += 1
    setImmediate(admitOne)
  }

  function nextTurn(): void {
    endsAt = null
  }

  function admitOne(): void {
    armed -= 1
    const now = performance.now()
    if (endsAt === null) {
      endsAt = now + Math.max(minMs, (now - lastAt) * share)
      setImmediate(nextTurn)
    } else if (now >= endsAt) {
      arm()
      return
    }
    lastAt = now
    line.takeOldest(1).at(0)?.start()
    arm()
  }

  return (owner = NOBODY) =>
    new Promise((start) => {
      const since = performance.now()
      if (line.length() === 0) lastAt = since
      line.add(owner, { since, start })
      // What one piece does ends before the next immediate runs.
      arm()
    })
}
