// Work that is done piece by piece, so that a large answer does not hold up the small ones.

/** Resolves when the caller may do its next piece. */
export type YieldTurn = () => Promise<void>

/** One piece in each turn of the event loop, however many are waiting: who has waited longest is next. */
export function createRoundRobin(): YieldTurn {
  const waiting: (() => void)[] = []

  function admitOne(): void {
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(admitOne)
  }

  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 1) setImmediate(admitOne)
    })
}
