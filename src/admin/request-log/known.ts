// Caches what a log line says about a user or an address in one flat map of strings: each further object on the way
// would be another CPU cache miss, which costs more than writing the whole line.

/**
 * The part of a full cache that is evicted at a time. V8 finds the first key of a map by stepping over all that were
 * deleted before it: to do that for each new key takes longer than writing the line.
 */
const EVICTED_PART = 1 / 16

/** Caches the results of `make` for at most `max` keys, the newest ones. */
export function createKnown(max: number, make: (key: string) => string): (key: string) => string {
  const known = new Map<string, string>()
  const keptWhenFull = Math.ceil(max * (1 - EVICTED_PART))

  function evictOldest(): void {
    for (const key of known.keys()) {
      if (known.size <= keptWhenFull) return
      known.delete(key)
    }
  }

  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const made = make(key)
    known.set(key, made)
    if (known.size > max) evictOldest()
    return made
  }
}
