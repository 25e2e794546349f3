// Caches what a log line says about a user or an address in one flat map of strings: each further object on the way
// would be another CPU cache miss, which costs more than writing the whole line.

/** Caches the results of `make` for the newest `max` keys. */
export function createKnown(max: number, make: (key: string) => string): (key: string) => string {
  const known = new Map<string, string>()

  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const made = make(key)
    known.set(key, made)
    const [oldest] = known.size > max ? known.keys() : []
    if (oldest !== undefined) known.delete(oldest)
    return made
  }
}
