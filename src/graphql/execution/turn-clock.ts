// Tells when a turn of the event loop has taken long enough, so that a large response does not hold up small ones.

/** Milliseconds of work in one turn, all executions together, after which the next piece of a long list waits. */
const LONG_LIST_MS = 2
/** The same for short lists: many small requests are to be answered within one turn. */
const SHORT_LIST_MS = 20
/** Items of a short list at most. */
const SHORT_LIST = 64
/**
 * Items that an execution completes however long the turn has taken. Without them all small requests would wait here under
 * overload, where the admission control does not see them, and so does not refuse the excess.
 */
const FREE_ITEMS = 256
/** UTF-16 units of documents that members are looked for in: it takes about as long as an item, where every member is a stranger. */
const LENGTH_PER_ITEM = 1_024

export interface TurnClock {
  /** Whether a list of so many items should wait for another turn. */
  readonly isOverdue: (itemCount: number) => boolean
}

/** The clock of one execution. */
export interface RunClock {
  /** Whether a list of `itemCount` should wait for another turn; `begunCount`: items that were begun since the last call. */
  readonly isOverdue: (itemCount: number, begunCount: number) => boolean
  /** The response is long, however few its items are: from now on no item is free, and every list counts as long. */
  readonly expectLong: () => void
}

/** As how many items a document of this length counts beside itself. */
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
