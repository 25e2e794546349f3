// All workers as one gateway, for the admin port: their metrics added up, also of those that have ended.
import type { Worker } from 'node:cluster'
import type { Logger } from 'pino'
import type { Metric } from '../../admin/metrics/metric.ts'
import { addUp, STARTED, toText } from '../../admin/metrics/process-metrics.ts'
import { readiness } from '../../admin/metrics/state-metrics.ts'
import { GatewayError } from '../../errors.ts'
import type { ServedStoreConfig } from '../retirement/read-ledger.ts'
import { type AdminAddress, openAdminServer } from '../sight/admin-server.ts'
import { askWorker, onLastWords, type WorkerState } from './worker-questions.ts'

export interface WorkerTotals {
  /** To be told of each worker that listens. */
  readonly add: (worker: Worker) => void
  readonly metrics: () => Promise<readonly Metric[]>
  /** Whether one of them can answer requests. */
  readonly isReady: () => Promise<boolean>
}

/** Of workers that have ended; more are added to one. */
const MAX_ENDED = 8

/** A sum that fell whenever a worker is replaced would be taken for a counter that began anew, and counted twice. */
export function createWorkerTotals(): WorkerTotals {
  const running = new Set<Worker>()
  const known = new Map<Worker, readonly Metric[]>()
  /** What workers that have ended had counted. */
  const ended: (readonly Metric[])[] = []

  function totalsOfKnown(worker: Worker): readonly Metric[] {
    return totalsOf(known.get(worker) ?? [])
  }

  /** In one step: a worker is counted once at any time. After its last words it is not asked, and what it was asked before counts no more. */
  function end(worker: Worker, totals: readonly Metric[]): void {
    if (!running.delete(worker)) return
    ended.push(totals)
    known.delete(worker)
  }

  async function ask(): Promise<ReadonlyMap<Worker, WorkerState>> {
    const states = new Map<Worker, WorkerState>()
    await Promise.all(
      [...running].map(async (worker) => {
        const state = await askWorker(worker)
        if (!state || !running.has(worker)) return
        states.set(worker, state)
        known.set(worker, state.metrics)
      }),
    )
    return states
  }

  async function joinEnded(): Promise<void> {
    const { length } = ended
    if (length <= MAX_ENDED) return
    const joined = await addUp([...ended])
    ended.splice(0, length, joined)
  }

  return {
    add(worker) {
      running.add(worker)
      onLastWords(worker, ({ metrics }) => end(worker, totalsOf(metrics)))
      worker.once('exit', () => end(worker, totalsOfKnown(worker)))
    },
    async metrics() {
      await joinEnded()
      const states = await ask()
      const ofRunning = [...running].map((worker) => states.get(worker)?.metrics ?? totalsOfKnown(worker))
      return addUp([...ofRunning, ...ended, [readiness(false)]])
    },
    // One that stands still holds nobody up: the first that is ready is enough.
    isReady: () =>
      Promise.any(
        [...running].map(async (worker) => {
          if (!(await askWorker(worker))?.isReady) throw new Error('this one is not ready')
        }),
      ).then(
        () => true,
        () => false,
      ),
  }
}

/** The admin port of a supervisor. */
export function openTotalsAdmin(
  address: AdminAddress & ServedStoreConfig,
  totals: WorkerTotals,
  stop: AbortSignal,
  log: Logger,
): Promise<AsyncDisposable> {
  return openAdminServer(
    address,
    {
      metrics: async () => toText(await totals.metrics()),
      async ping() {
        if (!(await totals.isReady())) throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })
      },
      isDraining: () => stop.aborted,
    },
    log,
  )
}

/** What never falls: how much of something there is now ends with its process. */
function totalsOf(metrics: readonly Metric[]): readonly Metric[] {
  return metrics.filter(({ name, type, aggregator }) => {
    const isCounted = (type === 'counter' || type === 'histogram') && aggregator === 'sum'
    return isCounted || name === STARTED
  })
}
