// A line in which owners take turns: who asks for much waits behind themselves, and nobody else does.

export interface FairLine<T> {
  readonly add: (owner: string, item: T) => void
  /** The oldest, or newest, of the owner whose turn it is; undefined when nobody waits. */
  readonly take: (which: 'oldest' | 'newest') => T | undefined
  /** Takes the oldest, of those who have most in the line, until `count` are left. */
  readonly takeBeyond: (count: number) => readonly T[]
  /** What has waited for longest; undefined when nobody waits. `since` tells when it was added. */
  readonly oldest: (since: (item: T) => number) => T | undefined
  readonly length: () => number
}

export function createFairLine<T>(): FairLine<T> {
  /** Never empty ones, in the order in which their owners have their turn. */
  const lines = new Map<string, T[]>()
  let length = 0

  /** How many of each are left when there is room for `count`. */
  function sharesOf(count: number): ReadonlyMap<string, number> {
    const shares = new Map<string, number>()
    let left = Math.min(count, length)
    for (let round = 1; left > 0; round += 1) {
      for (const [owner, line] of lines) {
        if (left === 0) break
        if (line.length < round) continue
        shares.set(owner, round)
        left -= 1
      }
    }
    return shares
  }

  return {
    add(owner, item) {
      const line = lines.get(owner)
      if (line) line.push(item)
      else lines.set(owner, [item])
      length += 1
    },
    take(which) {
      const [next] = lines
      if (!next) return undefined
      const [owner, line] = next
      lines.delete(owner)
      const item = which === 'oldest' ? line.shift() : line.pop()
      if (line.length > 0) lines.set(owner, line)
      length -= 1
      return item
    },
    takeBeyond(count) {
      if (count >= length) return []
      const shares = sharesOf(count)
      const taken: T[] = []
      for (const [owner, line] of lines) {
        const share = shares.get(owner) ?? 0
        for (const item of line.splice(0, line.length - share)) taken.push(item)
        if (share === 0) lines.delete(owner)
      }
      length -= taken.length
      return taken
    },
    oldest(since) {
      let found: T | undefined
      for (const [first] of lines.values()) {
        if (first !== undefined && (found === undefined || since(first) < since(found))) found = first
      }
      return found
    },
    length: () => length,
  }
}
