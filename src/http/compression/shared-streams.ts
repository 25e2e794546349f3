// Streams that are made once for all who ask for the same while they are being made, and kept when they are whole.
import type { Copy, ResponseCache } from '../caching/response-cache.ts'

/** `produce` answers the same bytes each time it is called for a name. */
export type SharedStream = (name: string, produce: () => AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>

interface Job {
  readonly chunks: Uint8Array[]
  byteLength: number
  readers: number
  /** `abandoned`: there was no room for all of it, or nobody left to read it. */
  state: 'running' | 'whole' | 'abandoned' | 'failed'
  /** Resolves at the next change of any of this. */
  change: PromiseWithResolvers<void>
}

/**
 * A stream is made as fast as it can be, into room of the cache, so that a slow reader holds up nobody and who comes later
 * joins. When there is no room for the whole of it, each reader goes on with a stream of its own, at its own speed.
 */
export function createSharedStreams(cache: ResponseCache): SharedStream {
  const jobs = new Map<string, Job>()

  function start(name: string, produce: () => AsyncIterable<Uint8Array>): Job {
    const job: Job = { chunks: [], byteLength: 0, readers: 0, state: 'running', change: Promise.withResolvers() }
    jobs.set(name, job)
    void run(name, job, produce())
    return job
  }

  async function run(name: string, job: Job, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of chunks) {
        if (job.readers === 0 || !cache.reserve(chunk.byteLength)) {
          end(name, job, 'abandoned')
          return
        }
        job.chunks.push(chunk)
        job.byteLength += chunk.byteLength
        notify(job)
      }
      end(name, job, 'whole')
    } catch {
      // Whoever reads it sees that it is not whole.
      end(name, job, 'failed')
    }
  }

  function end(name: string, job: Job, state: Job['state']): void {
    jobs.delete(name)
    job.state = state
    if (state === 'whole') cache.keepCopy(name, toCopy(job))
    else cache.release(job.byteLength)
    notify(job)
  }

  return async function* (name, produce) {
    const job = jobs.get(name) ?? start(name, produce)
    let [at, byteLength] = [0, 0]
    job.readers += 1
    try {
      while (job.state === 'running' || at < job.chunks.length) {
        const chunk = job.chunks[at]
        if (chunk) {
          yield chunk
          at += 1
          byteLength += chunk.byteLength
        } else {
          await job.change.promise
        }
      }
    } finally {
      job.readers -= 1
    }
    if (job.state === 'failed') throw new Error('a stream could not be made to its end')
    if (job.state === 'abandoned') yield* after(byteLength, produce())
  }
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

function toCopy({ chunks, byteLength }: Job): Copy {
  return { chunks, byteLength }
}
