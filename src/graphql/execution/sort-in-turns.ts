// A merge sort that is spread over turns of the event loop, for lists that may be long.
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'

/** Items that are sorted or merged in one turn: less than a millisecond of work. */
export const SORTED_AT_ONCE = 1_000

/** A sorted copy; equal items keep their order. */
export async function sortInTurns<T extends object>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  yieldTurn: YieldTurn,
): Promise<readonly T[]> {
  let runs: (readonly T[])[] = []
  for (let at = 0; at < items.length; at += SORTED_AT_ONCE) {
    await yieldTurn()
    runs.push(items.slice(at, at + SORTED_AT_ONCE).sort(compare))
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], compare, yieldTurn))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function merge<T extends object>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
  yieldTurn: YieldTurn,
): Promise<readonly T[]> {
  const merged: T[] = []
  let at = 0
  for (const item of left) {
    for (let next = right[at]; next !== undefined && compare(next, item) < 0; next = right[at]) {
      if (merged.length % SORTED_AT_ONCE === 0) await yieldTurn()
      merged.push(next)
      at += 1
    }
    if (merged.length % SORTED_AT_ONCE === 0) await yieldTurn()
    merged.push(item)
  }
  return merged.concat(right.slice(at))
}
