// Keeps worker processes running: starts them, replaces those that end, rolls all of them, and ends them.
import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { MachineError, reasonOf } from '../../errors.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { workerEnvironment } from './announced-end.ts'
import { watchHeartbeat } from './heartbeat.ts'
import { createWorkerEndings } from './worker-endings.ts'
import { isReady, retire, timeoutsOf, type WorkerReady } from './worker-messages.ts'
import { forkWorker, type WorkerEnd, type WorkerProcess } from './worker-process.ts'

/**
 * A worker that listened for less than this is replaced after a backoff, not at once. Its start does not count: workers
 * that end again and again keep the machine so busy that a start takes longer than this.
 */
const HEALTHY_MS = 2_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** Minimum hang timeout during the start: a worker loads its code before its event loop turns. */
const MIN_START_TIMEOUT_MS = 30_000
/**
 * Error codes for a machine without room for another process, or a process without free file descriptors: they may
 * pass.
 */
const PASSING: readonly unknown[] = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']

export interface WorkerPoolOptions {
  /** Once it is aborted, no worker is started or replaced any more. */
  readonly ending: AbortSignal
  /** Called when a worker reports that the database failed, or when nothing can listen any more. */
  readonly onLost: () => void
  /** Whether the workers share a socket that is lost when all of them have ended. */
  readonly isSocketInherited: boolean
  /** Warnings about the configuration that were logged already. */
  readonly warnings: readonly string[]
  /** Called for each worker that listens. */
  readonly onListening: (worker: Worker) => void
}

export interface WorkerPool {
  /**
   * Starts workers, with backoff, until one listens. Returns early with the end of one for which `isFinal` is true, and
   * with null when the pool ends. Throws `MachineError` when the first worker cannot be started for a reason that will
   * not pass.
   */
  readonly add: (isFinal?: (end: WorkerEnd) => boolean) => Promise<WorkerReady | WorkerEnd | null>
  /**
   * Rolls all workers: a new one listens before the old one stops. Gives up when a new one fails, as the next would
   * fail too.
   */
  readonly replaceAll: () => Promise<void>
  /** Ends all workers, also those that are still starting. */
  readonly endAll: () => Promise<void>
}

