// Notices that a file was cut short although it is as long as before: a checkpoint that was under way, or another
// process, wrote pages behind the cut. What lies between has no blocks on the disk.
import type { BigIntStats } from 'node:fs'

/** Unit of `st_blocks` in stat(2). */
const BLOCK_BYTES = 512n
/** Some pages are never written. In databases of 1 GB beside writes, 20 to 45 kB were missing. */
const TOLERATED_BYTES = 1_048_576n
/** While ext4 moves new content to the disk, its blocks are missing from the count for some microseconds. */
const LOOKS = 10

export interface HoleWatchOptions {
  readonly look: () => BigIntStats
  /**
   * Reads the whole file. After it returned true, the watch is off: some file systems compress, or allocate blocks late.
   */
  readonly isWhole: () => boolean
}

/** Returns a function that tells from a look at the file whether content was lost since `atStart`. */
export function createHoleWatch(
  atStart: BigIntStats,
  { look, isWhole }: HoleWatchOptions,
): (now: BigIntStats) => boolean {
  let least = missingBytes(atStart)
  let isOn = true

  function isShort(now: BigIntStats): boolean {
    const missing = missingBytes(now)
    if (missing < least) least = missing
    return missing > least + TOLERATED_BYTES
  }

  function staysShort(): boolean {
    for (let looks = 0; looks < LOOKS; looks += 1) if (!isShort(look())) return false
    return true
  }

  return (now) => {
    if (!isOn || !isShort(now) || !staysShort()) return false
    if (!isWhole()) return true
    isOn = false
    return false
  }
}

function missingBytes({ size, blocks }: BigIntStats): bigint {
  const allocated = blocks * BLOCK_BYTES
  return allocated < size ? size - allocated : 0n
}
