// Opening an SQLite file the way this store needs it.
import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import SqliteDatabase, { type Database } from 'better-sqlite3'
import { makeDirectories } from './engine/files/make-directories.ts'
import { ownLike } from './engine/files/own-like.ts'

/** Large enough that a list of small documents is one leaf page, and most documents need no overflow page. */
const PAGE_SIZE_BYTES = 8192
/** Negative: kibibytes. Filled as it is used; one large export fills that of reads, so it counts when many are sent at once. */
const READ_CACHE_KIB = -40_960
const WRITE_CACHE_KIB = -16_384
/** Of a new file, or of one before it is rewritten: `vacuum` can give unused pages back a few at a time. */
export const VACUUM_IN_PIECES = 'auto_vacuum = INCREMENTAL'

/** What makes checkpoints, which move commits from the log into the file: SQLite itself, or another program that reads the log. */
export type Checkpoints = 'own' | 'external'

/**
 * A connection that may write, durable against power loss: WAL alone with `synchronous=NORMAL` loses acknowledged commits.
 * Callers wait for locks without blocking the event loop, so SQLite itself must not wait.
 */
export function openWriter(path: string, checkpoints: Checkpoints = 'own'): Database {
  makeDirectories(dirname(path))
  if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK)
  else createPrivateFile(path)
  const database = prepared(new SqliteDatabase(path, { timeout: 0 }), [
    ...(checkpoints === 'external' ? ['wal_autocheckpoint = 0'] : []),
    `page_size = ${PAGE_SIZE_BYTES}`,
    // What was removed is overwritten, not only forgotten.
    'secure_delete = ON',
    'synchronous = FULL',
    // Statement journals and sorts stay out of the file system.
    'temp_store = MEMORY',
    // REPLACE then fires delete triggers as well, for hands that use it through this program's connections.
    'recursive_triggers = ON',
    `cache_size = ${WRITE_CACHE_KIB}`,
  ])
  // Of a file that is there it would be a write, which a command that only reads must not need.
  return database.pragma('page_count', { simple: true }) === 0 ? prepared(database, [VACUUM_IN_PIECES]) : database
}

/**
 * It will hold the signing keys: a new file is its owner's alone, who is that of the folder where root makes it, and SQLite gives those beside it the same mode. One that is there is not
 * opened: closing it would drop the locks that connections of this process have on it (https://www.sqlite.org/howtocorrupt.html, section 2.2).
 */
function createPrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  ownLike(path, dirname(path))
}

/** A connection for reads only; the file is there and migrated. `isReadOnly`: it cannot even be prepared for other readers. */
export function openReader(path: string, { isReadOnly = false } = {}): Database {
  return prepared(new SqliteDatabase(path, { timeout: 0, fileMustExist: true, readonly: isReadOnly }), [
    'query_only = ON',
    `cache_size = ${READ_CACHE_KIB}`,
  ])
}

/** Some of these read the file, which another process may hold locked for a moment: nothing is left open then. */
function prepared(database: Database, pragmas: readonly string[]): Database {
  try {
    for (const pragma of pragmas) database.pragma(pragma)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
