// Copies an SQLite database into one file while it is in use, and prepares such a copy to replace the database: with
// new state versions, and without sessions unless they are kept.
import { accessSync, closeSync, constants, existsSync, fdatasyncSync, openSync, realpathSync, statSync } from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import SqliteDatabase, { type Database } from 'better-sqlite3'
import { reasonOf } from '../../errors.ts'
import { StoreOpenError, StoreUnavailableError } from '../contract.ts'
import type { Checkpoints } from './connection.ts'
import { hasForeignLog } from './engine/faults/foreign-log.ts'
import { isBusy, sqliteCode, toStoreError } from './engine/faults/sqlite-errors.ts'
import { firstFinding } from './engine/faults/startup-check.ts'
import { watchCopiedFiles } from './engine/faults/watch-database-files.ts'
import { tablesByEmail } from './engine/tables-by-email.ts'

/** Lock timeout: a checkpoint or a recovery of another process may lock the file for a moment. */
const TIMEOUT_MS = 10_000

/** The disk has no room for the index of the log, so nobody has the database open. */
const NO_ROOM_FOR_INDEX = 'SQLITE_IOERR_SHMSIZE'

/** Bytes of a copy written between two fsyncs. A large fsync would delay commits of other processes on that disk. */
const STEP_BYTES = 524_288
/** Pause after a step, as a fraction of the step's duration, while other processes commit: they need the disk too. */
const PAUSE = 0.6

export interface CopyOptions {
  /** Called after each step. What it throws ends the copy. */
  readonly afterStep?: () => void
  /** `own` (default): the copy ends with a checkpoint of the database. */
  readonly checkpoints?: Checkpoints
}

/**
 * Copies the newest state of the database at `path`, in use, read-only or on a full disk, to the empty file `to`. Throws
 * `StoreOpenError`, or an error of the file system or SQLite.
 */
export async function copyNewest(path: string, to: string, options: CopyOptions): Promise<void> {
  const { afterStep } = options
  if (!canBeOpened(path)) return await copyUnused(path, to, afterStep)
  try {
    await copyDatabase(path, to, options)
  } catch (error) {
    if (sqliteCode(error) !== NO_ROOM_FOR_INDEX) throw error
    await copyUnused(path, to, afterStep)
  }
}

