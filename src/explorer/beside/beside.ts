// Runs work on long texts in a Web Worker so that the page stays responsive. Short texts are processed on the main
// thread.
import type { Reply, Task, Tasks } from './tasks-worker.ts'

/** Maximum total length of the texts, in characters, for the main thread: a few milliseconds of work. */
const SHORT = 150_000

export function isLong(...given: readonly unknown[]): boolean {
  return given.reduce<number>((sum, one) => sum + (typeof one === 'string' ? one.length : 0), 0) > SHORT
}

/**
 * Runs the task `name`. `inPage` is the same task as a function of this thread: it handles short texts, and is the
 * fallback when the worker fails to load.
 */
export async function offload<G extends readonly unknown[], R>(
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
