// Puts a restored database in place of the current one, and keeps the current one under another name.
import { existsSync, linkSync, lstatSync, renameSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf, throwUsageError, UsageError } from '../../errors.ts'
import { whileUnused } from '../../store/sqlite/backup.ts'
import { hasForeignLog } from '../../store/sqlite/engine/faults/foreign-log.ts'
import { ownLike } from '../../store/sqlite/engine/files/own-like.ts'
import { syncPath } from './publish-file.ts'

const LOG = '-wal'
const JOURNAL = '-journal'

/**
 * Puts `part` in the place of `target`. The previous content is kept under a name that contains the time `at`
 * (milliseconds since the epoch): the database, the write-ahead log of one that was deleted, emptied or overwritten by a
 * copy of a backup, and the rollback journal of one that was deleted. Returns these names, or null when there was
 * nothing to keep. Throws `UsageError`.
 */
export async function putInPlace(part: string, target: string, at: number): Promise<string | null> {
  const found = statSync(target, { throwIfNoEntry: false })
  ownLike(part, found ? target : dirname(target))
  const name = freeName(target, at)
  const isDatabase = found !== undefined && found.size > 0
  const moved: string[] = []
  function replace(): void {
    if (isDatabase) orUsageError(`cannot keep ${target} as ${name}`, () => linkSync(target, name))
    rmSync(`${target}-shm`, { force: true })
    // The previous database was linked, not renamed: at every moment `target` is a complete database.
    orUsageError(`cannot write ${target}`, () => renameSync(part, target))
  }
  try {
    for (const end of foreignEnds(target, found)) {
      if (!existsSync(target + end)) continue
      orUsageError(`cannot keep ${target}${end} as ${name}${end}`, () => renameSync(target + end, name + end))
      moved.push(end)
    }
    if (found) whileUnusedOrRefuse(target, replace)
    else replace()
  } catch (error) {
    for (const end of moved) renameSync(name + end, target + end)
    throw error
  }
  await syncPath(dirname(target))
  const kept = [...(isDatabase ? [''] : []), ...moved].map((end) => name + end)
  return kept.length > 0 ? kept.join(' and ') : null
}

/**
 * The files beside `target` that SQLite would apply to the restored database, or to what is there now, although they
 * belong to neither. When SQLite opens an empty file, it deletes the log, and the journal if no other process is using
 * that.
 */
function foreignEnds(target: string, found: Stats | undefined): readonly string[] {
  if (!found) return [LOG, JOURNAL]
  return found.size === 0 || hasForeignLog(target) ? [LOG] : []
}

/**
 * A free name for the database at `target`, or for its log or journal alone. The name contains the time to the second,
 * and a number when another restore ran within that second.
 */
function freeName(target: string, at: number): string {
  const name = `${target}.before-${new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? name : `${name}-${number}`
    if (['', LOG, JOURNAL].every((end) => isFree(numbered + end))) return numbered
  }
}

/** Also true for a name that cannot be looked up: its next use reports the error. */
function isFree(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return true
  }
}

/** Throws a `UsageError` that says what went wrong, and why. */
export function orUsageError(what: string, run: () => void): void {
  try {
    run()
  } catch (error) {
    throwUsageError(what)(error)
  }
}

/**
 * Throws `UsageError` when the database is in use. It also does so when SQLite cannot read the file: then nothing shows
 * whether it is in use, and the operator must decide.
 */
function whileUnusedOrRefuse(target: string, run: () => void): void {
  const done = orUnreadable(target, () => whileUnused(target, run))
  if (done === null) throw new UsageError('the database is in use: stop the gateways that serve it, then restore')
}

function orUnreadable<T>(target: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(
      `${target} cannot be read (${reasonOf(error)}): stop the gateways that serve it, move it away with its -wal and -shm files, then restore`,
      { cause: error },
    )
  }
}
