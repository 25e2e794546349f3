// Streams that are made once for all who ask for the same while they are being made, and kept when they are whole.
import { type Copy, dropCopy, type ResponseCache } from '../caching/response-cache.ts'

/** `produce` answers the same bytes each time it is called for a name. A name belongs to one user, whose room it takes. */
export type SharedStream = (
  userId: number,
  name: string,
  produce: () => AsyncIterable<Uint8Array>,
) => AsyncIterable<Uint8Array>

interface Job extends Copy {
  readonly userId: number
  byteLength: number
  readers: number
  /** `abandoned`: there was no room for all of it, or nobody left to read it. */
  state: 'running' | 'whole' | 'abandoned' | 'failed'
  /** Why it failed. */
  cause: unknown
  /** Resolves at the next change of any of this. */
  change: PromiseWithResolvers<void>
}

/**
 * A stream is made as fast as it can be, into room of the cache, so that a slow reader holds up nobody and who comes later
 * joins. When there is no room for the whole of it, the room is given back at once, and each reader goes on with a stream of
 * its own, at its own speed: a reader never holds more than the chunk it is sending.
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
      // Its readers see that it is not whole.
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
    if (job.state === 'failed') throw new Error('a stream could not be made to its end', { cause: job.cause })
    const isAll = job.state === 'whole' && sentBytes === job.byteLength
    if (job.isDropped && !isAll) yield* after(sentBytes, produce())
  }
}

/** The bytes of a copy that was kept. Once it is dropped, to make room for others, the rest comes from `produce`. */
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
