// Puts new connections ahead of request work: Node accepts one connection per turn of the event loop (libuv since
// 1.45). If each turn did all the work that has arrived, new connections, including health checks, would wait for
// seconds in the kernel's backlog.

/** While connections keep coming, turns only accept them for this long. Then one turn begins work again. */
const ACCEPTING_MS = 4

export interface Accepting {
  /**
   * Called for the first request of each connection. Returns whether the request should wait: if the turn before had a
   * new connection too, more may follow.
   */
  readonly onConnection: () => boolean
  /**
   * Called at the end of each turn. Returns whether the next turn should begin no work. `isAnyWaiting` says whether
   * requests wait.
   */
  readonly endTurn: (at: number, isAnyWaiting: boolean) => boolean
  /** Whether `endTurn` must run for the next turn too, although no request waits. */
  readonly isWatching: () => boolean
}

export function createAccepting(): Accepting {
  let cameInThisTurn = false
  let cameInLastTurn = false
  let turns = 0
  let since = 0

  return {
    onConnection() {
      cameInThisTurn = true
      return cameInLastTurn
    },
    endTurn(at, isAnyWaiting) {
      // The first of these turns still includes work that began before it.
      if (turns === 1) since = at
      const isLongEnough = turns > 1 && at - since >= ACCEPTING_MS
      turns = cameInThisTurn && isAnyWaiting && !isLongEnough ? turns + 1 : 0
      cameInLastTurn = cameInThisTurn
      cameInThisTurn = false
      return turns > 0
    },
    isWatching: () => cameInLastTurn,
  }
}
