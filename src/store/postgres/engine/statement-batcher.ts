// Queues keys while the maximum number of statements is in flight and sends them as one batch.
import { StoreUnavailableError } from '../../contract.ts'
import type { Pool } from './pool.ts'

/** More than one, so that one long answer does not delay all others. */
const MAX_STATEMENTS_IN_FLIGHT = 2
const QUESTIONS_PER_STATEMENT = 1_000
const TOO_LATE = 'the database was too busy to start a statement in time'

interface Asked<K, V> {
  readonly since: number
  readonly keys: readonly K[]
  readonly resolve: (values: readonly V[]) => void
  readonly reject: (error: unknown) => void
  /** Sends the batch in the context of the request that queued it. */
  readonly begin: () => void
}

/**
 * Wraps `load`, which returns one value per key in the same order. A statement starts after all of its keys were
 * queued, so no value is older than its request. Each statement runs in the context of the request that waits the
 * longest, which `ofRequest` preserves. A request that has waited for `patienceMs` milliseconds is rejected. From then
 * on, until a statement ends, every new request is rejected at once.
 */
export function coalesce<K, V>(
  load: (keys: readonly K[]) => Promise<readonly V[]>,
  { ofRequest, patienceMs }: Pick<Pool, 'ofRequest' | 'patienceMs'>,
): (keys: readonly K[]) => Promise<readonly V[]> {
  let waiting: Asked<K, V>[] = []
  let inFlight = 0
  let isStuck = false
  let isWatched = false

  /** One timer serves the whole queue. */
  function watch(): void {
    const [first] = waiting
    if (isWatched || !first) return
    isWatched = true
    setTimeout(refuseLate, first.since + patienceMs - performance.now()).unref()
  }

  function refuseLate(): void {
    isWatched = false
    const now = performance.now()
    const late = waiting.filter(({ since }) => now - since >= patienceMs)
    if (late.length > 0) {
      isStuck = true
      waiting = waiting.slice(late.length)
      for (const { reject } of late) reject(new StoreUnavailableError(TOO_LATE))
    }
    watch()
  }

  async function flush(): Promise<void> {
    const batch = takeBatch()
    inFlight += 1
    try {
      const values = await load(batch.flatMap(({ keys }) => keys))
      let start = 0
      for (const { keys, resolve } of batch) {
        resolve(values.slice(start, start + keys.length))
        start += keys.length
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      inFlight -= 1
      isStuck = false
      waiting[0]?.begin()
    }
  }

  function takeBatch(): readonly Asked<K, V>[] {
    let size = 0
    const end = waiting.findIndex(({ keys }, index) => {
      size += keys.length
      return index > 0 && size > QUESTIONS_PER_STATEMENT
    })
    const batch = end === -1 ? waiting : waiting.slice(0, end)
    waiting = end === -1 ? [] : waiting.slice(end)
    return batch
  }

  return (keys) => {
    if (keys.length === 0) return Promise.resolve([])
    if (isStuck) return Promise.reject(new StoreUnavailableError(TOO_LATE))
    const { promise, resolve, reject } = Promise.withResolvers<readonly V[]>()
    waiting.push({ since: performance.now(), keys, resolve, reject, begin: ofRequest(flush) })
    if (inFlight < MAX_STATEMENTS_IN_FLIGHT) void flush()
    else watch()
    return promise
  }
}
