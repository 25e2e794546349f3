// Collects the single questions of one turn of the event loop into one batch.
import type { Awaitable } from './contract.ts'

/**
 * `setImmediate` collects what all requests of a turn ask; `process.nextTick` what their continuations ask before the
 * turn ends.
 */
export type Schedule = (flush: () => void) => void

interface Waiting<V> {
  readonly resolve: (value: V) => void
  readonly reject: (error: unknown) => void
}

/** `load` answers one value per key, in the order given; when it throws, every question of the batch fails with it. */
export function batchPerTurn<K, V>(
  load: (keys: readonly K[]) => Awaitable<readonly V[]>,
  schedule: Schedule,
): (key: K) => Promise<V> {
  let keys: K[] = []
  let waiting: Waiting<V>[] = []

  async function flush(): Promise<void> {
    const [asked, batch] = [keys, waiting]
    keys = []
    waiting = []
    try {
      const loading = load(asked)
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
      if (keys.length === 0) schedule(flush)
      keys.push(key)
      waiting.push({ resolve, reject })
    })
}

/** As `batchPerTurn`, for questions that come in lists: those of a turn are joined to one. */
export function batchListsPerTurn<K, V>(
  load: (keys: readonly K[]) => Awaitable<readonly V[]>,
  schedule: Schedule,
): (keys: readonly K[]) => Promise<readonly V[]> {
  return batchPerTurn<readonly K[], readonly V[]>((lists) => {
    const loading = load(lists.flat())
    return isPromise(loading) ? loading.then((values) => splitLike(lists, values)) : splitLike(lists, loading)
  }, schedule)
}

function splitLike<V>(lists: readonly (readonly unknown[])[], values: readonly V[]): readonly (readonly V[])[] {
  let start = 0
  return lists.map(({ length }) => {
    start += length
    return values.slice(start - length, start)
  })
}

function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return value instanceof Promise
}
