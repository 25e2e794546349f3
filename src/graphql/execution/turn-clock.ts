// Tells when a turn of the event loop has taken long enough, so that a large response does not block small ones.

/** Milliseconds of work in one turn, by all executions together, after which the next piece of a long list waits. */
const LONG_LIST_MS = 2
/** The same for short lists. It is longer because one turn should answer many small requests. */
const SHORT_LIST_MS = 20
/** Maximum number of items of a short list. */
const SHORT_LIST = 64
/**
 * Items that an execution completes however long the turn has taken. Without this allowance, all small requests would
 * wait here under overload, where admission control cannot see them and therefore does not refuse the excess.
 */
const FREE_ITEMS = 256
/**
 * UTF-16 units of documents that count as one item: scanning them takes about as long if the reader knows none of the
 * members.
 */
const LENGTH_PER_ITEM = 1_024

export interface TurnClock {
  /** Whether a list of `itemCount` items should wait for another turn. */
  readonly isOverdue: (itemCount: number) => boolean
}

/** The clock of one execution. */
export interface RunClock {
  /** The same. `begunCount` is the number of items that were begun since the last call. */
  readonly isOverdue: (itemCount: number, begunCount: number) => boolean
  /**
   * Declares the response long, however few items it has: from now on no item is free, and every list counts as long.
   */
  readonly expectLong: () => void
}

/** The number of items that a document of this length counts as, in addition to itself. */
export function itemsOfLength(length: number): number {
  return Math.floor(length / LENGTH_PER_ITEM)
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
