// Reads documents and elements by key in small portions, because their length is known only after they are read.
import type { Pace } from '../../http/limits/turn-quota.ts'
import type { HasText } from './member-field.ts'

/**
 * Items of the first portion. Each may be as long as one line of an import, and all are in memory before the budget
 * counts them.
 */
const FIRST_PORTION = 4
const MAX_PORTION = 16
/** Target length in UTF-16 units of a later portion, if its items are as long as those of the portion before. */
const PORTION_LENGTH = 524_288

type ReadByName<K, V extends HasText> = (keys: readonly K[]) => Promise<readonly (V | null)[]>

/** Splits a read into portions. `read` charges each portion to the budget before the next one is read. */
export function inPortions<K, V extends HasText>(read: ReadByName<K, V>, paceReading: Pace): ReadByName<K, V> {
  async function readLong(keys: readonly K[]): Promise<readonly (V | null)[]> {
    const found: (V | null)[] = []
    let size = FIRST_PORTION
    for (let at = 0; at < keys.length; ) {
      const portion = await read(keys.slice(at, at + size))
      found.push(...portion)
      at += size
      const length = lengthOf(portion)
      size = nextSize(size, length)
      // The next portion is expected to be as long as this one.
      await paceReading(length)
    }
    return found
  }

  return (keys) => (keys.length <= FIRST_PORTION ? read(keys) : readLong(keys))
}

/** Grows to at most twice the size, because the items so far may have been short by chance. */
function nextSize(size: number, length: number): number {
  const fitting = Math.floor((PORTION_LENGTH * size) / Math.max(length, 1))
  return Math.max(1, Math.min(fitting, size * 2, MAX_PORTION))
}

/** In UTF-16 units. */
export function lengthOf(items: readonly (HasText | null)[]): number {
  return items.reduce((sum, item) => sum + (item?.text.length ?? 0), 0)
}
