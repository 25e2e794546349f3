// Collects the single lookups of one turn of the event loop into one batch.
import type { Awaitable } from './contract.ts'

/**
 * Says when a batch is flushed. `setImmediate` collects the lookups of all requests of a turn; `process.nextTick`
 * collects the lookups that their continuations make before the turn ends.
 */
export type Schedule = (flush: () => void) => void

interface Waiting<V> {
  readonly resolve: (value: V) => void
  readonly reject: (error: unknown) => void
}

/**
 * `load` returns one value per key, in the order given. If it throws, every lookup of the batch rejects with its error.
 */
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
      // Do not await a synchronous result: the values must reach their requests within this turn.
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

/** Like `batchPerTurn`, but each caller asks for a list of keys. Joins the lists of one turn into one. */
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
