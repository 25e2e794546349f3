// Notices that a file was cut short although it is as long as before: a checkpoint that was under way, or another
// process, wrote pages behind the cut. What lies between has no blocks on the disk.
import type { BigIntStats } from 'node:fs'

/** Unit of `st_blocks` in stat(2). */
const BLOCK_BYTES = 512n
/** SQLite leaves one page unwritten: https://www.sqlite.org/fileformat.html#the_lock_byte_page */
const UNWRITTEN_PAGES = 1n
/** While ext4 moves new content to the disk, its blocks are missing from the count for some microseconds. */
const LOOKS = 10

export interface HoleWatchOptions {
  /** In bytes. */
  readonly pageSize: number
  readonly look: () => BigIntStats
  /**
   * Reads the whole file. After it returned true, the watch is off: some file systems compress, or allocate blocks late.
   */
  readonly isWhole: () => boolean
}

/** Returns a function that tells from a look at the file whether content was lost since `atStart`. */
export function createHoleWatch(
  atStart: BigIntStats,
  { pageSize, look, isWhole }: HoleWatchOptions,
): (now: BigIntStats) => boolean {
  const tolerated = UNWRITTEN_PAGES * BigInt(pageSize)
  let least = missingBytes(atStart)
  let isOn = true

  function isShort(now: BigIntStats): boolean {
    const missing = missingBytes(now)
    if (missing < least) least = missing
    return missing > least + tolerated
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
