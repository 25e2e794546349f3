// Computes how far a part of a page reaches from the sizes of its items, without reading their texts.
import { MAX_ITEMS_WITHIN, type PageWithin } from '../../reads-contract.ts'

export interface ItemSize {
  readonly position: number
  readonly byteLength: number
}

export interface Reach {
  /** Positions of the first and the last item in walking order. */
  readonly first: number
  readonly last: number
  readonly isCut: boolean
}

/** `walk` yields sizes in the direction of the page. Null if it yields none. Reads at most one item beyond the part. */
export function reachWithin(walk: () => Iterable<ItemSize>, { limit, maxBytes }: PageWithin): Reach | null {
  let [count, total, first, last] = [0, 0, 0, 0]
  // Return before starting the walk: a statement whose rows nobody reads keeps its connection busy.
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
