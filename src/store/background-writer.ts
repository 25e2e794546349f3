// Writes what processes collect, again and again and one write at a time, off the path of requests.
import type { Awaitable } from './awaitable.ts'

/** What a process that is killed loses at most. */
const WRITE_EVERY_MS = 1_000
const PURGE_EVERY_MS = 3_600_000
const PURGED_PER_STEP = 1_000

export interface BackgroundWriterOptions {
  /** Makes durable what waits when it is called, and no more; throws where it cannot, and is called again. */
  readonly write: () => Promise<void>
  /** Removes at most `limit` rows that are too old and answers how many; null where rows stay. */
  readonly removeOld: ((limit: number) => Awaitable<number>) | null
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Called once for failures in a row. */
  readonly onFailure: (error: unknown) => void
}

export interface BackgroundWriter extends AsyncDisposable {
  /** Resolves when all that waited is durable, or could not be written now. */
  readonly flush: () => Promise<void>
}

/** Disposing it writes what still waits. */
export function startBackgroundWriter(options: BackgroundWriterOptions): BackgroundWriter {
  const { write, removeOld, clock, onFailure } = options
  let purgedAt = Number.NEGATIVE_INFINITY
  let writing: Promise<void> = Promise.resolve()
  let isFailing = false

  /**
   * One step, and the next one after the next write: what waits meanwhile is lost when the process is killed. Also where the clock was
   * ahead the last time, and is set back: it would be long until then.
   */
  async function purge(): Promise<void> {
    if (removeOld === null || Math.abs(clock() - purgedAt) < PURGE_EVERY_MS) return
    if ((await removeOld(PURGED_PER_STEP)) < PURGED_PER_STEP) purgedAt = clock()
  }

  function flush(): Promise<void> {
    writing = writing.then(async () => {
      try {
        await write()
        await purge()
        isFailing = false
      } catch (error) {
        if (!isFailing) onFailure(error)
        isFailing = true
      }
    })
    return writing
  }

  const timer = setInterval(flush, WRITE_EVERY_MS)
  timer.unref()

  return {
    flush,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush()
    },
  }
}