/** Whether SQLite can open the file: it also needs the index of the log, or creates it in the folder. */
function canBeOpened(path: string): boolean {
  // If `path` is a symbolic link, the index is beside its target.
  const from = realpathSync(path)
  const index = `${from}-shm`
  return isWritable(from) && isWritable(existsSync(index) ? index : dirname(from))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Copies the newest state to the empty file `to` in one read transaction. Writers continue, and the write-ahead log
 * grows until it ends. Blocks its thread.
 */
export async function copyDatabase(
  path: string,
  to: string,
  { afterStep = () => {}, checkpoints = 'own' }: CopyOptions = {},
): Promise<void> {
  const database = new SqliteDatabase(path, { fileMustExist: true, timeout: TIMEOUT_MS })
  let file: number | null = null
  try {
    const written = openSync(to, 'r+')
    file = written
    const pages = Math.ceil(STEP_BYTES / Number(database.pragma('page_size', { simple: true })))
    // The transaction pins one state for all pages. Without it, every commit of another connection restarts the copy.
    database.exec('begin; select 1 from sqlite_schema')
    let begunAt = performance.now()
    // If `path` is a symbolic link, the log is beside its target.
    const from = realpathSync(path)
    let writtenAt = lastWriteTo(from)
    await database.backup(to, {
      progress() {
        afterStep()
        fdatasyncSync(written)
        const tookMs = performance.now() - begunAt
        const newestAt = lastWriteTo(from)
        if (newestAt !== writtenAt) pause(tookMs * PAUSE)
        writtenAt = newestAt
        begunAt = performance.now()
        return pages
      },
    })
    database.exec('commit')
    if (checkpoints === 'own') emptyLog(database)
  } finally {
    if (file !== null) closeSync(file)
    database.close()
  }
  leaveLogMode(to)
}

/**
 * Copies a database that nobody writes to, with the contents of its log, into the single file `to`. It copies the files
 * instead of opening the database: SQLite would create files beside `path`, whose folder may be read-only, and empty
 * the log. Throws `StoreOpenError`, or an error of the file system. What `afterStep` throws ends the copy.
 */
export async function copyUnused(path: string, to: string, afterStep: () => void = () => {}): Promise<void> {
  // If `path` is a symbolic link, the log is beside its target.
  const from = realpathSync(path)
  if (hasForeignLog(from)) {
    throw new StoreOpenError(`${from}-wal is not a write-ahead log of ${from}: move it away, then restore`)
  }
  const files = watchCopiedFiles(from)
  // A rollback journal belongs to an interrupted transaction; SQLite rolls that back when it opens the copy.
  for (const end of ['', '-wal', '-journal'].filter((name) => existsSync(from + name))) {
    await copyFile(from + end, to + end, constants.COPYFILE_FICLONE)
    await chmod(to + end, 0o600)
    afterStep()
  }
  try {
    files.assertInPlace()
  } catch (error) {
    throw new StoreOpenError(`${path} was written to while it was read: make a backup of it, and restore that`, {
      cause: error,
    })
  }
  try {
    leaveLogMode(to)
  } catch (error) {
    const known = toStoreError(error)
    throw known instanceof StoreUnavailableError ? known : notReadable(error)
  }
  verifyDatabase(to)
}

/**
 * Moves into the database what others committed during the copy. Otherwise the gateway's next commit does that, and all
 * its requests wait. A failure is ignored: the copy is complete, and the gateway meets it at its own checkpoint.
 */
function emptyLog(database: Database): void {
  try {
    database.pragma('wal_checkpoint(PASSIVE)')
  } catch {}
}

/** Time of the last write to the log, in nanoseconds since the epoch; null if there is no log. */
function lastWriteTo(path: string): bigint | null {
  return statSync(`${path}-wal`, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? null
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

/** Leaves WAL mode, so that the database is one file that can be read without a log beside it. */
export function leaveLogMode(path: string): void {
  const database = new SqliteDatabase(path, { fileMustExist: true })
  try {
    database.pragma('journal_mode = DELETE')
  } finally {
    database.close()
  }
}

/** Throws `StoreOpenError` if the file is damaged. Synchronous. */
export function verifyDatabase(path: string): void {
  let database: Database | null = null
  try {
    database = new SqliteDatabase(path, { fileMustExist: true, readonly: true })
    const found = database.pragma('integrity_check(1)', { simple: true })
    if (found !== 'ok') throw new StoreOpenError(`the file is damaged: ${firstFinding(String(found))}`)
    // SQLite reads the missing end of the last page as zeros.
    const pages = Number(database.pragma('page_count', { simple: true }))
    const byteLength = pages * Number(database.pragma('page_size', { simple: true }))
    if (statSync(path).size < byteLength) throw new StoreOpenError('the file is damaged: its end is missing')
  } catch (error) {
    if (error instanceof StoreOpenError) throw error
    throw notReadable(error)
  } finally {
    database?.close()
  }
}

function notReadable(error: unknown): StoreOpenError {
  return new StoreOpenError(`the file cannot be read as a database: ${reasonOf(error)}`)
}

/**
 * Prepares a copy for serving; the copy has the current schema and no other user. Every user gets a new state version,
 * so that nothing cached from a later state is taken for unchanged. Staged imports are removed. Sessions end unless
 * they are kept: otherwise sessions that ended after the copy was made would be open again.
 */
export function prepareRestored(path: string, { keepSessions }: { readonly keepSessions: boolean }): void {
  const database = new SqliteDatabase(path, { fileMustExist: true })
  try {
    database.pragma('secure_delete = ON')
    // Pending sign-ins go as well: otherwise a code that was used after the copy was made would be valid again.
    const ended = tablesByEmail(database).filter((table) => table !== 'session' || !keepSessions)
    database.exec(`begin immediate;
      update user set revision = revision + 1, stamp = hex(randomblob(8));
      ${ended.map((table) => `delete from ${table};`).join('\n')}
      delete from staged_export;
      delete from staged_document;
      delete from staged_user;
      delete from replacement;
      commit`)
    // Leave WAL mode: the result is one file without a log beside it.
    database.pragma('journal_mode = DELETE')
  } finally {
    database.close()
  }
}

/**
 * Runs `run` while no other connection has the database open and none can begin to write. The log has been merged into
 * the file by then. Returns null, without running it, if another connection has the database open. Throws an error of
 * SQLite for a file that it cannot read.
 */
export function whileUnused<T>(path: string, run: () => T): { readonly answer: T } | null {
  const database = new SqliteDatabase(path, { fileMustExist: true, timeout: 0 })
  try {
    // In WAL mode every open connection holds a shared lock. Leaving the mode requires that all of them are closed.
    database.pragma('journal_mode = DELETE')
    database.exec('begin exclusive')
    return { answer: run() }
  } catch (error) {
    if (isBusy(error)) return null
    throw error
  } finally {
    database.close()
  }
}
