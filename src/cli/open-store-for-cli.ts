// Opens the store for commands, with the database options of the command line.
import { UsageError } from '../errors.ts'
import { StoreMissingError, StoreNotWritableError, StoreOpenError } from '../store/contract.ts'
import { type MigratableStore, MOVED_MESSAGE } from '../store/cutover/contract.ts'
import { openStore, type StoreOptions } from '../store/open-store.ts'
import type { EditableStore } from '../store/workspace-edits.ts'
import type { CommandIo } from './io.ts'
import { openActiveStore, requireWhole } from './open-active-store.ts'
import type { StoreConfig } from './options/database-options.ts'

export interface CommandStoreConfig extends StoreConfig {
  readonly database: string
}

/** A failing disk ends the command, because the write that was in progress rejects. So `onFatal` has nothing to do. */
export function openStoreForCli(config: CommandStoreConfig, mustExist = false): Promise<MigratableStore> {
  return openStore(config.database, { ...toStoreOptions(config), mustExist })
}

export function toStoreOptions(config: StoreConfig): StoreOptions {
  return {
    lockTimeoutMs: config.lockTimeout,
    checkpoints: config.checkpoints,
    connectTimeoutMs: config.connectTimeout,
    statementTimeoutMs: config.statementTimeout,
    poolSize: config.poolSize,
    pooling: config.databasePooling,
    onFatal: () => {},
  }
}

/**
 * Opens an existing database for a command that changes it, and marks it as in use, so that no move overwrites the
 * change. Throws `StoreOpenError` for a database that is being filled, or that has moved.
 */
export function openStoreToWrite(config: CommandStoreConfig): Promise<EditableStore> {
  return orAdvice(openActiveStore(config, { ...toStoreOptions(config), mustExist: true }))
}

/** Opens the database for a command that only reads. Warns on stderr when the database has moved. */
export function openStoreToRead(
  config: CommandStoreConfig,
  { stderr }: Pick<CommandIo, 'stderr'>,
): Promise<MigratableStore> {
  return openWholeStore(config, () => stderr.write(`warning: ${MOVED_MESSAGE}\n`))
}

/**
 * Opens a database for what only the one in charge may answer: who may sign in, and backups, since new writes go there
 * and every later backup of the old one would be the same. Throws `StoreOpenError` for one that has moved.
 */
export function openStoreInCharge(config: CommandStoreConfig): Promise<MigratableStore> {
  return openWholeStore(config, () => {
    throw new StoreOpenError(MOVED_MESSAGE)
  })
}

/**
 * Opens a complete database for reading. A database that cannot be written, for example on a read-only snapshot disk,
 * is read in place or from a copy. Throws `StoreOpenError` for one that is being filled, because it is incomplete.
 */
export async function openWholeStore(
  config: CommandStoreConfig,
  onMoved: () => void = () => {},
): Promise<MigratableStore> {
  await using opened = new AsyncDisposableStack()
  const store = opened.use(await openWritableOrNot(config))
  const state = await store.moveState()
  requireWhole(state)
  if (state.phase === 'moved') onMoved()
  // The caller closes it.
  opened.move()
  return store
}

async function openWritableOrNot(config: CommandStoreConfig): Promise<MigratableStore> {
  try {
    return await orAdvice(openStoreForCli(config, true))
  } catch (error) {
    if (!(error instanceof StoreNotWritableError)) throw error
    return openStore(config.database, { ...toStoreOptions(config), isReadOnly: true })
  }
}

/** Says what helps when a database is missing: most often the command looks at another one than the gateway does. */
async function orAdvice<T>(opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (error) {
    if (!(error instanceof StoreMissingError)) throw error
    throw new UsageError(`${error.message}; name the database of the gateway with --database`)
  }
}

/** The store options of a command's configuration, as a plain object that can be sent to a worker thread. */
export function storeConfig(config: StoreConfig): StoreConfig {
  const { lockTimeout, checkpoints, connectTimeout, statementTimeout, poolSize, databasePooling } = config
  return { lockTimeout, checkpoints, connectTimeout, statementTimeout, poolSize, databasePooling }
}
