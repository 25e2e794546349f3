// Collects the single questions of one turn of the event loop into one batch.
import type { Awaitable } from './store.ts'

/**
 * `setImmediate` collects what all requests of a turn ask; `process.nextTick` what their continuations ask before the
 * turn ends.
 */
export type Schedule = (flush: () => void) => void

interface Question<K, V> {
  readonly key: K
  readonly resolve: (value: V) => void
  readonly reject: (error: unknown) => void
}

/** `load` answers one value per key, in the order given; when it throws, every question of the batch fails with it. */
export function batchPerTurn<K, V>(
  load: (keys: readonly K[]) => Awaitable<readonly V[]>,
  schedule: Schedule,
): (key: K) => Promise<V> {
  let questions: Question<K, V>[] = []

  async function flush(): Promise<void> {
    const batch = questions
    questions = []
    try {
      const loading = load(batch.map(({ key }) => key))
      // Not awaited when it is there already: the answers must reach their requests within this turn.
      const values = isPromise(loading) ? await loading : loading
      batch.forEach(({ resolve }, index) => {
        resolve(values[index] as V)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (questions.length === 0) schedule(flush)
      questions.push({ key, resolve, reject })
    })
}

function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return value instanceof Promise
}
