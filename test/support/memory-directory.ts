// Temporary files of a test run in memory: no test loses power, so none has to wait for a disk.
import { readFileSync, statfsSync } from 'node:fs'

const PLACE = '/dev/shm'
/** Several times what a run needs at once. */
const MIN_FREE_BYTES = 6 * 2 ** 30

/** Null where there is no such place, it is small, or no program can be started from it, as in many containers. */
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
