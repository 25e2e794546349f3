// Defines the messages between a supervisor and its workers about readiness, failure and retirement.
import cluster, { type Worker } from 'node:cluster'
import type { ServeConfig } from '../options/serve-options.ts'

/** Extra time for a worker to end, beyond its own shutdown delay and grace. */
const END_MARGIN_MS = 5_000

/**
 * Message of a worker once it listens. It carries the worker's own configuration, because the file may have changed
 * since the supervisor read it.
 */
export interface WorkerReady {
  /** Text for stdout. */
  readonly announcement: string
  /** Warnings for the log. */
  readonly warnings: readonly string[]
  /** Maximum time to end. */
  readonly endTimeoutMs: number
  /** Maximum time without answering a heartbeat; 0 for no limit. */
  readonly hungTimeoutMs: number
}

/** In a worker: the timeouts from its configuration. */
export function timeoutsOf(config: ServeConfig): Pick<WorkerReady, 'endTimeoutMs' | 'hungTimeoutMs'> {
  return {
    endTimeoutMs: (config.shutdownDelay + config.shutdownGrace) * 1_000 + END_MARGIN_MS,
    hungTimeoutMs: config.workerTimeout * 1_000,
  }
}

/** In a worker: tells the supervisor that it listens. */
export function announceReady(ready: WorkerReady): void {
  cluster.worker?.send(ready)
}

/**
 * Message of a worker when the database failed. Another worker would not be started: it would fail too, or create an
 * empty database in its place.
 */
const DATABASE_FAILED = 'database failed'

/** In a worker: makes the supervisor end the whole gateway. */
export function announceDatabaseFailure(): void {
  cluster.worker?.send(DATABASE_FAILED)
}

export function isDatabaseFailure(message: unknown): boolean {
  return message === DATABASE_FAILED
}

export function isReady(message: unknown): message is WorkerReady {
  return typeof message === 'object' && message !== null && 'announcement' in message
}

/** Message to a worker that another worker has replaced. */
const RETIRE = 'retire'

/** In a worker: calls `listener` when another worker listens in its place, so that it can stop. */
export function onRetire(listener: () => void): void {
  process.on('message', (message) => {
    if (message === RETIRE) listener()
  })
}

export function retire(worker: Worker): void {
  worker.send(RETIRE)
}
