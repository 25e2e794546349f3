// Takes the body of POST /import to a temporary file, and has a thread import it; one at a time.
import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import { GatewayError, MachineError, UsageError } from '../../errors.ts'
import type { ReportFailure } from '../../http/problem-details.ts'
import { type ImportEvent, isOutcome } from '../../import-export/run-import.ts'
import type { Importer, RunningImport } from '../../rest/import-endpoint.ts'
import type { Awaitable } from '../../store/awaitable.ts'
import { leaveRemovedDirectory } from '../backup/leave-removed-directory.ts'
import { spool } from './import-source.ts'
import type { ImportWork } from './import-worker.ts'

/** Something is sent at least this often, so that no proxy takes the connection for dead. */
const HEARTBEAT_MS = 5_000
/** When a client whose input could not be stored may try again. */
const RETRY_AFTER_S = 60

type Target = Pick<ImportWork, 'database' | 'config'>

/** One import at a time. `ping` rejects when the gateway's own store finds its database gone: what the thread wrote may be elsewhere. */
export function createImporter(target: Target, ping: () => Awaitable<void>, report: ReportFailure): Importer {
  let isBusy = false
  let isStopped = false
  let worker: Worker | null = null
  return {
    run(input, options) {
      if (isBusy) return null
      isBusy = true
      return start().catch((error: unknown) => {
        isBusy = false
        throw error
      })

      async function start(): Promise<RunningImport> {
        const { file } = await spool(input(), 'the input').catch(refuseUnkept)
        if (isStopped) throw new GatewayError('UNAVAILABLE')
        const work: ImportWork = { ...target, file, options }
        // A database with a relative path would be gone with the directory.
        leaveRemovedDirectory()
        worker = new Worker(new URL('./import-worker.ts', import.meta.url), {
          workerData: work,
          transferList: [file],
        })
        const onEnd = () => {
          isBusy = false
          worker = null
        }
        return runningOn(worker, { ping, report, onEnd })
      }
    },
    async stop() {
      isStopped = true
      await worker?.terminate()
    },
  }
}

/** Where the folder for temporary files has no room, or cannot be written to: that may pass, and the log names it. */
function refuseUnkept(error: unknown): never {
  if (!(error instanceof MachineError || error instanceof UsageError)) throw error
  throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S, cause: error })
}

interface WorkerEvents {
  readonly ping: () => Awaitable<void>
  readonly report: ReportFailure
  /** Called once, when the thread has ended. */
  readonly onEnd: () => void
}

function runningOn(worker: Worker, { ping, report, onEnd }: WorkerEvents): RunningImport {
  let last: ImportEvent = { type: 'progress', phase: 'checking', bytes: 0, records: 0 }
  let ending: Promise<void> | null = null
  const heartbeat = setInterval(() => worker.emit('message', last), HEARTBEAT_MS)
  // At once, not when it is taken: a heartbeat would come behind it, and the last line is what clients look at.
  worker.on('message', (event: ImportEvent) => {
    if (isOutcome(event)) clearInterval(heartbeat)
  })
  // Without a listener, an error of the thread would end the process while nobody takes its events.
  worker.on('error', () => {})

  function end(): Promise<void> {
    ending ??= terminate()
    return ending
  }

  async function terminate(): Promise<void> {
    clearInterval(heartbeat)
    await worker.terminate()
    onEnd()
  }

  async function* events(): AsyncGenerator<ImportEvent> {
    try {
      for await (const [event] of on(worker, 'message', { close: ['exit'] }) as AsyncIterable<[ImportEvent]>) {
        if (event.type === 'progress') last = event
        if (event.type === 'imported') await ping()
        yield event
      }
    } catch (error) {
      report(error, 'import')
      yield { type: 'failed', message: 'something went wrong on our side: run the import again' }
    } finally {
      await end()
    }
  }

  return { [Symbol.asyncIterator]: events, [Symbol.asyncDispose]: end }
}
