// A restored database under the name of the one that it replaces, which is kept under another name.
import { linkSync, lstatSync, renameSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { reasonOf, UsageError } from '../../errors.ts'
import { whileUnused } from '../../store/sqlite/backup.ts'
import { syncPath } from './publish-file.ts'

/** `at` is in milliseconds since the epoch. Answers where the database is that was there, if there was one: whole, under another name. */
export async function putInPlace(part: string, target: string, at: number): Promise<string | null> {
  const folder = dirname(target)
  if (!(await stat(target).catch(() => null))) {
    // The log of a database that was deleted: it would be applied to this one.
    if (await stat(`${target}-wal`).catch(() => null)) renameSync(`${target}-wal`, `${freeName(target, at)}-wal`)
    await rm(`${target}-shm`, { force: true })
    renameSync(part, target)
    await syncPath(folder)
    return null
  }
  const done = whileUnusedOrRefuse(target, () => {
    const kept = freeName(target, at)
    orSay(`cannot keep ${target} as ${kept}`, () => linkSync(target, kept))
    // Under the name of the database there is always a whole one.
    orSay(`cannot write ${target}`, () => renameSync(part, target))
    return kept
  })
  if (done === null) {
    throw new UsageError('the database is in use: stop what is serving on it, then restore')
  }
  await syncPath(folder)
  return done.answer
}

/** To keep what is at `target`, or only its log. It has the time: there may have been another restore within that second. */
function freeName(target: string, at: number): string {
  const name = `${target}.before-${new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? name : `${name}-${number}`
    if ([numbered, `${numbered}-wal`].every(isFree)) return numbered
  }
}

/** So is a name that cannot be looked up: whoever uses it is told why. */
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
function whileUnusedOrRefuse<T>(target: string, run: () => T): ReturnType<typeof whileUnused<T>> {
  try {
    return whileUnused(target, run)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(
      `what is at ${target} cannot be read (${reasonOf(error)}): with nothing serving on it, move it away with its -wal and -shm, then restore`,
      { cause: error },
    )
  }
}
