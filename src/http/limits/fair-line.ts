// A fair queue: owners take turns, so an owner with many requests waits only behind its own.

export interface Owner {
  readonly name: string
  /**
   * False for a stranger: one attacker can pose as a thousand strangers, for instance with the addresses of an IPv6
   * network.
   */
  readonly isKnown: boolean
}

export interface FairLine<T> {
  readonly add: (owner: Owner, item: T) => void
  /** Returns false when the item is no longer in the queue. */
  readonly remove: (owner: Owner, item: T) => boolean
  /**
   * Takes items until they fill `places`, oldest of each owner first. The owner that has waited longest for a turn is
   * first.
   */
  readonly takeOldest: (places: number) => readonly T[]
  /**
   * Takes items until they fill `places`, in no particular order: the newest of each owner first, known owners first,
   * and among them those with the newest request first.
   */
  readonly takeNewest: (places: number) => readonly T[]
  /** Takes the oldest items of the owners with most items in the queue, until `count` items are left. */
  readonly takeBeyond: (count: number) => readonly T[]
  /** Takes all items that were added before `since`, but none of owners with at most `spared` items. */
  readonly takeBefore: (since: number, spared: number) => readonly T[]
  readonly has: (owner: Owner) => boolean
  /** When the item that has waited longest was added; null for an empty queue. */
  readonly oldestSince: () => number | null
  readonly length: () => number
  /** Number of owners with items in the queue. */
  readonly ownerCount: () => number
}

interface OwnLine<T> {
  readonly owner: Owner
  readonly items: T[]
}

function lastOf({ items }: OwnLine<{ readonly since: number }>): number {
  return items.at(-1)?.since ?? 0
}

/** One stranger comes after this many known owners, because a user who is about to sign in is still a stranger. */
const KNOWN_PER_STRANGER = 3

function knownFirst<T>(lines: readonly OwnLine<T>[]): readonly OwnLine<T>[] {
  const strangers = lines.filter(({ owner }) => !owner.isKnown)
  if (strangers.length === 0) return lines
  const known = lines.filter(({ owner }) => owner.isKnown)
  let placed = 0
  const mixed = known.flatMap((line, at) => {
    const next = (at + 1) % KNOWN_PER_STRANGER === 0 ? strangers[placed++] : undefined
    return next ? [line, next] : [line]
  })
  return [...mixed, ...strangers.slice(placed)]
}

const ONE_PLACE = () => 1

/** `placesOf` returns how many places an item fills. Most items fill one. */
export function createFairLine<T extends { readonly since: number }>(
  placesOf: (item: T) => number = ONE_PLACE,
): FairLine<T> {
  /** By owner. No line is empty. The first owner has the next turn; an owner that had a turn moves to the end. */
  const lines = new Map<string, OwnLine<T>>()
  let length = 0

  /**
   * Counts how many of each owner's newest items it takes to fill `places`. In each round, the owner with the newest
   * item comes first.
   */
  function newestOf(places: number, fills: (item: T) => number): ReadonlyMap<OwnLine<T>, number> {
    const shares = new Map<OwnLine<T>, number>()
    const newestFirst = knownFirst([...lines.values()].sort((a, b) => lastOf(b) - lastOf(a)))
    let [left, others] = [places, length]
    for (let round = 1; left > 0 && others > 0; round += 1) {
      for (const line of newestFirst) {
        const item = line.items.at(-round)
        if (!item) continue
        if (left <= 0) break
        shares.set(line, round)
        left -= fills(item)
        others -= 1
      }
    }
    return shares
  }

  /** Applies `takeFrom` to each line and returns everything it removed. */
  function takeFromEach(takeFrom: (line: OwnLine<T>) => readonly T[]): readonly T[] {
    const taken = [...lines.values()].flatMap(takeFrom)
    for (const [name, { items }] of lines) if (items.length === 0) lines.delete(name)
    length -= taken.length
    return taken
  }

  return {
    add(owner, item) {
      length += 1
      const known = lines.get(owner.name)
      if (known) known.items.push(item)
      else lines.set(owner.name, { owner, items: [item] })
    },
    remove(owner, item) {
      const items = lines.get(owner.name)?.items
      const at = items?.indexOf(item) ?? -1
      if (!items || at === -1) return false
      items.splice(at, 1)
      length -= 1
      if (items.length === 0) lines.delete(owner.name)
      return true
    },
    takeOldest(places) {
      const taken: T[] = []
      let left = places
      // The loop also comes to the lines that it moves to the end.
      for (const [name, line] of lines) {
        if (left <= 0) break
        const item = line.items.shift()
        if (!item) break
        taken.push(item)
        left -= placesOf(item)
        lines.delete(name)
        if (line.items.length > 0) lines.set(name, line)
      }
      length -= taken.length
      return taken
    },
    takeNewest(places) {
      const taken = newestOf(places, placesOf)
      return takeFromEach((line) => line.items.splice(line.items.length - (taken.get(line) ?? 0)).toReversed())
    },
    takeBeyond(count) {
      if (count >= length) return []
      const kept = newestOf(count, ONE_PLACE)
      return takeFromEach((line) => line.items.splice(0, line.items.length - (kept.get(line) ?? 0)))
    },
    takeBefore(since, spared) {
      return takeFromEach(({ items }) => {
        if (items.length <= spared) return []
        const kept = items.findIndex((item) => item.since >= since)
        return items.splice(0, kept === -1 ? items.length : kept)
      })
    },
    has: ({ name }) => lines.has(name),
    oldestSince() {
      if (length === 0) return null
      let oldest = Number.POSITIVE_INFINITY
      for (const { items } of lines.values()) oldest = Math.min(oldest, items[0]?.since ?? oldest)
      return oldest
    },
    length: () => length,
    ownerCount: () => lines.size,
  }
}
