// Token buckets by key, in bounded memory: the least recently used bucket is evicted, which makes it full again.
import { LRUCache } from 'lru-cache'

/** Some 120 bytes each, with a long email in the key: under 2 MB per table. */
const MAX_BUCKETS = 16_384
/** Maximum rounding error of a sum of intervals, which are not always binary fractions. */
const ROUNDING_MS = 0.05

export interface TokenBuckets {
  /** Milliseconds until this bucket has a token; 0 if it has one. Does not take it. */
  readonly waitMs: (key: string) => number
  /** Takes a token. The bucket must have one. */
  readonly take: (key: string) => void
}

/**
 * A bucket holds `quota` tokens and refills evenly within `windowSeconds`. It is stored as one number: the time at
 * which it will be full (generic cell rate algorithm, virtual scheduling: ITU-T I.371 annex A).
 */
export function createTokenBuckets(quota: number, windowSeconds: number, clock: () => number): TokenBuckets {
  const windowMs = windowSeconds * 1_000
  const intervalMs = windowMs / quota
  const fullAt = new LRUCache<string, number>({ max: MAX_BUCKETS })

  /** If a bucket would take longer to fill than an empty one, the clock was set back since: it counts as empty now. */
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
