// Tells when a turn of the event loop has done enough, so that a large answer does not hold up the small ones.

/** Milliseconds of work in one turn, all executions together, after which the next piece of a long list waits. */
const LONG_LIST_MS = 2
/** The same for short lists: the answers of many small requests belong into one turn. */
const SHORT_LIST_MS = 20
/** Items of a short list. */
const SHORT_LIST = 64
/**
 * Items that an execution completes whatever the turn has done. With more small requests than can be answered, all would wait for
 * turns, unseen by the admission, which refuses what is too much.
 */
const FREE_ITEMS = 256

export interface TurnClock {
  /** Whether a list of so many items should wait for another turn. */
  readonly isOverdue: (itemCount: number) => boolean
}

/** The clock of one execution. */
export interface RunClock {
  /** Whether a list of `itemCount` should wait for another turn; `begunCount` items of it are begun since the last call. */
  readonly isOverdue: (itemCount: number, begunCount: number) => boolean
  /** The answer is a long one, however few its items are: from now on none of them is free, and no list is short. */
  readonly expectLong: () => void
}

export function createRunClock(turn: TurnClock): RunClock {
  let begun = 0
  let isLong = false
  return {
    isOverdue(itemCount, begunCount) {
      begun += begunCount
      if (isLong) return turn.isOverdue(Number.POSITIVE_INFINITY)
      return begun > FREE_ITEMS && turn.isOverdue(itemCount)
    },
    expectLong() {
      isLong = true
    },
  }
}

export function createTurnClock(): TurnClock {
  let startedAt: number | null = null

  function nextTurn(): void {
    startedAt = null
  }

  return {
    isOverdue(itemCount) {
      if (startedAt === null) {
        startedAt = performance.now()
        setImmediate(nextTurn)
        return false
      }
      return performance.now() - startedAt > (itemCount > SHORT_LIST ? LONG_LIST_MS : SHORT_LIST_MS)
    },
  }
}
