// Documents and elements that are asked for by name are read a few at a time: how long they are is known when they are there.
import type { Pace } from '../../http/limits/turn-quota.ts'
import type { HasText } from './member-field.ts'

/** What is read before the budget of the request sees how long it is. A page of a frontend is one read. */
const MAX_PORTION = 16

type ReadByName<K, V extends HasText> = (keys: readonly K[]) => Promise<readonly (V | null)[]>

/** The same read in portions, each as `read` answers it and counts it, before the next is asked for. */
export function inPortions<K, V extends HasText>(read: ReadByName<K, V>, paceReading: Pace): ReadByName<K, V> {
  async function readLong(keys: readonly K[]): Promise<readonly (V | null)[]> {
    const found: (V | null)[] = []
    for (let at = 0; at < keys.length; at += MAX_PORTION) {
      const portion = await read(keys.slice(at, at + MAX_PORTION))
      found.push(...portion)
      // The next one is about as long.
      await paceReading(lengthOf(portion))
    }
    return found
  }

  return (keys) => (keys.length <= MAX_PORTION ? read(keys) : readLong(keys))
}

function lengthOf(portion: readonly (HasText | null)[]): number {
  return portion.reduce((sum, item) => sum + (item?.text.length ?? 0), 0)
}
