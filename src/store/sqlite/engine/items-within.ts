// Reads a part of a page: the sizes of its items tell how far it reaches, before their texts are read.
import { MAX_ITEMS_WITHIN, type PagePart, type PageWithin } from '../../reads-contract.ts'

export interface ItemSize {
  readonly position: number
  readonly byteLength: number
}

interface Reach {
  /** Positions of the first and the last item in walking order. */
  readonly first: number
  readonly last: number
  readonly isCut: boolean
}

/**
 * `walk` yields sizes in the direction of the page; at most one beyond the part is taken. `read` returns the items from
 * the first to the last of these positions.
 */
export function partWithin<T>(
  page: PageWithin,
  walk: () => Iterable<ItemSize>,
  read: (first: number, last: number) => readonly T[],
): PagePart<T> {
  const reach = reachWithin(walk, page)
  if (!reach) return { items: [], isCut: false }
  const [first, last] = page.fromEnd ? [reach.last, reach.first] : [reach.first, reach.last]
  return { items: read(first, last), isCut: reach.isCut }
}

/** Null if `walk` yields nothing. */
function reachWithin(walk: () => Iterable<ItemSize>, { limit, maxBytes }: PageWithin): Reach | null {
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
