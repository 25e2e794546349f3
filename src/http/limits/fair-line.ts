// A line in which owners take turns: who asks for much waits behind themselves, and nobody else does.

export interface FairLine<T> {
  readonly add: (owner: string, item: T) => void
  /** The first of the owner who waits for longest for a turn; undefined when nobody waits. */
  readonly takeOldest: () => T | undefined
  /** The last of the owner who came last and had no turn yet; undefined when nobody waits. */
  readonly takeNewest: () => T | undefined
  /** Takes the oldest, of those who have most in the line, until `count` are left. */
  readonly takeBeyond: (count: number) => readonly T[]
  /** When the one that waits for longest was added; null when nobody waits. */
  readonly oldestSince: () => number | null
  readonly length: () => number
}

interface OwnLine<T> {
  readonly owner: string
  readonly items: T[]
}

export function createFairLine<T extends { readonly since: number }>(): FairLine<T> {
  /** Never empty ones. The owner of the first has the next turn; who had one is behind the others. */
  let lines: OwnLine<T>[] = []
  const lineOf = new Map<string, OwnLine<T>>()
  let length = 0

  function afterTurn(line: OwnLine<T>, waitOn: (line: OwnLine<T>) => void): void {
    length -= 1
    if (line.items.length > 0) waitOn(line)
    else lineOf.delete(line.owner)
  }

  /** How many of each are left when there is room for `count`: who came last comes first in each round. */
  function sharesOf(count: number): ReadonlyMap<OwnLine<T>, number> {
    const shares = new Map<OwnLine<T>, number>()
    let left = Math.min(count, length)
    for (let round = 1; left > 0; round += 1) {
      for (let at = lines.length - 1; at >= 0 && left > 0; at -= 1) {
        const line = lines[at]
        if (!line || line.items.length < round) continue
        shares.set(line, round)
        left -= 1
      }
    }
    return shares
  }

  return {
    add(owner, item) {
      length += 1
      const known = lineOf.get(owner)
      if (known) {
        known.items.push(item)
        return
      }
      const line = { owner, items: [item] }
      lineOf.set(owner, line)
      lines.push(line)
    },
    takeOldest() {
      const line = lines.shift()
      if (!line) return undefined
      const item = line.items.shift()
      afterTurn(line, (rest) => lines.push(rest))
      return item
    },
    takeNewest() {
      const line = lines.pop()
      if (!line) return undefined
      const item = line.items.pop()
      afterTurn(line, (rest) => lines.unshift(rest))
      return item
    },
    takeBeyond(count) {
      if (count >= length) return []
      const shares = sharesOf(count)
      const taken = lines.flatMap((line) => line.items.splice(0, line.items.length - (shares.get(line) ?? 0)))
      for (const { owner, items } of lines) if (items.length === 0) lineOf.delete(owner)
      lines = lines.filter(({ items }) => items.length > 0)
      length -= taken.length
      return taken
    },
    oldestSince() {
      if (length === 0) return null
      return lines.reduce(
        (oldest, { items: [first] }) => Math.min(oldest, first?.since ?? oldest),
        Number.POSITIVE_INFINITY,
      )
    },
    length: () => length,
  }
}
