// An SQLite database as one file: a copy of it while it is in use, and a copy made fit to take its place: other state versions, and no sessions unless they are kept.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import SqliteDatabase, { type Database } from 'better-sqlite3'
import { reasonOf } from '../../errors.ts'
import { StoreOpenError, StoreUnavailableError } from '../contract.ts'
import { isBusy, toStoreError } from './engine/faults/sqlite-errors.ts'
import { firstFinding } from './engine/faults/startup-check.ts'
import { watchCopiedFiles } from './engine/faults/watch-database-files.ts'
import { tablesByEmail } from './engine/tables-by-email.ts'

/** A checkpoint or a recovery of another process may hold the file for a moment. */
const TIMEOUT_MS = 10_000

/** Of a copy that are written before they are put on the disk: one of many at once would hold up what others commit there. */
const STEP_BYTES = 393_216
/** Of the time that a step took, before the next one while others commit: they need the disk as well. */
const PAUSE = 0.6

/** Of the file's header: what a reader must know, 2 where that is the write-ahead log (https://www.sqlite.org/fileformat.html). */
const READ_VERSION_AT = 19
const LOG_MODE_VERSION = 2

/** The newest state, whether others write to it, or nobody can. `to` is an empty file. Throws `StoreOpenError`, or what the file system or SQLite throws. */
export async function copyNewest(path: string, to: string): Promise<void> {
  await (isWritable(path) ? copyDatabase(path, to) : copyUnused(path, to))
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
 * The newest state. In one read transaction: writers go on, and their log grows until it ends. Holds up its thread. `to` is an
 * empty file.
 */
export async function copyDatabase(path: string, to: string): Promise<void> {
  const database = new SqliteDatabase(path, { fileMustExist: true, timeout: TIMEOUT_MS })
  let file: number | null = null
  try {
    const written = openSync(to, 'r+')
    file = written
    const pages = Math.ceil(STEP_BYTES / Number(database.pragma('page_size', { simple: true })))
    // Reads one state from the first page to the last. Outside a transaction each commit of others would begin the copy anew.
    database.exec('begin; select 1 from sqlite_schema')
    let begunAt = performance.now()
    // Where `path` is a link, the log is beside what it leads to.
    const from = realpathSync(path)
    let writtenAt = lastWriteTo(from)
    await database.backup(to, {
      progress() {
        fdatasyncSync(written)
        const tookMs = performance.now() - begunAt
        const newestAt = lastWriteTo(from)
        if (newestAt !== writtenAt) pause(tookMs * PAUSE)
        writtenAt = newestAt
        begunAt = performance.now()
        return pages
      },
    })
  } finally {
    if (file !== null) closeSync(file)
    database.close()
  }
  leaveLogMode(to)
}

/**
 * A database that nobody writes to, with what is in its log, as one whole file `to`. Nothing is written beside `path`, whose folder may
 * be read-only: SQLite would make files there, and empty the log. Throws `StoreOpenError`, or what the file system throws.
 */
export async function copyUnused(path: string, to: string): Promise<void> {
  // Where `path` is a link, the log is beside what it leads to.
  const from = realpathSync(path)
  requireOwnLog(from)
  const files = watchCopiedFiles(from)
  // A journal is of a transaction that was broken off, which is taken back.
  for (const end of ['', '-wal', '-journal'].filter((name) => existsSync(from + name))) {
    await copyFile(from + end, to + end, constants.COPYFILE_FICLONE)
    await chmod(to + end, 0o600)
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

/** A file that is in no log mode, as a backup is, has none: SQLite would apply that of another database to it. */
function requireOwnLog(path: string): void {
  const log = `${path}-wal`
  if (isInLogMode(path) || !statSync(log, { throwIfNoEntry: false })?.size) return
  throw new StoreOpenError(`${log} is no log of ${path}: move it away, then restore`)
}

function isInLogMode(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const version = Buffer.alloc(1)
    readSync(file, version, 0, 1, READ_VERSION_AT)
    return version[0] === LOG_MODE_VERSION
  } finally {
    closeSync(file)
  }
}

/** Nanoseconds since the epoch; null where nothing is in the log. */
function lastWriteTo(path: string): bigint | null {
  return statSync(`${path}-wal`, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? null
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

/** One file again, which can be read without a log beside it. */
export function leaveLogMode(path: string): void {
  const database = new SqliteDatabase(path, { fileMustExist: true })
  try {
    database.pragma('journal_mode = DELETE')
  } finally {
    database.close()
  }
}

/** Throws `StoreOpenError` for a file that is not whole. Synchronous. */
export function verifyDatabase(path: string): void {
  let database: Database | null = null
  try {
    database = new SqliteDatabase(path, { fileMustExist: true, readonly: true })
    const found = database.pragma('integrity_check(1)', { simple: true })
    if (found !== 'ok') throw new StoreOpenError(`the file is damaged: ${firstFinding(String(found))}`)
  } catch (error) {
    if (error instanceof StoreOpenError) throw error
    throw notReadable(error)
  } finally {
    database?.close()
  }
}

function notReadable(error: unknown): StoreOpenError {
  return new StoreOpenError(`not a database that can be read: ${reasonOf(error)}`)
}

/**
 * Makes a copy, which has the current schema and which nobody else uses, fit to be served: every state has another name, so
 * that nothing is taken for unchanged that was remembered of a later one; what was being imported or moved is forgotten;
 * and sessions are ended, or those that ended since the copy was made would be alive again.
 */
export function prepareRestored(path: string, { keepSessions }: { readonly keepSessions: boolean }): void {
  const database = new SqliteDatabase(path, { fileMustExist: true })
  try {
    database.pragma('synchronous = FULL')
    database.pragma('secure_delete = ON')
    // What was asked for to sign in, too: a code that was used since would be good again.
    const ended = tablesByEmail(database).filter((table) => table !== 'session' || !keepSessions)
    database.exec(`begin immediate;
      update user set revision = revision + 1, stamp = hex(randomblob(8));
      ${ended.map((table) => `delete from ${table};`).join('\n')}
      delete from staged_export;
      delete from staged_document;
      delete from staged_user;
      delete from replacement;
      commit`)
    // One file again, without a log beside it.
    database.pragma('journal_mode = DELETE')
  } finally {
    database.close()
  }
}

/**
 * Runs while no other connection has the database open, and none can begin to write to it. Null, and nothing was run, when
 * somebody has it open. What is in its log is in the file then. Throws what SQLite throws for a file it cannot read.
 */
export function whileUnused<T>(path: string, run: () => T): { readonly answer: T } | null {
  const database = new SqliteDatabase(path, { fileMustExist: true, timeout: 0 })
  try {
    // In WAL mode every connection holds a shared lock for as long as it is open: this needs all of them gone.
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
