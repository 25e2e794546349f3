// Caches long bodies, such as compressed exports, as copies by name, within the memory of the response cache.
import { inOwnMemory, occupiedBytes } from './cached-bytes.ts'
import type { ClockMemory, Entry } from './clock-memory.ts'

/** Copies in the making reserve at most this fraction of the memory in total, so no copy is larger. */
const MAX_RESERVED_PART = 1 / 2

/** A finished body, in the chunks it was made in. */
export interface Copy {
  /** Emptied when the copy is evicted, so that a reader keeps only its current chunk in memory. */
  readonly chunks: Uint8Array[]
  readonly byteLength: number
  isDropped: boolean
}

export function dropCopy(copy: Copy): void {
  copy.isDropped = true
  copy.chunks.length = 0
}

export interface CopyCache {
  /** Returns the cached copy with this name. The bytes behind a name never change. */
  readonly findCopy: (name: string) => Copy | undefined
  /** Caches a copy whose bytes were reserved, as an entry of this user. */
  readonly keepCopy: (userId: number, name: string, copy: Copy) => void
  /**
   * Reserves room for a copy that is being made for this user. Returns false, and reserves nothing, when there is not
   * enough.
   */
  readonly reserve: (userId: number, byteLength: number) => boolean
  readonly release: (byteLength: number) => void
}

interface OpenCopyCache {
  readonly copyCache: CopyCache
  /**
   * Makes room for an entry of this user while the memory is overfull. Evicts the user's copies beyond their share
   * first, then what the memory evicts.
   */
  readonly makeRoom: (userId: number) => void
  readonly copyCount: () => number
}

interface UserCopies {
  /** Least recently used first. */
  readonly entries: Set<CachedCopy>
  bytes: number
}

interface CachedCopy extends Entry {
  readonly copy: Copy
  /** All copies of the same user. */
  readonly own: UserCopies
}

/** `maxUserBytes` is the share of one user, which the user's copies exceed only while there is room. */
export function createCopyCache(memory: ClockMemory, maxUserBytes: number): OpenCopyCache {
  const copies = new Map<string, CachedCopy>()
  const copiesByUser = new Map<number, UserCopies>()
  let reserved = 0

  function makeRoom(userId: number): void {
    const own = copiesByUser.get(userId)
    if (own) dropBeyondShare(own)
    memory.sweep()
  }

  function dropBeyondShare(own: UserCopies): void {
    for (const entry of own.entries) {
      const isOverShare = own.entries.size > 1 && own.bytes > maxUserBytes
      if (!memory.isOverfull() || !isOverShare) return
      memory.drop(entry)
    }
  }

  function add(userId: number, name: string, copy: Copy): void {
    const own = copiesByUser.get(userId) ?? { entries: new Set(), bytes: 0 }
    const bytes = occupiedBytes(copy.byteLength, name)
    const entry: CachedCopy = { copy, own, bytes, isReferenced: true }
    own.entries.add(entry)
    own.bytes += bytes
    copiesByUser.set(userId, own)
    copies.set(name, entry)
    memory.add(entry, () => {
      copies.delete(name)
      own.entries.delete(entry)
      own.bytes -= bytes
      if (own.entries.size === 0) copiesByUser.delete(userId)
      dropCopy(copy)
    })
  }

  const copyCache: CopyCache = {
    findCopy(name) {
      const kept = copies.get(name)
      if (!kept) return undefined
      kept.isReferenced = true
      kept.own.entries.delete(kept)
      kept.own.entries.add(kept)
      return kept.copy
    },
    keepCopy(userId, name, copy) {
      reserved -= copy.byteLength
      const before = copies.get(name)
      if (before) memory.drop(before)
      for (const [at, chunk] of copy.chunks.entries()) copy.chunks[at] = inOwnMemory(chunk)
      // The bytes themselves were counted when they were reserved.
      memory.count(occupiedBytes(0, name))
      add(userId, name, copy)
      makeRoom(userId)
    },
    reserve(userId, byteLength) {
      if (reserved + byteLength > memory.maxBytes * MAX_RESERVED_PART) return false
      reserved += byteLength
      memory.count(byteLength)
      makeRoom(userId)
      return true
    },
    release(byteLength) {
      reserved -= byteLength
      memory.count(-byteLength)
    },
  }
  return { copyCache, makeRoom, copyCount: () => copies.size }
}
