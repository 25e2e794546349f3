// Marks a database that was lost while it was in use, so that a restart by a supervisor does not create an empty one in
// its place.
import { existsSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf } from '../../../../errors.ts'
import { StoreFaultError, StoreMissingError } from '../../../contract.ts'
import { makeDirectories } from '../files/make-directories.ts'
import { requireFile } from '../files/require-file.ts'
import { writeBeside } from '../files/write-beside.ts'

/** Suffix of the marker file beside the database. A leftover -wal is no marker: SQLite would apply it to a new file. */
const MARKER_SUFFIX = '.lost'
const MARKER_TEXT = `The database beside this file was deleted or emptied while a gateway used it.
While this file exists, no gateway starts on an empty database. It is removed once the database is back.
`

/**
 * Call it when a database in use failed. Writes the marker for the next start if the file has no content any more, or
 * if `named`, the link to it, leads to nothing.
 */
export function noteIfLost(path: string, named: string): void {
  try {
    const lost = [path, named].find((name) => sizeOf(name) === 0)
    if (lost === undefined) return
    // The folder was moved away, or is on a volume that was unmounted. The next start would make it again.
    makeDirectories(dirname(lost))
    writeBeside(lost + MARKER_SUFFIX, MARKER_TEXT)
  } catch {
    // The folder cannot be made or accessed.
  }
}

/**
 * Throws `StoreFaultError` if the file has no content although a marker or a log beside it, or beside the link to it,
 * shows that it had. Removes the marker if there is content.
 */
export function assertNotLost(path: string, named: string): void {
  for (const name of new Set([path, named])) assertNoneLost(name)
}

function assertNoneLost(path: string): void {
  const marker = path + MARKER_SUFFIX
  if (sizeOf(path) > 0) {
    rmSync(marker, { force: true })
    return
  }
  const remains = [marker, `${path}-wal`].filter((name) => sizeOf(name) > 0)
  if (remains.length === 0) return
  throw new StoreFaultError(
    `the database ${path} was deleted or emptied: put it back, or restore a backup. To start with an empty database, remove ${remains.join(' and ')}`,
  )
}

/**
 * For commands that do not create a database. Throws `StoreFaultError` if the database was lost, `StoreMissingError` if
 * there is none; an empty file counts as none.
 */
export function assertHasContent(path: string, named: string): void {
  if (sizeOf(path) > 0) return
  assertNotLost(path, named)
  throw new StoreMissingError(
    existsSync(path) ? `there is no database in ${path}: the file is empty` : `there is no database ${path}`,
  )
}

/**
 * Size of a file, 0 if it does not exist. Throws `StoreOpenError` for what is no file, and `StoreFaultError` if the path
 * cannot be followed: missing permissions on its folder, or a cycle of links.
 */
function sizeOf(path: string): number {
  const found = statOf(path)
  if (!found) return 0
  requireFile(found, path)
  return found.size
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw new StoreFaultError(`cannot open ${path}: ${reasonOf(error)}`, { cause: error })
  }
}
