// The SQLite adapter, put together: one connection that reads, one that writes, both in WAL mode on one file.
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { StoreOpenError, StoreUnavailableError } from '../contract.ts'
import type { MigratableStore } from '../cutover/contract.ts'
import { createAuditLog } from './audit.ts'
import { type Checkpoints, isBusy, openReader, openWriter } from './connection.ts'
import { createActiveCheck, createMoves, whileOpen } from './cutover.ts'
import { createEraseTraces } from './engine/erase-traces.ts'
import { createGroupCommit } from './engine/group-commit.ts'
import { createReadTransaction } from './engine/read-transaction.ts'
import { createChanges } from './import.ts'
import { migrate } from './migrations.ts'
import { createReads } from './reads.ts'
import { createRemovals } from './removals.ts'
import { createReplacements } from './replacements.ts'
import { createCopies } from './row-copies.ts'
import { createSessions } from './sessions.ts'
import { createClients } from './sign-in/clients.ts'
import { createCodes } from './sign-in/codes.ts'
import { createOutbox } from './sign-in/outbox.ts'
import { createSigningKeys } from './signing-keys.ts'
import { createSpace } from './space.ts'

const LOCK_RETRY_MS = 5

export interface SqliteStoreOptions {
  /** How long a write waits for other processes before it is refused as unavailable. */
  readonly lockTimeoutMs: number
  /** Refuse to make the file when it is missing. */
  readonly mustExist?: boolean
  /** `external`: this process never makes a checkpoint. */
  readonly checkpoints?: Checkpoints
  /** Called when the disk failed: what is durable is known again only after a fresh start. */
  readonly onFatal: (error: unknown) => void
}

/** Opens the file, makes it when it is missing, and brings it to the current schema. */
export async function openSqliteStore(path: string, options: SqliteStoreOptions): Promise<MigratableStore> {
  if (options.mustExist && !existsSync(path)) throw new StoreOpenError(`there is no database ${path}`)
  const writer = await whileLocked(options.lockTimeoutMs, () => openDatabase(path, options.checkpoints))
  const reader = await prepare(writer, path, options)
  const turn = createReadTransaction(reader, createActiveCheck(reader))
  const commits = createGroupCommit(writer, { ...options, onCommitted: turn.refresh })
  const openCommits = whileOpen(writer, commits)
  const ping = reader.prepare('select 1 from user limit 1')

  return {
    ...createReads(reader, turn.read),
    ...createSessions(reader, turn, writer, openCommits),
    ...createSigningKeys(reader, turn, writer, openCommits, createEraseTraces(writer, path, options.lockTimeoutMs)),
    ...createAuditLog(reader, turn, writer, openCommits),
    ...createCodes(reader, turn, writer, openCommits),
    ...createOutbox(writer, openCommits),
    ...createClients(reader, turn, writer, openCommits),
    ...createChanges(reader, turn, writer, openCommits),
    ...createRemovals(reader, turn, writer, openCommits),
    ...createReplacements(writer, openCommits),
    ...createSpace(writer, openCommits, options.checkpoints),
    ...createMoves(reader, turn, writer, commits),
    ...createCopies(writer, commits),
    openSnapshot: () => whileLocked(options.lockTimeoutMs, () => openSnapshot(path)),
    ping: () => {
      turn.decide(() => ping.get())
    },
    async [Symbol.asyncDispose]() {
      await commits.settled()
      turn.refresh()
      reader.close()
      writer.close()
    },
  }
}

/** Answers a connection that reads. */
async function prepare(writer: Database, path: string, { lockTimeoutMs }: SqliteStoreOptions): Promise<Database> {
  try {
    await whileLocked(lockTimeoutMs, () => {
      writer.pragma('journal_mode = WAL')
      migrate(writer)
    })
    return await whileLocked(lockTimeoutMs, () => openReader(path))
  } catch (error) {
    writer.close()
    throw error
  }
}

function openDatabase(path: string, checkpoints?: Checkpoints): Database {
  try {
    return openWriter(path, checkpoints)
  } catch (error) {
    if (isBusy(error)) throw error
    throw new StoreOpenError(`cannot open ${path}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

function openSnapshot(path: string) {
  const database: Database = openReader(path)
  try {
    database.exec('begin')
    // A deferred transaction takes its snapshot with its first read.
    database.prepare('select 1 from user limit 1').get()
  } catch (error) {
    database.close()
    throw error
  }
  return {
    ...createReads(database, (run) => run()),
    async [Symbol.asyncDispose]() {
      database.close()
    },
  }
}

/** Several processes may start on one file at once: each waits for its turn. */
async function whileLocked<T>(timeoutMs: number, run: () => T): Promise<T> {
  const start = performance.now()
  for (;;) {
    try {
      return run()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() - start > timeoutMs) {
        throw new StoreUnavailableError('another process holds the database locked', { cause: error })
      }
      await delay(LOCK_RETRY_MS)
    }
  }
}
