// Random numbers that repeat with the same seed.

export interface SeededRandom {
  /** A whole number from 0 to `limit` - 1. */
  readonly below: (limit: number) => number
  /** At most `count` of the items, each at most once. */
  readonly sample: <T>(items: readonly T[], count: number) => T[]
}

/** Returns numbers from 0 to 1, exclusive: Mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function createSeededRandom(seed: number): SeededRandom {
  const random = seededRandom(seed)

  function below(limit: number): number {
    return Math.floor(random() * limit)
  }

  return {
    below,
    sample(items, count) {
      const left = [...items]
      return Array.from({ length: Math.min(count, left.length) }, () => left.splice(below(left.length), 1)).flat()
    },
  }
}

export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 31)
}
