// An LRU cache bounded in bytes, in which an owner who exceeds their share evicts their own entries, not those of
// others.
import { LRUCache } from 'lru-cache'

export interface DocumentCacheOptions {
  /** Maximum bytes of cached documents with their plans; 0 turns the cache off. */
  readonly maxBytes: number
  /** The share of `maxBytes` that one owner (a user) may fill, 0 to 1. */
  readonly maxShare: number
}

/**
 * Evicts the least recently used entries first. An entry that two owners have used belongs to nobody: it counts against
 * no share, and no owner's share evicts it.
 */
export interface DocumentCache<V> {
  /** Bytes that one owner may fill. */
  readonly maxOwnedBytes: number
  readonly get: (key: string, owner: number) => V | undefined
  /** Does nothing if the entry is larger than an owner's share. */
  readonly set: (key: string, owner: number, value: V, byteLength: number) => void
  /**
   * Sets another size for an entry, which counts as a use of it. Does nothing if the key has another value by now, or
   * was evicted. `byteLength` must not exceed an owner's share.
   */
  readonly resize: (key: string, value: V, byteLength: number) => void
}

interface Entry<V> {
  readonly value: V
  readonly byteLength: number
  /** Null once somebody other than the owner has used the entry. */
  owner: number | null
}

interface Owned {
  byteLength: number
  /** Least recently used first. */
  readonly keys: Set<string>
}

export function createDocumentCache<V>({ maxBytes, maxShare }: DocumentCacheOptions): DocumentCache<V> {
  const maxOwnedBytes = Math.floor(maxBytes * maxShare)
  const owners = new Map<number, Owned>()
  // lru-cache does not accept a bound of 0. With `maxBytes` 0 nothing is ever added, so 1 is as good.
  const entries = new LRUCache<string, Entry<V>>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ byteLength }) => byteLength,
    dispose: (entry, key) => disown(key, entry),
  })

  function disown(key: string, { owner, byteLength }: Entry<V>): void {
    const owned = owner === null ? undefined : owners.get(owner)
    if (owner === null || !owned?.keys.delete(key)) return
    owned.byteLength -= byteLength
    if (owned.keys.size === 0) owners.delete(owner)
  }

  function own(key: string, owner: number, byteLength: number): void {
    const owned = owners.get(owner) ?? { byteLength: 0, keys: new Set<string>() }
    owners.set(owner, owned)
    owned.keys.add(key)
    owned.byteLength += byteLength
    for (const oldest of owned.keys) {
      if (owned.byteLength <= maxOwnedBytes) return
      entries.delete(oldest)
    }
  }

  return {
    maxOwnedBytes,
    get(key, owner) {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (entry.owner !== null && entry.owner !== owner) {
        disown(key, entry)
        entry.owner = null
      } else {
        const keys = owners.get(owner)?.keys
        if (keys?.delete(key)) keys.add(key)
      }
      return entry.value
    },
    set(key, owner, value, byteLength) {
      if (byteLength > maxOwnedBytes) return
      entries.set(key, { value, byteLength, owner })
      own(key, owner, byteLength)
    },
    resize(key, value, byteLength) {
      const entry = entries.peek(key)
      if (entry?.value !== value) return
      const { owner } = entry
      entries.set(key, { value, byteLength, owner })
      if (owner !== null) own(key, owner, byteLength)
    },
  }
}
