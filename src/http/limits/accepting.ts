// Puts new connections ahead of other work: Node accepts one connection per turn of the event loop (libuv since 1.45).
// If each turn did all the work that has arrived, new connections, including health checks, would wait for seconds in
// the kernel's backlog.

/**
 * While connections keep coming, turns only accept them for at least this long, and for as long as the last turn with
 * work took. Then one turn does work again.
 */
const MIN_ACCEPTING_MS = 4

export interface AcceptingOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Calls `run` once in the next turn of the event loop. */
  readonly nextTurn: (run: () => void) => void
}

export interface Accepting {
  /** Called for each new connection, whether or not it will send anything. */
  readonly onConnection: () => void
  /** Whether work that can wait should not begin now, because more connections may follow. */
  readonly isHolding: () => boolean
}

export function createAccepting({ now, nextTurn }: AcceptingOptions): Accepting {
  let cameInThisTurn = false
  let cameInLastTurn = false
  let isWatching = false
  /** The end of the last turn in which work could begin. */
  let workedUntil = 0
  let heldUntil: number | null = null

  function endTurn(): void {
    const at = now()
    if (cameInThisTurn && cameInLastTurn) {
      const tookMs = at - workedUntil
      if (heldUntil === null) heldUntil = at + Math.max(MIN_ACCEPTING_MS, tookMs)
      // Work may begin in one turn. If connections come in that one too, the turns after it only accept them again.
      else if (at >= heldUntil) heldUntil = null
    } else heldUntil = null
    if (heldUntil === null) workedUntil = at
    isWatching = cameInThisTurn
    cameInLastTurn = cameInThisTurn
    cameInThisTurn = false
    if (isWatching) nextTurn(endTurn)
  }

  return {
    onConnection() {
      cameInThisTurn = true
      if (isWatching) return
      isWatching = true
      nextTurn(endTurn)
    },
    isHolding: () => heldUntil !== null,
  }
}
