// Many users at once, but not all of them.

/** Runs `work` on each item, in their order, at most so many at a time. Throws what `work` throws first, when all have ended. */
export async function eachOf<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]()
  let failure: { readonly error: unknown } | null = null

  async function takeTurns(): Promise<void> {
    for (let next = waiting.next(); !next.done && failure === null; next = waiting.next()) {
      try {
        await work(next.value)
      } catch (error) {
        failure ??= { error }
      }
    }
  }

  await Promise.all(Array.from({ length: concurrency }, takeTurns))
  if (failure !== null) throw (failure as { readonly error: unknown }).error
}
