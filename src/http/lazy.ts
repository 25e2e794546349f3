// Makes a value when it is first needed.
import type { Awaitable } from '../store/contract.ts'

/**
 * All callers share one value, available synchronously once it is made. If making it fails, the next call tries again.
 */
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
