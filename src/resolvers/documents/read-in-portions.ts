// Documents and elements that are asked for by name are read a few at a time: how long they are is known when they are there.
import type { Pace } from '../../http/limits/turn-quota.ts'
import type { HasText } from './member-field.ts'

/** Of the first portion, whose items may be as long as one line of an import: it is in memory before the budget of the request sees it. */
const FIRST_PORTION = 4
const MAX_PORTION = 16
/** UTF-16 units that a later portion has if its items are as long as those before. */
const PORTION_LENGTH = 524_288

type ReadByName<K, V extends HasText> = (keys: readonly K[]) => Promise<readonly (V | null)[]>

/** The same read in portions, each as `read` answers it and counts it, before the next is asked for. */
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
      // The next one is about as long.
      await paceReading(length)
    }
    return found
  }

  return (keys) => (keys.length <= FIRST_PORTION ? read(keys) : readLong(keys))
}

/** At most twice as many: those before may have been short by chance. */
function nextSize(size: number, length: number): number {
  const fitting = Math.floor((PORTION_LENGTH * size) / Math.max(length, 1))
  return Math.max(1, Math.min(fitting, size * 2, MAX_PORTION))
}

function lengthOf(portion: readonly (HasText | null)[]): number {
  return portion.reduce((sum, item) => sum + (item?.text.length ?? 0), 0)
}
