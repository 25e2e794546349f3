// Writes buffered entries periodically, one write at a time, outside the request path.
import type { Awaitable } from './awaitable.ts'

/** Interval between writes, in milliseconds. A killed process loses at most the entries of one interval. */
const WRITE_EVERY_MS = 1_000
const PURGE_EVERY_MS = 3_600_000
const PURGED_PER_STEP = 1_000

export interface BackgroundWriterOptions {
  /**
   * Persists the entries that are buffered when it is called, and no later ones. If it throws, the next interval
   * retries.
   */
  readonly write: () => Promise<void>
  /** Removes at most `limit` rows that are too old and returns how many it removed. Null if rows are kept for ever. */
  readonly removeOld: ((limit: number) => Awaitable<number>) | null
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Called once for a series of consecutive failures. */
  readonly onFailure: (error: unknown) => void
}

export interface BackgroundWriter extends AsyncDisposable {
  /** Resolves when all entries that were buffered are durable, or when the attempt to write them failed. */
  readonly flush: () => Promise<void>
}

/** Disposing the writer flushes the entries that are still buffered. */
export function startBackgroundWriter(options: BackgroundWriterOptions): BackgroundWriter {
  const { write, removeOld, clock, onFailure } = options
  let purgedAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> = Promise.resolve()
  /** The run after that. All callers until it begins share it: what is slow or fails must not gather runs. */
  let queued: Promise<void> | null = null
  let isFailing = false

  /**
   * Removes one batch of old rows; the next batch follows after the next write, because entries that wait meanwhile are
   * lost if the process is killed. The absolute difference also starts a purge after the clock was set back: otherwise
   * the next one would be delayed by as much.
   */
  async function purge(): Promise<void> {
    if (removeOld === null || Math.abs(clock() - purgedAt) < PURGE_EVERY_MS) return
    if ((await removeOld(PURGED_PER_STEP)) < PURGED_PER_STEP) purgedAt = clock()
  }

  async function run(): Promise<void> {
    try {
      await write()
      await purge()
      isFailing = false
    } catch (error) {
      if (!isFailing) onFailure(error)
      isFailing = true
    }
  }

  function flush(): Promise<void> {
    queued ??= running.then(() => {
      queued = null
      running = run()
      return running
    })
    return queued
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
