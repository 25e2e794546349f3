// A database that is only read: where it lies when that works, else as a copy, since SQLite needs files beside it that it may write to.
import { constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { reasonOf } from '../../../../errors.ts'
import { StoreFaultError } from '../../../contract.ts'
import { openReader } from '../../connection.ts'
import { requireSchema } from '../../migrations.ts'
import { sqliteCode } from '../faults/sqlite-errors.ts'
import { type DatabaseFiles, watchCopiedFiles, watchReadFile } from '../faults/watch-database-files.ts'

const COPY_NAME = 'workspace.db'

/** There is no log beside it, or none of its index, and neither can be made: on a read-only disk, without the rights to its folder, or to the index. */
const NEEDS_FILES_BESIDE = new Set<unknown>([
  'SQLITE_CANTOPEN',
  'SQLITE_READONLY_DIRECTORY',
  'SQLITE_READONLY_CANTINIT',
])

export interface ReadOnlyDatabase {
  readonly reader: Database
  /** What is open: the file itself, or a copy of it. */
  readonly path: string
  readonly files: DatabaseFiles
  readonly close: () => void
}

/**
 * Read where it lies, it shows what others commit. Otherwise nobody has it open, or it would have an index of its log: a copy of
 * the file and its log is read, in a folder of this user alone, for as long as it is open.
 * `path` is what `named` leads to. Throws `StoreOpenError`, `StoreFaultError`, or what SQLite throws.
 */
export function openForReading(path: string, named: string): ReadOnlyDatabase {
  try {
    return opened(path, watchReadFile(named), () => {})
  } catch (error) {
    if (!NEEDS_FILES_BESIDE.has(sqliteCode(error))) throw error
  }
  // Before it is copied: what is written meanwhile is noticed.
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
  const reader = openReader(path, { isReadOnly: true })
  try {
    requireSchema(reader)
  } catch (error) {
    reader.close()
    throw error
  }
  return {
    reader,
    path,
    files,
    close() {
      reader.close()
      onClosed()
    },
  }
}

/** Answers the folder that the copy is in. Where it cannot be made, nothing of it is left. */
function copyAside(path: string): string {
  let directory: string | null = null
  try {
    directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-read-only-'))
    const copy = join(directory, COPY_NAME)
    copyFileSync(path, copy, constants.COPYFILE_FICLONE)
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`)
    return directory
  } catch (error) {
    if (directory !== null) rmSync(directory, { recursive: true, force: true })
    throw new StoreFaultError(
      `cannot read ${path}: it is copied to a temporary folder first, which failed: ${reasonOf(error)}. Make room there, or name another folder with TMPDIR`,
      { cause: error },
    )
  }
}
