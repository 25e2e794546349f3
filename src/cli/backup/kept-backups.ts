// The names that `backup --keep-newest` gives in a folder, by time, and which of them it removes.
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { MachineError, reasonOf, UsageError } from '../../errors.ts'
import { wholeNameOf } from './publish-file.ts'

/** Nothing else in the folder is looked at. */
const NAME = /^workspace-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.backup$/
/** Milliseconds without a write after which nobody writes it any more. */
const ABANDONED_AFTER_MS = 86_400_000

/** `at` is in milliseconds since the epoch. Names sort as their backups were made. */
export function backupName(at: number): string {
  return `workspace-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`
}

/** Throws `UsageError`. It is not made: where a disk is not mounted, the backups would go onto another one. */
export async function requireFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (!found?.isDirectory()) throw new UsageError(`--keep-newest needs a folder for the backups, and ${path} is none`)
}

export interface RemovedBackups {
  /** Names, each with its digest. */
  readonly removed: readonly string[]
  /** Why others stay that should be gone too. */
  readonly reasons: readonly string[]
}

/**
 * `made` stays even if its name is older: the clock may have been set
 * back. The newest name stays too: that backup may have begun after `made`, and ended before it. So two can stay where `keep` is one. Throws `MachineError`.
 */
export async function removeOldBackups(folder: string, keep: number, made: string): Promise<RemovedBackups> {
  const others = (await listFolder(folder)).filter((name) => NAME.test(name) && name !== made).toSorted()
  const isMadeNewest = others.every((name) => name < made)
  const old = others.slice(0, Math.max(0, others.length - (isMadeNewest ? keep - 1 : Math.max(keep - 1, 1))))
  const removed: string[] = []
  const reasons: string[] = []
  for (const name of old) {
    try {
      for (const file of [name, `${name}.sha256`]) await rm(join(folder, file), { force: true })
      removed.push(name)
    } catch (error) {
      // The others go all the same: the disk must not fill up for one that nobody may remove.
      reasons.push(reasonOf(error))
    }
  }
  return { removed, reasons }
}

/**
 * Removes what backups that were killed have left, `now` in milliseconds since the epoch, and answers the names. What cannot be removed stays:
 * it is no reason to make no backup.
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

/** Throws `MachineError`. */
function listFolder(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    throw new MachineError(`backed up, but older backups stay: ${reasonOf(error)}`, { cause: error })
  })
}
