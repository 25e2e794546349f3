// How far a part of a page reaches, from the sizes of its items: no text is read to know.
import { MAX_ITEMS_WITHIN, type PageWithin } from '../../reads-contract.ts'

export interface ItemSize {
  readonly position: number
  readonly byteLength: number
}

export interface Reach {
  /** Positions of the item that comes first in the walk, and last. */
  readonly first: number
  readonly last: number
  readonly isCut: boolean
}

/** `walk` answers sizes in the direction of the page. Null where there are none. Takes one past the end at most. */
export function reachWithin(walk: () => Iterable<ItemSize>, { limit, maxBytes }: PageWithin): Reach | null {
  let [count, total, first, last] = [0, 0, 0, 0]
  // Begun only to be ended: a statement that nobody takes rows of keeps its connection busy.
  if (limit === 0) return null
  for (const { position, byteLength } of walk()) {
    if (total > maxBytes || count === MAX_ITEMS_WITHIN) return { first, last, isCut: true }
    if (count === 0) first = position
    last = position
    total += byteLength
    count += 1
    if (count === limit) break
  }
  return count === 0 ? null : { first, last, isCut: false }
}
