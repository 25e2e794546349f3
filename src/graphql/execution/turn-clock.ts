// Tells when a turn of the event loop has done enough, so that a large answer does not hold up the small ones.

/** Milliseconds of work in one turn, all executions together, after which the next piece waits for another turn. */
const MAX_TURN_MS = 2

export interface TurnClock {
  readonly isOverdue: () => boolean
}

export function createTurnClock(): TurnClock {
  let startedAt: number | null = null

  function nextTurn(): void {
    startedAt = null
  }

  return {
    isOverdue() {
      if (startedAt !== null) return performance.now() - startedAt > MAX_TURN_MS
      startedAt = performance.now()
      setImmediate(nextTurn)
      return false
    },
  }
}
