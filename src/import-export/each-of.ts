// Runs asynchronous work on many items with bounded concurrency.

/**
 * Runs `work` on the items, in order, at most `concurrency` at a time. After a failure no further work begins. It waits
 * for the work in progress and then throws the first error.
 */
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
