// What a line says of a user or an address, kept for the next line: one look at a map of flat texts. Each further object on the way to
// them would be one more miss of the processor's cache, which costs more than all that is written.

/** `make` for each key; of so many keys, the newest, what it answered is kept. */
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
