// Supervises several worker processes on one port: starts them one by one, replaces those that end, and rolls them on
// SIGHUP.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { MachineError, reasonOf } from '../../errors.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { untilListening } from '../serving/listen.ts'
import type { ServiceManager } from '../serving/systemd/service-manager.ts'
import type { WorkerTotals } from './add-up-workers.ts'
import { isAnnouncedEnd, LATER_WORKER_ENVIRONMENT } from './announced-end.ts'
import { watchHeartbeat } from './heartbeat.ts'
import { workerCount } from './worker-count.ts'
import { createWorkerEndings, next } from './worker-endings.ts'
import { isDatabaseFailure, isReady, retire, timeoutsOf, type WorkerReady } from './worker-messages.ts'

/** A worker that lived for less than this is replaced after a backoff that doubles, not at once. */
const HEALTHY_MS = 2_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** Minimum hang timeout during the start: a worker loads its code before its event loop turns. */
const MIN_START_TIMEOUT_MS = 30_000
const WRONG_USAGE = 2
/**
 * Error codes for a machine without room for another process, or a process without free file descriptors: they may
 * pass.
 */
const PASSING: readonly unknown[] = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']

/** How a worker ended. */
interface WorkerEnd {
  readonly exitCode: number | null
  /** The signal that killed it, or null. A killed worker could not send a reason. */
  readonly signal: string | null
  /**
   * The reason that the worker sent, or the error of a worker that could not start. The first worker writes its reason
   * to stderr.
   */
  readonly reason?: string
}

export interface Supervision {
  readonly stop: AbortSignal
  readonly onReload: (listener: () => void) => void
  readonly service: ServiceManager
  /** Warnings that were logged already. */
  readonly warnings: readonly string[]
}

/**
 * Supervises until `stop` is aborted or the database fails in a worker, and then ends all workers. The workers share
 * one listening socket and accept from it themselves, so a connection that one worker no longer accepts waits for
 * another. Throws `MachineError` when the first worker cannot be started for a reason that will not pass.
 */