export function createWorkerPool(config: ServeConfig, log: Logger, options: WorkerPoolOptions): WorkerPool {
  const { ending, onLost, isSocketInherited, onListening } = options
  const running = new Set<Worker>()
  let hasListened = false
  /** Workers whose successor is starting or has started. */
  const withSuccessor = new WeakSet<Worker>()
  /** Workers that were told to end because their successor listens. */
  const replaced = new WeakSet<Worker>()
  const timeouts = new WeakMap<Worker, Pick<WorkerReady, 'endTimeoutMs' | 'hungTimeoutMs'>>()
  const endings = createWorkerEndings((worker) => (timeouts.get(worker) ?? timeoutsOf(config)).endTimeoutMs, log)
  /** Workers that are starting. They may have read an older configuration file. */
  const starting = new Set<Promise<unknown>>()
  let loggedWarnings = options.warnings

  /** Resolves when the worker listens, or has ended before that. `pausedMs` is the backoff before this start. */
  async function start(pausedMs = 0): Promise<WorkerReady | WorkerEnd> {
    const outcome = startOne(pausedMs)
    starting.add(outcome)
    try {
      return await outcome
    } finally {
      starting.delete(outcome)
    }
  }

  async function startOne(pausedMs: number): Promise<WorkerReady | WorkerEnd> {
    let forked: WorkerProcess
    try {
      forked = forkWorker(workerEnvironment(hasListened), onLost)
    } catch (error) {
      return toStartFailure(error)
    }
    const { worker, ready, ended, startError } = forked
    // The first worker is not watched while it starts: it may check the whole database before it listens.
    const watched = hasListened ? watch(worker, MIN_START_TIMEOUT_MS) : null
    const first = await Promise.race([ready, ended, startError.then(toStartFailure)])
    watched?.[Symbol.dispose]()
    if (!isReady(first)) return first
    hasListened = true
    const listensSince = performance.now()
    timeouts.set(worker, first)
    running.add(worker)
    onListening(worker)
    watch(worker)
    void ended.then((end) => {
      const isHealthy = performance.now() - listensSince >= HEALTHY_MS
      return replaceEnded(worker, end, isHealthy ? 0 : pauseAfter(pausedMs))
    })
    return first
  }

  function toStartFailure(error: unknown): WorkerEnd {
    const reason = `could not be started: ${reasonOf(error)}`
    if (!hasListened && !PASSING.includes((error as NodeJS.ErrnoException).code))
      throw new MachineError(`the first worker ${reason}`)
    return { exitCode: null, signal: null, reason }
  }

  /** Kills a worker whose event loop hangs, unless the operator has turned that off. */
  function watch(worker: Worker, minTimeoutMs = 0): Disposable | null {
    const { hungTimeoutMs } = timeouts.get(worker) ?? timeoutsOf(config)
    if (hungTimeoutMs === 0) return null
    const timeoutMs = Math.max(hungTimeoutMs, minTimeoutMs)
    return watchHeartbeat(worker, timeoutMs, () => endings.kill(worker, timeoutMs))
  }

  /** Starts a successor of a worker that listened and has ended, unless its end was intended. */
  async function replaceEnded(worker: Worker, end: WorkerEnd, pauseMs: number): Promise<void> {
    running.delete(worker)
    if (ending.aborted || replaced.has(worker)) return
    if (isSocketInherited && running.size === 0) {
      log.fatal(
        end,
        'all workers ended, and the inherited socket is lost with them: only the service manager can open it again',
      )
      onLost()
      return
    }
    const { pid } = worker.process
    if (withSuccessor.has(worker)) {
      log.error({ pid, ...end }, 'a worker ended: another one is starting in its place')
      return
    }
    log.error({ pid, ...end, pauseMs }, 'a worker ended: starting another')
    await startUntilOneListens(pauseMs)
  }

  async function startUntilOneListens(
    firstPauseMs: number,
    isFinal: (end: WorkerEnd) => boolean = () => false,
  ): Promise<WorkerReady | WorkerEnd | null> {
    for (let pauseMs = firstPauseMs; !ending.aborted; ) {
      await delay(pauseMs, undefined, { signal: ending }).catch(() => {})
      if (ending.aborted) break
      const outcome = await start(pauseMs)
      if (isReady(outcome) || isFinal(outcome)) return outcome
      if (ending.aborted) break
      pauseMs = pauseAfter(pauseMs)
      log.error({ ...outcome, pauseMs }, 'a worker ended before it was ready: starting another')
    }
    return null
  }

  /** Logs the warnings of the current configuration that were not logged before. */
  function logNewWarnings(found: readonly string[]): void {
    for (const warning of found) if (!loggedWarnings.includes(warning)) log.warn(warning)
    loggedWarnings = found
  }

  return {
    add: (isFinal) => startUntilOneListens(0, isFinal),
    async replaceAll() {
      log.info('replacing all workers, one by one')
      await Promise.allSettled(starting)
      const all = [...running]
      let count = 0
      for (const old of all) {
        if (ending.aborted) return
        // `replaceEnded` starts a successor for it anyway.
        if (old.isDead()) continue
        withSuccessor.add(old)
        const outcome = await start()
        if (ending.aborted) return
        if (!isReady(outcome)) {
          withSuccessor.delete(old)
          const kept = all.filter((worker) => !worker.isDead()).length
          log.error({ ...outcome, replaced: count, kept }, 'a new worker did not start: the others continue unchanged')
          // The old worker ended in the meantime, and `replaceEnded` left the successor to this function.
          if (!running.has(old)) await startUntilOneListens(FIRST_PAUSE_MS)
          return
        }
        count += 1
        logNewWarnings(outcome.warnings)
        if (old.isDead()) continue
        replaced.add(old)
        await endings.end(old, retire)
      }
      log.info('all workers were replaced')
    },
    async endAll() {
      // Repeated, because workers may still be starting.
      for (let left = livingWorkers(); left.length > 0; left = livingWorkers())
        await Promise.all(left.map((worker) => endings.end(worker)))
    },
  }
}

/** The backoff after a start that failed, or whose worker soon ended. */
function pauseAfter(pauseMs: number): number {
  return Math.min(Math.max(FIRST_PAUSE_MS, pauseMs * 2), LONGEST_PAUSE_MS)
}

function livingWorkers(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).flatMap((worker) => (worker && !worker.isDead() ? [worker] : []))
}
