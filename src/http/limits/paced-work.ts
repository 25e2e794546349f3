// Runs work that cannot be split: one task at a time, with pauses in which other work has its turn.

/** Milliseconds of pause per millisecond of work, so that such work takes at most a quarter of the time. */
const PAUSE_PER_MS = 3

/** Runs `work` when it is its turn, first come first served. Settles as `work` does. */
export type PaceWork = <T>(work: () => T) => Promise<T>

export function createPacedWork(): PaceWork {
  let last: Promise<void> = Promise.resolve()

  return async (work) => {
    const before = last
    const { promise, resolve: letNext } = Promise.withResolvers<void>()
    last = promise
    await before
    const startedAt = performance.now()
    try {
      return work()
    } finally {
      setTimeout(letNext, (performance.now() - startedAt) * PAUSE_PER_MS)
    }
  }
}
