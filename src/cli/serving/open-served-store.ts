// Opens the store that `serve` answers from, and logs what happens to its databases.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Logger } from 'pino'
import { UsageError } from '../../errors.ts'
import { StoreMissingError, StoreUnavailableError } from '../../store/contract.ts'
import { databasePath, type StoreOptions } from '../../store/open-store.ts'
import type { EditableStore } from '../../store/workspace-edits.ts'
import { openActiveStore } from '../open-active-store.ts'
import { toStoreOptions } from '../open-store-for-cli.ts'
import type { ServeConfig } from '../options/serve-options.ts'

export interface ServedStoreOptions {
  readonly traces: StoreOptions['traces']
  /** Whether another worker has already checked the database, and created it if there was none. */
  readonly isLaterWorker: boolean
  readonly stop: AbortSignal
  /** Called when only a restart can tell what is stored. */
  readonly onFatal: () => void
}

/** Resolves to null when the start was stopped while it waited for the database. */
export async function openServedStore(
  config: ServeConfig,
  log: Logger,
  options: ServedStoreOptions,
): Promise<EditableStore | null> {
  const path = databasePath(config.database)
  const isNew = path !== null && !options.isLaterWorker && !existsSync(path)
  try {
    const store = await open(config, log, options)
    if (isNew) log.info(`there was no database at ${resolve(path)}: made an empty one`)
    return store
  } catch (error) {
    if (options.stop.aborted && error instanceof StoreUnavailableError) return null
    if (!(error instanceof StoreMissingError)) throw error
    const mount = path === null ? '' : ', or mount the volume that holds it'
    throw new UsageError(`${error.message}; name the right one with --database${mount}`)
  }
}

function open(
  config: ServeConfig,
  log: Logger,
  { traces, isLaterWorker, stop, onFatal }: ServedStoreOptions,
): Promise<EditableStore> {
  const { database, databaseNext, check, mustExist, readOnly } = config
  return openActiveStore(
    {
      database,
      databaseNext,
      replica: replicaOptions(config, log),
      stop,
      onSwitch: () => log.info('the database has moved: continuing with --database-next'),
      onNextUnusable: (error) =>
        log.warn({ err: error }, '--database-next cannot be used: the database cannot move there until this is fixed'),
    },
    {
      ...toStoreOptions(config),
      traces,
      isReadOnly: readOnly === true,
      check: isLaterWorker ? 'off' : check,
      mustExist: isLaterWorker || mustExist === true,
      onFatal(error) {
        log.fatal({ err: error }, 'the database failed: stopping, because only a restart can tell what is stored')
        onFatal()
      },
    },
  )
}

function replicaOptions({ databaseReplica, replicaTimeout }: ServeConfig, log: Logger): StoreOptions['replica'] {
  if (databaseReplica === undefined) return undefined
  return {
    url: databaseReplica,
    timeoutMs: replicaTimeout,
    onChange(isHealthy, reason) {
      if (isHealthy) log.info('reads go to the replica')
      else log.warn({ err: reason }, 'the replica does not answer: reads go to the primary until it does')
    },
  }
}
