// Starts one worker process, and turns its messages and its end into promises.
import cluster, { type Worker } from 'node:cluster'
import { isAnnouncedEnd } from './announced-end.ts'
import { next } from './worker-endings.ts'
import { isDatabaseFailure, isReady, type WorkerReady } from './worker-messages.ts'

/** How a worker ended. */
export interface WorkerEnd {
  readonly exitCode: number | null
  /** The signal that killed it, or null. A killed worker could not send a reason. */
  readonly signal: string | null
  /**
   * The reason that the worker sent, or the error of a worker that could not start. The first worker writes its reason
   * to stderr.
   */
  readonly reason?: string
}

/** Each promise stays pending if what it stands for does not happen. None rejects. */
export interface WorkerProcess {
  readonly worker: Worker
  /** Resolves when the worker listens. */
  readonly ready: Promise<WorkerReady>
  /** Resolves when the worker has ended and its last message has arrived. */
  readonly ended: Promise<WorkerEnd>
  /** Resolves to the error of a process that could not be started. Such a process neither listens nor ends. */
  readonly startError: Promise<unknown>
}

/**
 * Forks a worker with additional environment variables. Calls `onDatabaseFailure` when the worker reports that its
 * database failed. Throws the error of a fork that fails at once; later ones are in `startError`.
 */
export function forkWorker(
  environment: Readonly<Record<string, string>>,
  onDatabaseFailure: () => void,
): WorkerProcess {
  const worker = cluster.fork(environment)
  const startError = Promise.withResolvers<unknown>()
  const ready = Promise.withResolvers<WorkerReady>()
  let announced: { readonly reason?: string } = {}
  worker.on('error', (error) => {
    // A message could not be sent because the worker was killed. Its exit event follows.
    if (worker.process.pid !== undefined) return
    // A worker that never started has no exit event, which would remove it from this list.
    delete cluster.workers?.[worker.id]
    startError.resolve(error)
  })
  worker.on('message', (message: unknown) => {
    if (isDatabaseFailure(message)) onDatabaseFailure()
    else if (isAnnouncedEnd(message)) announced = { reason: message.endsFor }
    else if (isReady(message)) ready.resolve(message)
  })
  const ended = next(worker, 'exit').then(async (): Promise<WorkerEnd> => {
    const { exitCode, signalCode } = worker.process
    // Its last message may still be in the channel.
    if (worker.isConnected()) await next(worker, 'disconnect')
    return { exitCode, signal: signalCode, ...announced }
  })
  return { worker, ready: ready.promise, ended, startError: startError.promise }
}
