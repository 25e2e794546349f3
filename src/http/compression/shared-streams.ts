// Produces a stream once for all requests that ask for the same one meanwhile, and caches it when it is complete.
import { type Copy, dropCopy } from '../caching/copy-cache.ts'
import type { ResponseCache } from '../caching/response-cache.ts'

/**
 * `produce` must return the same bytes on every call for one name. A name belongs to one user, and the copy counts
 * against that user's share.
 */
export type SharedStream = (
  userId: number,
  name: string,
  produce: () => AsyncIterable<Uint8Array>,
) => AsyncIterable<Uint8Array>

interface Job extends Copy {
  readonly userId: number
  byteLength: number
  readers: number
  /** `abandoned`: the cache had no room for the whole stream, or no reader was left. */
  state: 'running' | 'whole' | 'abandoned' | 'failed'
  /** Why the job failed. */
  cause: unknown
  /** Resolves at the next change of any of these fields. */
  change: PromiseWithResolvers<void>
}

/**
 * Produces a stream at full speed into reserved cache memory, so that a slow reader delays nobody and later requests
 * can join. When the cache has no room for the whole stream, the reservation is released at once and each reader
 * continues with a stream of its own, at its own speed. A reader never holds more than the chunk it is sending.
 */
export function createSharedStreams(cache: ResponseCache): SharedStream {
  const jobs = new Map<string, Job>()

  function start(userId: number, name: string, produce: () => AsyncIterable<Uint8Array>): Job {
    const change = Promise.withResolvers<void>()
    const job: Job = {
      userId,
      chunks: [],
      byteLength: 0,
      isDropped: false,
      readers: 0,
      state: 'running',
      cause: undefined,
      change,
    }
    jobs.set(name, job)
    void run(name, job, produce())
    return job
  }

  async function run(name: string, job: Job, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of chunks) {
        if (job.readers === 0 || !cache.reserve(job.userId, chunk.byteLength)) {
          end(name, job, 'abandoned')
          return
        }
        job.chunks.push(chunk)
        job.byteLength += chunk.byteLength
        notify(job)
      }
      end(name, job, 'whole')
    } catch (error) {
      // Its readers see `failed` and throw.
      job.cause = error
      end(name, job, 'failed')
    }
  }

  function end(name: string, job: Job, state: Job['state']): void {
    jobs.delete(name)
    job.state = state
    if (state === 'whole') {
      cache.keepCopy(job.userId, name, job)
    } else {
      cache.release(job.byteLength)
      dropCopy(job)
    }
    notify(job)
  }

  return async function* (userId, name, produce) {
    const job = jobs.get(name) ?? start(userId, name, produce)
    let [at, sentBytes] = [0, 0]
    job.readers += 1
    try {
      while (!job.isDropped && (job.state === 'running' || at < job.chunks.length)) {
        const chunk = job.chunks[at]
        if (chunk) {
          yield chunk
          at += 1
          sentBytes += chunk.byteLength
        } else {
          await job.change.promise
        }
      }
    } finally {
      job.readers -= 1
    }
    if (job.state === 'failed') throw new Error('a compressed stream could not be completed', { cause: job.cause })
    const isAll = job.state === 'whole' && sentBytes === job.byteLength
    if (job.isDropped && !isAll) yield* after(sentBytes, produce())
  }
}

/** Yields the bytes of a cached copy. If the copy is evicted meanwhile, the rest comes from `produce`. */
export async function* readCopy(copy: Copy, produce: () => AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let [at, sentBytes] = [0, 0]
  for (let chunk = copy.chunks[0]; chunk; chunk = copy.chunks[at]) {
    yield chunk
    at += 1
    sentBytes += chunk.byteLength
  }
  if (sentBytes < copy.byteLength) yield* after(sentBytes, produce())
}

async function* after(byteLength: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let skipped = 0
  for await (const chunk of chunks) {
    const skipping = Math.min(byteLength - skipped, chunk.byteLength)
    skipped += skipping
    if (skipping < chunk.byteLength) yield chunk.subarray(skipping)
  }
}

function notify(job: Job): void {
  job.change.resolve()
  job.change = Promise.withResolvers()
}
