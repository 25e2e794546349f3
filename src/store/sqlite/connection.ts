// Opening an SQLite file the way this store needs it.
import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import SqliteDatabase, { type Database } from 'better-sqlite3'
import { makeDirectories } from './engine/make-directories.ts'

/** Large enough that a list of small documents is one leaf page, and most documents need no overflow page. */
const PAGE_SIZE_BYTES = 8192
/** Negative: kibibytes. Filled as it is used; one large export fills that of reads, so it counts when many are sent at once. */
const READ_CACHE_KIB = -40_960
const WRITE_CACHE_KIB = -16_384

/** Who moves what is committed from the log into the file: SQLite by the way, or another program that reads the log. */
export type Checkpoints = 'own' | 'external'

/**
 * A connection that may write, durable against power loss: WAL alone with `synchronous=NORMAL` loses acknowledged commits.
 * Whoever waits for a lock does it without blocking the event loop, so SQLite itself must not wait.
 */
export function openWriter(path: string, checkpoints: Checkpoints = 'own'): Database {
  makeDirectories(dirname(path))
  // It holds the signing keys: a new file is its owner's alone, and SQLite gives those beside it the same mode.
  closeSync(openSync(path, 'a', 0o600))
  return prepared(new SqliteDatabase(path, { timeout: 0 }), [
    `page_size = ${PAGE_SIZE_BYTES}`,
    // Of a new file, or one that is rewritten: `vacuum` can give unused pages back a few at a time.
    'auto_vacuum = INCREMENTAL',
    // What was removed is overwritten, not only forgotten.
    'secure_delete = ON',
    'synchronous = FULL',
    // Statement journals and sorts stay out of the file system.
    'temp_store = MEMORY',
    // REPLACE then fires delete triggers as well, for hands that use it through this program's connections.
    'recursive_triggers = ON',
    `cache_size = ${WRITE_CACHE_KIB}`,
    ...(checkpoints === 'external' ? ['wal_autocheckpoint = 0'] : []),
  ])
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
