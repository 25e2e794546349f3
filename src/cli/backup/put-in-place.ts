// A restored database under the name of the one that it replaces, which is kept under another name.
import { existsSync, linkSync, lstatSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf, UsageError } from '../../errors.ts'
import { whileUnused } from '../../store/sqlite/backup.ts'
import { ownLike } from '../../store/sqlite/engine/files/own-like.ts'
import { syncPath } from './publish-file.ts'

/**
 * Puts `part` in the place of `target`. What was there is kept under another name, with the time `at` (milliseconds since the epoch) in
 * it: the whole database, or only the log of one that was deleted or emptied. Answers that name, null where nothing was there.
 */
export async function putInPlace(part: string, target: string, at: number): Promise<string | null> {
  const found = statSync(target, { throwIfNoEntry: false })
  ownLike(part, found ? target : dirname(target))
  const kept = found && found.size > 0 ? replaceDatabase(part, target, at) : replaceLost(part, target, at)
  await syncPath(dirname(target))
  return kept
}

function replaceDatabase(part: string, target: string, at: number): string {
  return whileUnusedOrRefuse(target, () => {
    const kept = freeName(target, at)
    orSay(`cannot keep ${target} as ${kept}`, () => linkSync(target, kept))
    // Under the name of the database there is always a whole one.
    orSay(`cannot write ${target}`, () => renameSync(part, target))
    return kept
  })
}

function replaceLost(part: string, target: string, at: number): string | null {
  const log = `${target}-wal`
  const keptLog = existsSync(log) ? `${freeName(target, at)}-wal` : null
  const replace = () => orSay(`cannot write ${target}`, () => renameSync(part, target))
  // It would be applied to the restored one, and SQLite removes it where it opens an empty file.
  if (keptLog !== null) orSay(`cannot keep ${log} as ${keptLog}`, () => renameSync(log, keptLog))
  try {
    if (existsSync(target)) whileUnusedOrRefuse(target, replace)
    else replace()
  } catch (error) {
    if (keptLog !== null) renameSync(keptLog, log)
    throw error
  }
  rmSync(`${target}-shm`, { force: true })
  return keptLog
}

/** To keep what is at `target`, or only its log. It has the time: there may have been another restore within that second. */
function freeName(target: string, at: number): string {
  const name = `${target}.before-${new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? name : `${name}-${number}`
    if ([numbered, `${numbered}-wal`].every(isFree)) return numbered
  }
}

/** So is a name that cannot be looked up: its next use tells why. */
function isFree(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return true
  }
}

function orSay(what: string, run: () => void): void {
  try {
    run()
  } catch (error) {
    throw new UsageError(`${what}: ${reasonOf(error)}`)
  }
}

/** A file that SQLite cannot read does not tell who uses it: it is the operator who knows. */
function whileUnusedOrRefuse<T>(target: string, run: () => T): T {
  const done = orUnreadable(target, () => whileUnused(target, run))
  if (done === null) throw new UsageError('the database is in use: stop what is serving on it, then restore')
  return done.answer
}

function orUnreadable<T>(target: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(
      `what is at ${target} cannot be read (${reasonOf(error)}): with nothing serving on it, move it away with its -wal and -shm, then restore`,
      { cause: error },
    )
  }
}
