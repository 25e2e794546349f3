// Work on long texts, done in a worker beside the page, so that the page answers a person meanwhile. What is short is done at once.
import type { Reply, Task, Tasks } from './tasks-worker.ts'

/** In characters of all texts together. So much takes a few milliseconds. */
const SHORT = 150_000

export function isLong(...given: readonly unknown[]): boolean {
  return given.reduce<number>((sum, one) => sum + (typeof one === 'string' ? one.length : 0), 0) > SHORT
}

/** `inPage` is the task of this name itself: for what is short, and for when the worker cannot be loaded. */
export async function beside<G extends readonly unknown[], R>(
  name: keyof Tasks,
  inPage: (...given: G) => R,
  ...given: G
): Promise<R> {
  if (!isLong(...given)) return inPage(...given)
  try {
    return (await inWorker({ name, given })) as R
  } catch {
    return inPage(...given)
  }
}

function inWorker(task: Task): Promise<unknown> {
  const worker = new Worker(new URL('./tasks-worker.ts', import.meta.url), { type: 'module' })
  const done = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Reply>) => resolve(data.result)
    worker.onerror = reject
    worker.postMessage(task)
  })
  return done.finally(() => worker.terminate())
}
