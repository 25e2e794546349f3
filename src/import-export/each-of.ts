// Work on many users at once, but not on all of them.

/** Runs `work` on each item, in their order, at most so many at a time. Throws what `work` throws first, when all that began have ended; none begins after that. */
export async function eachOf<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]()
  const failures: unknown[] = []

  async function takeTurns(): Promise<void> {
    for (let next = waiting.next(); !next.done && failures.length === 0; next = waiting.next()) {
      try {
        await work(next.value)
      } catch (error) {
        failures.push(error)
      }
    }
  }

  await Promise.all(Array.from({ length: concurrency }, takeTurns))
  if (failures.length > 0) throw failures[0]
}
