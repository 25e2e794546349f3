// Opens a database for reads only: in place if possible, else as a copy, because SQLite needs writable files beside it.
import { accessSync, chmodSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import SqliteDatabase, { type Database } from 'better-sqlite3'
import { reasonOf, unreadable } from '../../../../errors.ts'
import { StoreFaultError } from '../../../contract.ts'
import { openReader } from '../../connection.ts'
import { requireSchema } from '../../migrations.ts'
import { assertOwnLog } from '../faults/foreign-log.ts'
import { sqliteCode } from '../faults/sqlite-errors.ts'
import { type DatabaseFiles, watchCopiedFiles, watchReadFile } from '../faults/watch-database-files.ts'
import { type FileIdentity, requireSameFile } from '../files/file-identity.ts'

const COPY_NAME = 'workspace.db'

/**
 * Error codes of SQLite if the log or its index is missing and cannot be created: on a read-only or full disk, or
 * without permissions on the folder or the index. The last one: an interrupted transaction is to be rolled back first, which
 * writes to the file.
 */
const NEEDS_A_COPY = new Set<unknown>([
  'SQLITE_CANTOPEN',
  'SQLITE_READONLY_DIRECTORY',
  'SQLITE_READONLY_CANTINIT',
  'SQLITE_IOERR_SHMSIZE',
  'SQLITE_READONLY_ROLLBACK',
])

export interface ReadOnlyDatabase {
  readonly reader: Database
  /** Path of the open file: the database itself, or its copy. */
  readonly path: string
  readonly file: FileIdentity
  readonly files: DatabaseFiles
  readonly close: () => void
}

/**
 * Opened in place, the database shows the commits of other processes. Where that fails, nobody has it open, because
 * otherwise the index of its log would exist. Then a copy of the file with its log and journal is read, in a private
 * temporary folder that is removed on close. `path` is the target of `named`. Throws `StoreOpenError`,
 * `StoreFaultError`, or an error of SQLite.
 */
export function openForReading(path: string, named: string): ReadOnlyDatabase {
  assertOwnLog(path)
  try {
    return opened(path, watchReadFile(named), () => {})
  } catch (error) {
    if (!NEEDS_A_COPY.has(sqliteCode(error))) throw error
  }
  // Start watching before the copy, so that a write during the copy is noticed.
  const files = watchCopiedFiles(path)
  const directory = copyAside(path)
  const remove = () => rmSync(directory, { recursive: true, force: true })
  try {
    return opened(join(directory, COPY_NAME), files, remove)
  } catch (error) {
    remove()
    throw error
  }
}

function opened(path: string, files: DatabaseFiles, onClosed: () => void): ReadOnlyDatabase {
  const file = requireSameFile(path)
  const reader = openReader(path, file, { isReadOnly: true })
  try {
    requireSchema(reader)
  } catch (error) {
    reader.close()
    throw error
  }
  return {
    reader,
    path,
    file,
    files,
    close() {
      reader.close()
      onClosed()
    },
  }
}

/** Copies the files and returns the folder of the copy. Leaves nothing behind if it throws. */
function copyAside(path: string): string {
  const ends = ['', '-wal', '-journal'].filter((name) => existsSync(path + name))
  for (const end of ends) requireReadable(path + end)
  let directory: string | null = null
  try {
    directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-read-only-'))
    const copy = join(directory, COPY_NAME)
    for (const end of ends) {
      copyFileSync(path + end, copy + end, constants.COPYFILE_FICLONE)
      chmodSync(copy + end, 0o600)
    }
    if (existsSync(`${copy}-journal`)) rollBack(copy)
    return directory
  } catch (error) {
    if (directory !== null) rmSync(directory, { recursive: true, force: true })
    throw new StoreFaultError(
      `cannot read ${path}: copying it to a temporary folder failed: ${reasonOf(error)}. Make room there, or name another folder with TMPDIR`,
      { cause: error },
    )
  }
}

/** Throws `StoreFaultError`. A file of another user is no reason to make room for a copy. */
function requireReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    throw new StoreFaultError(unreadable(path, error), { cause: error })
  }
}

/** SQLite rolls an interrupted transaction back at the first read of a connection that may write. */
function rollBack(copy: string): void {
  const database = new SqliteDatabase(copy, { fileMustExist: true })
  try {
    database.pragma('schema_version')
  } finally {
    database.close()
  }
}
