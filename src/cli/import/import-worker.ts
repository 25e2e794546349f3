// The worker thread of an import over HTTP. The gateway's main thread stays responsive, however large the import is. A
// message to this thread says how many of its events the main thread has consumed, or to stop.
import type { FileHandle } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { reasonOf } from '../../errors.ts'
import { InputChangedError } from '../../import-export/format/lines.ts'
import { type ImportOptions, runImport } from '../../import-export/run-import.ts'
import { redact } from '../../redact.ts'
import { StoreRefusedError, StoreUnavailableError } from '../../store/contract.ts'
import { openActiveStore, type ServedDatabase } from '../open-active-store.ts'
import { toStoreOptions } from '../open-store-for-cli.ts'
import type { StoreConfig } from '../options/database-options.ts'
import { IMPORT_OPTIONS, type ImportConfig } from '../options/import-options.ts'
import { parseOptions } from '../options/option.ts'
import { createEventSender, type ThreadEvent } from './event-window.ts'

export interface ImportWork {
  readonly file: FileHandle
  readonly database: Pick<ServedDatabase, 'database' | 'databaseNext' | 'file'>
  readonly config: StoreConfig
  readonly options: ImportOptions
}

const { file, database, config, options } = workerData as ImportWork
if (!parentPort) throw new Error('not a thread')
const { emit, stop } = createEventSender(parentPort)

try {
  const defaults: ImportConfig = parseOptions(IMPORT_OPTIONS, {})
  await using store = await openActiveStore(database, { ...toStoreOptions(config), mustExist: true })
  await runImport(file, options, { ...defaults, ...options.fields }, { store, emit, stop })
} catch (error) {
  if (!stop.aborted) await emit(toFailed(error))
} finally {
  await file.close()
}

/** What the client is told. Throws every other error: the main thread logs it. */
function toFailed(error: unknown): ThreadEvent {
  const type = 'failed'
  if (error instanceof StoreUnavailableError) {
    const message = 'the database cannot be used right now: run the import again'
    return { type, message, cause: redact(reasonOf(error)) }
  }
  if (error instanceof StoreRefusedError) return { type, message: error.message }
  if (error instanceof InputChangedError) return { type, message: 'the input changed while it was being imported' }
  throw new Error(redact(reasonOf(error)), { cause: error })
}
