// What is made when it is first needed.
import type { Awaitable } from '../store/contract.ts'

/** One for all who ask, there at once when it was made; when making it failed, the next who asks tries again. */
export function lazyAsync<T extends NonNullable<unknown>>(make: () => Promise<T>): () => Awaitable<T> {
  let made: Awaitable<T> | null = null

  async function keep(): Promise<T> {
    try {
      made = await make()
      return made
    } catch (error) {
      made = null
      throw error
    }
  }

  return () => {
    made ??= keep()
    return made
  }
}
