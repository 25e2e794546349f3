// Names the temporary files of restores, and removes those that killed restores have left.
import { randomInt } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { removeParts } from './publish-file.ts'

/** More than the id of any process on Linux (PID_MAX_LIMIT, 2 ** 22). */
const PROCESS_IDS = 2 ** 22
const RANDOM_NUMBERS = 2 ** 10
const TAG_LENGTH = 8
const TAG = /^\.([0-9a-f]{8})\.part$/

/**
 * The temporary name of a database until it is restored, in the same folder. Its hexadecimal digits are a random number
 * and the id of this process, so that a later restore can tell that the process has ended.
 */
export function restorePartOf(target: string): string {
  const tag = randomInt(RANDOM_NUMBERS) * PROCESS_IDS + (process.pid % PROCESS_IDS)
  return `${target}.${tag.toString(16).padStart(TAG_LENGTH, '0')}.part`
}

/**
 * Removes what restores of `target` have left whose processes have ended, and returns the paths. Call it before this
 * process has made a part: one with its own id is of an earlier process, as in a container. A restore that runs in
 * another container may lose its part this way; it then fails. A file that cannot be removed is skipped.
 */
export async function removeLeftParts(target: string): Promise<readonly string[]> {
  const folder = dirname(target)
  const names = await readdir(folder).catch(() => [])
  const left = names.filter((name) => {
    const owner = name.startsWith(basename(target)) ? ownerOf(name.slice(basename(target).length)) : null
    return owner !== null && !isRunning(owner)
  })
  const removed: string[] = []
  for (const path of left.map((name) => join(folder, name))) {
    await rm(path).then(
      () => removed.push(path),
      () => {},
    )
    await removeParts(path)
  }
  return removed
}

/** The id of the process that made a part, given the end of its name; null for any other file. */
function ownerOf(end: string): number | null {
  const [, tag] = TAG.exec(end) ?? []
  return tag === undefined ? null : Number.parseInt(tag, 16) % PROCESS_IDS
}

function isRunning(id: number): boolean {
  if (id === process.pid % PROCESS_IDS) return false
  try {
    // Signal 0 only asks. Process 0 would be this process and its group.
    return id !== 0 && process.kill(id, 0)
  } catch (error) {
    // The process of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
