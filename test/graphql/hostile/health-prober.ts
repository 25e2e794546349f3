// A thread that requests `/healthz` over its own connection, again and again, and reports the time of the
// slowest answer.
import { Agent, get } from 'node:http'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

export interface HealthProber extends AsyncDisposable {
  /**
   * Milliseconds of the slowest answer since the last call; a missing answer counts with its time so far.
   */
  readonly slowest: () => Promise<number>
}

const PAUSE_MS = 10

export function startHealthProber(url: string): HealthProber {
  const worker = new Worker(new URL(import.meta.url), { workerData: url })
  return {
    slowest() {
      const { promise, resolve } = Promise.withResolvers<number>()
      worker.once('message', resolve)
      worker.postMessage('slowest')
      return promise
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}

async function probe(url: string): Promise<never> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let slowest = 0
  let askedAt: number | null = null
  parentPort?.on('message', () => {
    parentPort?.postMessage(Math.max(slowest, askedAt === null ? 0 : performance.now() - askedAt))
    slowest = 0
  })
  for (;;) {
    askedAt = performance.now()
    await ask(url, agent)
    slowest = Math.max(slowest, performance.now() - askedAt)
    askedAt = null
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

/** Ignores errors: the sender of the hostile requests notices when the gateway has ended. */
function ask(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve) => {
    const outgoing = get(`${url}/healthz`, { agent }, (incoming) => incoming.resume().on('close', resolve))
    outgoing.on('error', () => resolve())
  })
}

if (!isMainThread && typeof workerData === 'string') await probe(workerData)
