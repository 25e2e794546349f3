// Names the backups of `backup --keep-newest` by their time, and removes the oldest ones from the folder.
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonOf, throwMachineError, UsageError } from '../../errors.ts'
import { wholeNameOf } from './publish-file.ts'

/** Names of backups. Every other file in the folder is ignored, and every directory: it is no backup. */
const NAME = /^workspace-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.backup$/
/** Age of the last write, in milliseconds, after which a partial file counts as abandoned. */
const ABANDONED_AFTER_MS = 86_400_000

/** `at` is in milliseconds since the epoch. Names sort in the order in which their backups were made. */
export function backupName(at: number): string {
  return `workspace-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`
}

/**
 * Throws `UsageError` when the folder does not exist. It is never created: if the backup disk is not mounted, the
 * backups would go to another disk.
 */
export async function requireFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (!found?.isDirectory())
    throw new UsageError(`--keep-newest: ${path} is not a folder: name a folder for the backups`)
}

export interface RemovedBackups {
  /** Names of the removed backups. The digest file of each was removed with it. */
  readonly removed: readonly string[]
  /** One reason for each backup that should have been removed and could not be. */
  readonly reasons: readonly string[]
}

/**
 * Removes all but the `keep` newest backups. `made`, the backup of this run, stays even if its name is older than
 * others, because the clock may have been set back. The newest name stays too: that backup may have begun after `made`
 * and ended before it. So two backups can stay when `keep` is 1. Throws `MachineError` when the folder cannot be
 * listed.
 */
export async function removeOldBackups(folder: string, keep: number, made: string): Promise<RemovedBackups> {
  const others = (await listFiles(folder)).filter((name) => NAME.test(name) && name !== made).toSorted()
  const isMadeNewest = others.every((name) => name < made)
  const old = others.slice(0, Math.max(0, others.length - (isMadeNewest ? keep - 1 : Math.max(keep - 1, 1))))
  const removed: string[] = []
  const reasons: string[] = []
  for (const name of old) {
    try {
      for (const file of [name, `${name}.sha256`]) await rm(join(folder, file), { force: true })
      removed.push(name)
    } catch (error) {
      // Removal goes on with the other backups: one that cannot be removed must not let the disk fill up.
      reasons.push(reasonOf(error))
    }
  }
  return { removed, reasons }
}

/**
 * Removes partial files that killed backups have left, and returns their names. `now` is in milliseconds since the
 * epoch. A file that cannot be removed is skipped: it must not prevent a new backup.
 */
export async function removeAbandonedParts(folder: string, now: number): Promise<readonly string[]> {
  const removed: string[] = []
  for (const name of await readdir(folder).catch(() => [])) {
    if (!NAME.test(wholeNameOf(name) ?? '')) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    if (found === null || now - found.mtimeMs < ABANDONED_AFTER_MS) continue
    await rm(path).then(
      () => removed.push(name),
      () => {},
    )
  }
  return removed
}

/** The names of everything but directories. Throws `MachineError`. */
async function listFiles(folder: string): Promise<readonly string[]> {
  const failed = throwMachineError('backed up, but older backups could not be removed')
  const entries = await readdir(folder, { withFileTypes: true }).catch(failed)
  return entries.flatMap((entry) => (entry.isDirectory() ? [] : entry.name))
}
