// Finds a directory in memory for the temporary files of a run: no test loses power, so none needs to wait for a disk.
import { readFileSync, statfsSync } from 'node:fs'

const PLACE = '/dev/shm'
/** Several times what a run needs at one time. */
const MIN_FREE_BYTES = 6 * 2 ** 30

/**
 * Returns null if there is no such directory, if it is too small, or if no program can be started from it, as in many
 * containers.
 */
export function memoryDirectory(): string | null {
  if (process.platform !== 'linux' || process.availableMemory() < MIN_FREE_BYTES) return null
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === PLACE)
  const [, , type, options = ''] = mount?.split(' ') ?? []
  if (type !== 'tmpfs' || /\b(?:noexec|ro)\b/.test(options)) return null
  const { bavail, bsize } = statfsSync(PLACE)
  return bavail * bsize < MIN_FREE_BYTES ? null : PLACE
}
