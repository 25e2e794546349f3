// Runs POST /import: stores the body in a temporary file and imports it in a worker thread, one import at a time.
import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import { GatewayError, MachineError, UsageError } from '../../errors.ts'
import { type ImportEvent, isOutcome } from '../../import-export/run-import.ts'
import type { Importer, RunningImport } from '../../rest/import-endpoint.ts'
import type { Awaitable } from '../../store/awaitable.ts'
import { StoreFullError, StoreUnavailableError } from '../../store/contract.ts'
import { leaveRemovedDirectory } from '../backup/leave-removed-directory.ts'
import { createEventReceiver, type EventReceiver, type Outage, type ThreadEvent } from './event-window.ts'
import { spool } from './import-source.ts'
import type { ImportWork } from './import-worker.ts'
import { requirePlain } from './readable-file.ts'

/** Maximum interval between events, so that no proxy takes the connection for dead. */
const HEARTBEAT_MS = 5_000
/** Retry-After for a client whose input could not be stored. */
const RETRY_AFTER_S = 60

/** What a client is told where the cause is for the log only. */
const FAILED: ImportEvent = { type: 'failed', message: 'something went wrong on our side: run the import again' }

type Target = Pick<ImportWork, 'database' | 'config'>

/** The import that is running. No other import may start beside it. */
interface Current {
  /** True once its thread was told to stop. The next import then waits for its end instead of being refused. */
  isEnding: boolean
  readonly ended: Promise<void>
  readonly onEnd: () => void
  worker: ImportThread | null
}

/**
 * Runs one import at a time. `ping` rejects when the gateway's own store finds its database gone. It is called before
 * an import is reported as done, because the thread may have written to another file.
 */
export function createImporter(
  target: Target,
  ping: () => Awaitable<void>,
  report: (error: unknown) => void,
): Importer {
  let isStopped = false
  let current: Current | null = null

  function take(): Current {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const taken: Current = { isEnding: false, ended, onEnd, worker: null }
    function onEnd(): void {
      if (current === taken) current = null
      resolve()
    }
    return taken
  }

  return {
    run(input, options) {
      if (current && !current.isEnding) return null
      const before = current
      const mine = take()
      current = mine
      return start().catch((error: unknown) => {
        mine.onEnd()
        throw error
      })

      async function start(): Promise<RunningImport> {
        await using stored = new AsyncDisposableStack()
        const { file } = stored.use(await spool(input(), 'the input').catch(refuseUnkept))
        await requirePlain(file, 'the body').catch(refuseEncoded)
        await before?.ended
        if (isStopped) throw new GatewayError('UNAVAILABLE')
        const work: ImportWork = { ...target, file, options }
        // Safe here: with a relative path the database would have gone with the directory.
        leaveRemovedDirectory()
        mine.worker = startThread(work)
        // The thread closes the file.
        stored.move()
        return runningOn(mine.worker, { ping, report, current: mine })
      }
    },
    async stop() {
      isStopped = true
      await current?.worker?.stop()
    },
  }
}

/** Answers 503 when the temporary folder is full or not writable: that may pass, and the log has the cause. */
function refuseUnkept(error: unknown): never {
  if (!(error instanceof MachineError || error instanceof UsageError)) throw error
  throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S, cause: error })
}

/** Answers 415 at once: otherwise the first hundred lines would be reported as not UTF-8. */
function refuseEncoded(error: unknown): never {
  if (!(error instanceof UsageError)) throw error
  throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body as UTF-8, not compressed.' })
}

interface ImportThread {
  readonly worker: Worker
  readonly exited: Promise<void>
  readonly onTaken: EventReceiver['onTaken']
  /**
   * Tells the thread to stop, and resolves when it has ended: after the block of lines it is importing. It is never
   * terminated: terminating a thread that loads or calls the SQLite driver aborts the whole process.
   */
  readonly stop: () => Promise<void>
}

function startThread(work: ImportWork): ImportThread {
  const worker = new Worker(new URL('./import-worker.ts', import.meta.url), {
    workerData: work,
    transferList: [work.file],
  })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const { onTaken, stop } = createEventReceiver(worker)
  return {
    worker,
    exited,
    onTaken,
    stop() {
      stop()
      return exited
    },
  }
}

interface Surroundings {
  readonly ping: () => Awaitable<void>
  readonly report: (error: unknown) => void
  readonly current: Current
}

function runningOn(thread: ImportThread, { ping, report, current }: Surroundings): RunningImport {
  const { worker, exited, onTaken, stop } = thread
  const messages = on(worker, 'message', { close: ['exit'] }) as AsyncIterable<[ImportEvent]>
  let last: ImportEvent = { type: 'progress', phase: 'checking', bytes: 0, records: 0 }
  let outcome: Awaitable<ImportEvent> | null = null
  const ended = exited.then(() => outcome ?? last)
  const heartbeat = setInterval(() => worker.emit('message', last), HEARTBEAT_MS)
  // The heartbeat stops when the outcome arrives, not when it is consumed: a heartbeat must not follow the outcome,
  // because clients look at the last line. A client that reads slowly or has left does not change the outcome.
  worker.on('message', (event: ThreadEvent) => {
    if (event.type === 'progress') last = event
    if (!isOutcome(event)) return
    clearInterval(heartbeat)
    outcome ??= 'cause' in event ? withoutCause(event) : confirm(event)
  })
  worker.on('error', (error) => {
    report(error)
    outcome ??= FAILED
  })

  function withoutCause({ cause, ...event }: Outage): ImportEvent {
    report(new StoreUnavailableError(cause))
    return event
  }

  async function confirm(event: ImportEvent): Promise<ImportEvent> {
    try {
      if (event.type === 'imported') await ping()
      return event
    } catch (error) {
      // The database is in place. Only the next writes find no room.
      if (error instanceof StoreFullError) return event
      report(error)
      return FAILED
    }
  }

  async function end(): Promise<void> {
    clearInterval(heartbeat)
    current.isEnding = true
    await stop()
    current.onEnd()
  }

  async function* events(): AsyncGenerator<ImportEvent> {
    let isTold = false
    try {
      for await (const [event] of messages) {
        isTold = isOutcome(event)
        yield isTold ? await (outcome ?? ended) : event
        onTaken(event)
      }
    } catch {
      // The thread failed: it is reported already.
      if (!isTold) yield await ended
    } finally {
      await end()
      // Whoever waits for the last event finds the outcome recorded.
      await ended
    }
  }

  return { ended, [Symbol.asyncIterator]: events, [Symbol.asyncDispose]: end }
}
