// A database that was there and is gone: a supervisor that starts the gateway again must not get an empty one in its place.
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { reasonOf } from '../../../../errors.ts'
import { StoreFaultError, StoreOpenError } from '../../../contract.ts'

/** Beside the database that it stands for. Not the -wal: that would be applied to whatever file is put in its place. */
const MARKER_SUFFIX = '.lost'
const MARKER_TEXT = `The database beside this file was deleted or emptied while a gateway used it.
While this file is here, none is started on an empty database. It goes by itself once the database is back.
`

/**
 * To be called when a database in use failed: leaves a note for the next start when its file has no content any more, or `named`, which
 * led to it, leads to nothing.
 */
export function noteIfLost(path: string, named: string): void {
  try {
    const lost = [path, named].find((name) => sizeOf(name) === 0)
    if (lost === undefined) return
    writeFileSync(lost + MARKER_SUFFIX, MARKER_TEXT, { mode: 0o600 })
  } catch {
    // Its folder is gone too, or cannot be read.
  }
}

/** Throws `StoreFaultError` when there is no content, and what is beside it, or beside the name that leads there, says that there was. Else forgets such a note. */
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
    `the database ${path} was deleted or emptied: put it back, or restore a backup. To begin with an empty one, remove ${remains.join(' and ')}`,
  )
}

/** For commands that create no database. Throws `StoreFaultError` for one that is lost, `StoreOpenError` where there is none: an empty file is none. */
export function assertHasContent(path: string, named: string): void {
  if (sizeOf(path) > 0) return
  assertNotLost(path, named)
  throw new StoreOpenError(
    existsSync(path) ? `there is no database in ${path}: the file is empty` : `there is no database ${path}`,
  )
}

/** 0 where there is none. Throws `StoreFaultError` where nobody can tell: without the rights to its folder, or in a circle of links. */
function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0
  } catch (error) {
    throw new StoreFaultError(`cannot open ${path}: ${reasonOf(error)}`, { cause: error })
  }
}
