// Presents all workers as one gateway on the admin port: adds up their metrics, also of workers that have ended.
import type { Worker } from 'node:cluster'
import type { Logger } from 'pino'
import type { Metric } from '../../admin/metrics/metric.ts'
import { addUp, STARTED, toText } from '../../admin/metrics/process-metrics.ts'
import { readiness } from '../../admin/metrics/state-metrics.ts'
import { GatewayError } from '../../errors.ts'
import type { ServedStoreConfig } from '../retirement/read-ledger.ts'
import { type AdminAddress, openAdminServer } from '../sight/admin-server.ts'
import { askWorker, onFinalState, type WorkerState } from './worker-questions.ts'

export interface WorkerTotals {
  /** Call this for each worker that listens. */
  readonly add: (worker: Worker) => void
  readonly metrics: () => Promise<readonly Metric[]>
  /** Whether at least one worker can answer requests. */
  readonly isReady: () => Promise<boolean>
}

/** Maximum number of separate totals of ended workers. More are added up to one. */
const MAX_ENDED = 8

/**
 * Keeps the totals of ended workers. If a sum fell whenever a worker is replaced, a monitoring system would take that
 * for a counter reset and count events twice.
 */
export function createWorkerTotals(): WorkerTotals {
  const running = new Set<Worker>()
  const known = new Map<Worker, readonly Metric[]>()
  /** Totals of ended workers. */
  const ended: (readonly Metric[])[] = []

  function totalsOfKnown(worker: Worker): readonly Metric[] {
    return totalsOf(known.get(worker) ?? [])
  }

  /**
   * Moves a worker from `running` to `ended` in one synchronous step, so that it is always counted exactly once.
   * Answers that arrive later are ignored.
   */
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
      onFinalState(worker, ({ metrics }) => end(worker, totalsOf(metrics)))
      worker.once('exit', () => end(worker, totalsOfKnown(worker)))
    },
    async metrics() {
      await joinEnded()
      const states = await ask()
      const ofRunning = [...running].map((worker) => states.get(worker)?.metrics ?? totalsOfKnown(worker))
      return addUp([...ofRunning, ...ended, [readiness(false)]])
    },
    // The first ready worker is enough, so a hung worker delays nothing.
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

/** Opens the admin port of a supervisor. */
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

/** The metrics that never fall (counters and histograms). A gauge ends with its process. */
function totalsOf(metrics: readonly Metric[]): readonly Metric[] {
  return metrics.filter(({ name, type, aggregator }) => {
    const isCounted = (type === 'counter' || type === 'histogram') && aggregator === 'sum'
    return isCounted || name === STARTED
  })
}
