// Connections first: Node accepts one connection in each turn of the event loop (libuv since 1.45). If each turn did all the work that has
// arrived, new connections, those of health checks too, would wait for seconds in the backlog of the kernel.

/** While connections come, turns only accept them for this long; then one turn begins work again. */
const ACCEPTING_MS = 4

export interface Accepting {
  /** Told of the first request of each connection. Whether it should wait: with one in the turn before as well, there may be more. */
  readonly onConnection: () => boolean
  /** Told at the end of each turn. Whether the next one should begin no work; `isAnyWaiting` for it. */
  readonly endTurn: (at: number, isAnyWaiting: boolean) => boolean
  /** Whether the next turn has to be told of too, although nothing waits. */
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
      // The first of these turns still ends what began before it.
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
