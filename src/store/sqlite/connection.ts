// Opens connections to an SQLite file with the pragmas that this store needs.
import { accessSync, type BigIntStats, closeSync, constants, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import SqliteDatabase, { type Database } from 'better-sqlite3'
import { memberOf } from '../../member-of.ts'
import { assertOwnLog } from './engine/faults/foreign-log.ts'
import { assertLocalFileSystem } from './engine/faults/startup-check.ts'
import { type FileIdentity, requireSameFile } from './engine/files/file-identity.ts'
import { makeDirectories } from './engine/files/make-directories.ts'
import { ownLike } from './engine/files/own-like.ts'

/** Large enough that a list of small documents is one leaf page, and most documents need no overflow page. */
const PAGE_SIZE_BYTES = 8192
/**
 * Page cache size; a negative number means kibibytes. The cache grows on use. One large export fills the read cache, so
 * its size matters when many are sent at once.
 */
const READ_CACHE_KIB = -40_960
const WRITE_CACHE_KIB = -16_384
/** Lets `vacuum` return unused pages a few at a time. Takes effect on a new file, or with the next full rewrite. */
export const VACUUM_IN_PIECES = 'auto_vacuum = INCREMENTAL'

/**
 * Who makes checkpoints, which move commits from the log into the database file: SQLite itself (`own`), or another
 * program that reads the log (`external`).
 */
export type Checkpoints = 'own' | 'external'

/**
 * Opens a read-write connection. `synchronous = FULL` makes commits survive a power failure; in WAL mode, `NORMAL` can
 * lose acknowledged commits. SQLite's own lock timeout is 0: callers wait for locks without blocking the event loop.
 * Throws `StoreFaultError` on a network file system, for a log of another database, and for another file than
 * `expected`. Returns what the file was just before it was opened, too.
 */
export function openWriter(
  path: string,
  checkpoints: Checkpoints = 'own',
  expected?: FileIdentity,
): { readonly writer: Database; readonly before: BigIntStats } {
  // Before anything is created or opened: another machine may be using the database, and the last connection of this
  // machine would remove the log on closing.
  assertLocalFileSystem(path)
  makeDirectories(dirname(path))
  assertOwnLog(path)
  if (existsSync(path)) for (const end of ['', '-wal', '-shm']) requireRights(path + end)
  else createPrivateFile(path)
  const before = requireSameFile(path, expected)
  const writer = prepared(openFile(path, before), [
    ...(checkpoints === 'external' ? ['wal_autocheckpoint = 0'] : []),
    `page_size = ${PAGE_SIZE_BYTES}`,
    // Overwrites deleted content instead of only marking it free.
    'secure_delete = ON',
    'synchronous = FULL',
    // Keeps statement journals and sorts out of the file system.
    'temp_store = MEMORY',
    // Makes REPLACE fire delete triggers too, in case somebody uses it through this program's connections.
    'recursive_triggers = ON',
    `cache_size = ${WRITE_CACHE_KIB}`,
  ])
  // On an existing file this pragma would be a write, which a command that only reads must not need.
  if (writer.pragma('page_count', { simple: true }) === 0) prepared(writer, [VACUUM_IN_PIECES])
  return { writer, before }
}

/**
 * Throws the system's error, which names the file: SQLite only says that it cannot open the database. It says the same
 * for a file beside it, such as one that root copied there. A file that does not exist, or is removed meanwhile, passes.
 */
function requireRights(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    if (memberOf(error, 'code') !== 'ENOENT') throw error
  }
}

/**
 * Creates the file with mode 0600, because it will hold the signing keys; SQLite gives the files beside it the same
 * mode. When root creates it, it gets the owner of its folder. Call it only for a file that does not exist: closing a
 * descriptor of an existing database drops the locks that connections of this process hold on it
 * (https://www.sqlite.org/howtocorrupt.html, section 2.2).
 */
function createPrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  ownLike(path, dirname(path))
}

/**
 * Opens a connection for reads. The file exists and is migrated. `isReadOnly` opens the file itself read-only as well,
 * for one that this process may not write to. Throws `StoreFaultError` for another file than `file`.
 */
export function openReader(path: string, file: FileIdentity, { isReadOnly = false } = {}): Database {
  return prepared(openFile(path, file, isReadOnly), ['query_only = ON', `cache_size = ${READ_CACHE_KIB}`])
}

/**
 * Opening a file reads only its header, so another file than `file` can be closed again without harm. The first query
 * would apply the log beside it, and locks on that log do not exclude connections of this process that have `file` open.
 */
function openFile(path: string, file: FileIdentity, readonly = false): Database {
  const database = new SqliteDatabase(path, { timeout: 0, fileMustExist: true, readonly })
  try {
    requireSameFile(path, file)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Runs the pragmas. Closes the connection if one throws: some read the file, which another process may have locked. */
function prepared(database: Database, pragmas: readonly string[]): Database {
  try {
    for (const pragma of pragmas) database.pragma(pragma)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
