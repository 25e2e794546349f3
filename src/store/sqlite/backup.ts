// An SQLite database as one file: a copy of it while it is in use, and a copy made fit to take its place: other state versions, and no sessions unless they are kept.
import { closeSync, fdatasyncSync, openSync, statSync } from 'node:fs'
import SqliteDatabase, { type Database } from 'better-sqlite3'
import { reasonOf } from '../../errors.ts'
import { StoreOpenError } from '../contract.ts'
import { isBusy } from './engine/faults/sqlite-errors.ts'
import { tablesByEmail } from './engine/tables-by-email.ts'

/** A checkpoint or a recovery of another process may hold the file for a moment. */
const TIMEOUT_MS = 10_000

/** Of a copy that are written before they are put on the disk: one of many at once would hold up what others commit there. */
const STEP_BYTES = 393_216
/** Of the time that a step took, before the next one while others commit: they need the disk as well. */
const PAUSE = 0.6

/**
 * The newest state. In one read transaction: writers go on, and their log grows until it ends. Holds up its thread. `to` is an
 * empty file.
 */
export async function copyDatabase(path: string, to: string): Promise<void> {
  const database = new SqliteDatabase(path, { fileMustExist: true, timeout: TIMEOUT_MS })
  const file = openSync(to, 'r+')
  try {
    const pages = Math.ceil(STEP_BYTES / Number(database.pragma('page_size', { simple: true })))
    // Reads one state from the first page to the last. Outside a transaction each commit of others would begin the copy anew.
    database.exec('begin; select 1 from sqlite_schema')
    let begunAt = performance.now()
    let writtenAt = lastWriteTo(path)
    await database.backup(to, {
      progress() {
        fdatasyncSync(file)
        const tookMs = performance.now() - begunAt
        const newestAt = lastWriteTo(path)
        if (newestAt !== writtenAt) pause(tookMs * PAUSE)
        writtenAt = newestAt
        begunAt = performance.now()
        return pages
      },
    })
  } finally {
    closeSync(file)
    database.close()
  }
  leaveLogMode(to)
}

/** Nanoseconds since the epoch; null where nothing is in the log. */
function lastWriteTo(path: string): bigint | null {
  return statSync(`${path}-wal`, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? null
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

/** One file again, which can be read without a log beside it. */
function leaveLogMode(path: string): void {
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
    if (found !== 'ok') throw new StoreOpenError(`the file is damaged: ${found}`)
  } catch (error) {
    if (error instanceof StoreOpenError) throw error
    throw new StoreOpenError(`not a database that can be read: ${reasonOf(error)}`)
  } finally {
    database?.close()
  }
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
