// The store as commands open it: the options about databases handed to the adapter.
import { StoreNotWritableError } from '../store/contract.ts'
import { type MigratableStore, MOVED_MESSAGE } from '../store/cutover/contract.ts'
import { openStore, type StoreOptions } from '../store/open-store.ts'
import type { EditableStore } from '../store/workspace-edits.ts'
import type { CommandIo } from './io.ts'
import { openActiveStore, requireWhole } from './open-active-store.ts'
import type { StoreConfig } from './options/database-options.ts'

export interface CommandStoreConfig extends StoreConfig {
  readonly database: string
}

/** A disk that fails ends the command: what it was writing is reported as failed. */
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
 * For a command that changes what is stored: the database is in use from here on, so that no move overwrites the change. Throws
 * `StoreOpenError` for a database that is being filled, or that has moved.
 */
export function openStoreToWrite(config: CommandStoreConfig): Promise<EditableStore> {
  return openActiveStore(config, { ...toStoreOptions(config), mustExist: true })
}

/** For a command that only shows what is stored. When the database has moved, a warning says so. */
export async function openStoreToRead(
  config: CommandStoreConfig,
  { stderr }: Pick<CommandIo, 'stderr'>,
): Promise<MigratableStore> {
  await using opened = new AsyncDisposableStack()
  const store = opened.use(await openWholeStore(config))
  if ((await store.moveState()).phase === 'moved') stderr.write(`warning: ${MOVED_MESSAGE}\n`)
  // The caller closes it.
  opened.move()
  return store
}

/**
 * To read from. A database that may not be written to, as on the disk of a snapshot, is read all the same: where it
 * lies, or from a copy of it. Throws `StoreOpenError` for one that is being filled, which holds a part only.
 */
export async function openWholeStore(config: CommandStoreConfig): Promise<MigratableStore> {
  await using opened = new AsyncDisposableStack()
  const store = opened.use(await openWritableOrNot(config))
  requireWhole(await store.moveState())
  // The caller closes it.
  opened.move()
  return store
}

async function openWritableOrNot(config: CommandStoreConfig): Promise<MigratableStore> {
  try {
    return await openStoreForCli(config, true)
  } catch (error) {
    if (!(error instanceof StoreNotWritableError)) throw error
    return openStore(config.database, { ...toStoreOptions(config), isReadOnly: true })
  }
}

/** What of a command's configuration concerns the store, as a value that can be sent to a thread. */
export function storeConfig(config: StoreConfig): StoreConfig {
  const { lockTimeout, checkpoints, connectTimeout, statementTimeout, poolSize, databasePooling } = config
  return { lockTimeout, checkpoints, connectTimeout, statementTimeout, poolSize, databasePooling }
}
