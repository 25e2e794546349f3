// Schedules long work piece by piece, so that a large answer does not hold up small ones: owners take turns, however
// many pieces each asks for.
import type { Accepting } from './accepting.ts'
import { createFairLine, type Owner } from './fair-line.ts'

/** Resolves when the caller may do its next piece. All callers without an owner share one. */
export type YieldTurn = (owner?: Owner) => Promise<void>

export interface RoundRobinOptions {
  /** Minimum time for pieces per turn of the event loop, in milliseconds. */
  readonly minMs: number
  /**
   * Time for pieces as a fraction of the time that everything else took since the last piece. It guarantees progress
   * under full load.
   */
  readonly share: number
}

export const USUAL: RoundRobinOptions = { minMs: 0.25, share: 0.25 }
/** One piece per turn, however short it is: for pieces whose cost to others is not time. */
export const ONE_A_TURN: RoundRobinOptions = { minMs: 0, share: 0 }

/**
 * Maximum number of immediates set at a time. One per waiting piece would cost something in every turn, whether its
 * piece runs or not.
 */
const MAX_ARMED = 16

const NOBODY: Owner = { name: '', isKnown: false }

interface Waiting {
  readonly since: number
  readonly start: () => void
}

/**
 * Runs the pieces of one owner in the order they were asked for. Each turn of the event loop runs one piece, and more
 * while they are short: with only one per turn, many pieces would starve beside turns that are long for other reasons.
 * A turn that only accepts connections runs none.
 */
export function createRoundRobin(
  { minMs, share }: RoundRobinOptions = USUAL,
  accepting?: Pick<Accepting, 'isHolding'>,
): YieldTurn {
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
    if (accepting?.isHolding()) {
      arm()
      return
    }
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
      // The work of one piece ends before the next immediate runs.
      arm()
    })
}
