// Token buckets by key, in bounded memory: the bucket that was not asked for the longest is forgotten, which fills it.
import { LRUCache } from 'lru-cache'

/** Some 120 bytes each, with a long email in the key: under 2 MB a table. */
const MAX_BUCKETS = 16_384
/** Sums of intervals that are no binary fractions are this far off at most. */
const ROUNDING_MS = 0.05

export interface TokenBuckets {
  /** Milliseconds until this bucket has a token; 0 when it has one. Takes nothing. */
  readonly waitMs: (key: string) => number
  /** Takes a token, which must be there. */
  readonly take: (key: string) => void
}

/**
 * `quota` tokens fit into a bucket, and refill evenly in `windowSeconds`. A bucket is one number: the time at which it will be
 * full (the generic cell rate algorithm, as a virtual schedule: ITU-T I.371 annex A).
 */
export function createTokenBuckets(quota: number, windowSeconds: number, clock: () => number): TokenBuckets {
  const windowMs = windowSeconds * 1_000
  const intervalMs = windowMs / quota
  const fullAt = new LRUCache<string, number>({ max: MAX_BUCKETS })

  /** A bucket that would fill for longer than an empty one was noted before the clock was set back: it counts as empty now. */
  function fullAtOf(key: string, now: number): number {
    const noted = fullAt.get(key) ?? now
    if (noted - now <= windowMs + ROUNDING_MS) return noted
    fullAt.set(key, now + windowMs)
    return now + windowMs
  }

  return {
    waitMs(key) {
      const now = clock()
      const emptyForMs = fullAtOf(key, now) - now - (quota - 1) * intervalMs
      return emptyForMs > ROUNDING_MS ? emptyForMs : 0
    },
    take(key) {
      const now = clock()
      fullAt.set(key, Math.max(fullAtOf(key, now), now) + intervalMs)
    },
  }
}
