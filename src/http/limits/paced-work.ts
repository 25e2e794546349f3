// Work that cannot be cut into pieces: one at a time, with pauses in which others have their turns.

/** Milliseconds of the pause for each that the work took: so it has a quarter of the time at most. */
const PAUSE_PER_MS = 3

/** Runs `work` when it is its turn, in the order in which it was asked for. Answers, or fails, as it does. */
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