export async function superviseWorkers(
  config: ServeConfig,
  { stdout }: CommandIo,
  log: Logger,
  { stop, onReload, service, warnings }: Supervision,
): Promise<ExitCode> {
  const lost = new AbortController()
  const ending = AbortSignal.any([stop, lost.signal])
  const running = new Set<Worker>()
  let hasListened = false
  /** Workers whose successor is starting or has started. */
  const succeeded = new WeakSet<Worker>()
  /** Workers that were told to end because their successor listens. */
  const replaced = new WeakSet<Worker>()
  const timeouts = new WeakMap<Worker, Pick<WorkerReady, 'endTimeoutMs' | 'hungTimeoutMs'>>()
  const endings = createWorkerEndings((worker) => (timeouts.get(worker) ?? timeoutsOf(config)).endTimeoutMs, log)
  /** Workers that are starting. They may have read an older configuration file. */
  const starting = new Set<Promise<unknown>>()
  let loggedWarnings = warnings
  let totals: WorkerTotals | undefined
  const port = config.port === 0 ? await freePort(config.host) : config.port
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary()
  // The last flag wins. So all workers, also later ones, share the free port that was found or the inherited socket,
  // and keep the admin port that the supervisor has open, even if the configuration file changes.
  const { adminPort, adminHost } = config
  const admin = adminPort === undefined ? [] : ['--admin-host', adminHost, '--admin-port', String(adminPort)]
  cluster.setupPrimary({
    args: [...(cluster.settings.args ?? []), '--host', config.host, '--port', String(port), ...admin],
  })

  /** Resolves when the worker listens, or has ended before that. */
  async function start(): Promise<WorkerReady | WorkerEnd> {
    const outcome = startOne()
    starting.add(outcome)
    try {
      return await outcome
    } finally {
      starting.delete(outcome)
    }
  }

  async function startOne(): Promise<WorkerReady | WorkerEnd> {
    const startedAt = performance.now()
    let worker: Worker
    try {
      worker = cluster.fork(hasListened ? LATER_WORKER_ENVIRONMENT : {})
    } catch (error) {
      return toStartFailure(error)
    }
    const failed = Promise.withResolvers<unknown>()
    worker.on('error', (error) => {
      // A message could not be sent because the worker was killed. Its exit event follows.
      if (worker.process.pid !== undefined) return
      // A worker that never started has no exit event, which would remove it from this list.
      delete cluster.workers?.[worker.id]
      failed.resolve(error)
    })
    const announced: { reason?: string } = {}
    const ended = next(worker, 'exit').then(async (): Promise<WorkerEnd> => {
      const { exitCode, signalCode } = worker.process
      // Its last message may still be in the channel.
      if (worker.isConnected()) await next(worker, 'disconnect')
      return { exitCode, signal: signalCode, ...announced }
    })
    const ready = Promise.withResolvers<WorkerReady>()
    worker.on('message', (message: unknown) => {
      if (isDatabaseFailure(message)) lost.abort()
      else if (isAnnouncedEnd(message)) announced.reason = message.endsFor
      else if (isReady(message)) ready.resolve(message)
    })
    // The first worker is not watched while it starts: it may check the whole database before it listens.
    const watched = hasListened ? watch(worker, MIN_START_TIMEOUT_MS) : null
    const first = await Promise.race([ready.promise, ended, failed.promise.then(toStartFailure)])
    watched?.[Symbol.dispose]()
    if (!isReady(first)) return first
    hasListened = true
    timeouts.set(worker, first)
    running.add(worker)
    totals?.add(worker)
    watch(worker)
    void ended.then(async (end) => {
      running.delete(worker)
      if (ending.aborted || replaced.has(worker)) return
      if (service.listenFd !== null && running.size === 0) {
        log.fatal(
          end,
          'all workers ended, and the inherited socket is lost with them: only the service manager can open it again',
        )
        lost.abort()
        return
      }
      if (succeeded.has(worker)) {
        log.error({ pid: worker.process.pid, ...end }, 'a worker ended: another one is starting in its place')
        return
      }
      const pauseMs = performance.now() - startedAt < HEALTHY_MS ? FIRST_PAUSE_MS : 0
      log.error({ pid: worker.process.pid, ...end, pauseMs }, 'a worker ended: starting another')
      await startUntilOneListens(pauseMs)
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

  /** Starts workers, with backoff, until one listens. Returns early with the end of one for which `isFinal` is true. */
  async function startUntilOneListens(
    firstPauseMs: number,
    isFinal: (end: WorkerEnd) => boolean = () => false,
  ): Promise<WorkerReady | WorkerEnd | null> {
    for (let pauseMs = firstPauseMs; !ending.aborted; ) {
      await delay(pauseMs, undefined, { signal: ending }).catch(() => {})
      if (ending.aborted) break
      const outcome = await start()
      if (isReady(outcome) || isFinal(outcome)) return outcome
      if (ending.aborted) break
      pauseMs = Math.min(Math.max(FIRST_PAUSE_MS, pauseMs * 2), LONGEST_PAUSE_MS)
      log.error({ ...outcome, pauseMs }, 'a worker ended before it was ready: starting another')
    }
    return null
  }

  /**
   * Rolls all workers: a new one listens before the old one stops. Gives up when a new one fails, as the next would
   * fail too.
   */
  async function replaceAll(): Promise<void> {
    log.info('replacing all workers, one by one')
    await Promise.allSettled(starting)
    const all = [...running]
    let count = 0
    for (const old of all) {
      if (ending.aborted) return
      // The exit handler starts a successor for it anyway.
      if (old.isDead()) continue
      succeeded.add(old)
      const outcome = await start()
      if (ending.aborted) return
      if (!isReady(outcome)) {
        succeeded.delete(old)
        const kept = all.filter((worker) => !worker.isDead()).length
        log.error({ ...outcome, replaced: count, kept }, 'a new worker did not start: the others continue unchanged')
        // The old worker ended in the meantime, and its exit handler left the successor to this function.
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
  }

  /** Logs the warnings of the current configuration that were not logged before. */
  function logNewWarnings(found: readonly string[]): void {
    for (const warning of found) if (!loggedWarnings.includes(warning)) log.warn(warning)
    loggedWarnings = found
  }

  let rolling = Promise.resolve()
  onReload(() => {
    rolling = rolling.then(replaceAll)
  })

  await using opened = new AsyncDisposableStack()
  if (adminPort !== undefined) {
    const { createWorkerTotals, openTotalsAdmin } = await import('./add-up-workers.ts')
    totals = createWorkerTotals()
    opened.use(await openTotalsAdmin({ ...config, adminPort }, totals, stop, log))
  }
  // A first worker that exits by itself has written the reason to stderr, and the command ends. One that was killed, or
  // could not be started, is started again like every other.
  const first = await startUntilOneListens(0, ({ exitCode }) => exitCode !== null)
  if (first === null) return lost.signal.aborted ? 1 : 0
  if (!isReady(first)) return first.exitCode === 0 || first.exitCode === WRONG_USAGE ? first.exitCode : 1
  for (let index = 1; index < workerCount(config) && !ending.aborted; index += 1) await startUntilOneListens(0)
  if (!ending.aborted) {
    stdout.write(first.announcement)
    service.notify('READY=1')
  }
  using _watchdog = service.startWatchdog()
  if (!ending.aborted) await once(ending, 'abort')
  service.notify('STOPPING=1')
  // Repeated, because workers may still be starting.
  for (let left = livingWorkers(); left.length > 0; left = livingWorkers())
    await Promise.all(left.map((worker) => endings.end(worker)))
  return lost.signal.aborted ? 1 : 0
}

function livingWorkers(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).flatMap((worker) => (worker && !worker.isDead() ? [worker] : []))
}

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await untilListening(server, host, 0)
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('no port is free')
  return address.port
}
