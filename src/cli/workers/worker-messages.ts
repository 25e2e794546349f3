// What a supervisor and its workers tell each other.
import cluster, { type Worker } from 'node:cluster'
import type { ServeConfig } from '../options/serve-options.ts'

/** Beyond what a worker has for its end by its options. */
const END_MARGIN_MS = 5_000

/** What a worker says once it listens, by its own configuration: the file may be another one than that of its supervisor. */
export interface WorkerReady {
  /** For stdout. */
  readonly announcement: string
  /** For the log. */
  readonly warnings: readonly string[]
  /** How long it may take to end. */
  readonly endTimeoutMs: number
  /** How long it may not answer; 0 for as long as it likes. */
  readonly hungTimeoutMs: number
}

/** In a worker: what it has to say of its configuration. */
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

/** What a worker says when the database failed: another worker would find the same, or make an empty one in its place. */
const DATABASE_FAILED = 'database failed'

/** In a worker: ends the whole gateway. */
export function announceDatabaseFailure(): void {
  cluster.worker?.send(DATABASE_FAILED)
}

export function isDatabaseFailure(message: unknown): boolean {
  return message === DATABASE_FAILED
}

export function isReady(message: unknown): message is WorkerReady {
  return typeof message === 'object' && message !== null && 'announcement' in message
}

/** What a supervisor says to a worker that another one has taken over from. */
const RETIRE = 'retire'

/** In a worker: told when another one listens in its place, so that it may stop without anybody waiting for it. */
export function onRetire(listener: () => void): void {
  process.on('message', (message) => {
    if (message === RETIRE) listener()
  })
}

export function retire(worker: Worker): void {
  worker.send(RETIRE)
}
