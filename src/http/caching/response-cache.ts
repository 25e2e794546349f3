// Caches finished replies by user, state version and operation in bounded memory. No cached reply is stale, because the
// caller reads the state version for each request.
import { randomUUID } from 'node:crypto'
import type { LiveSession } from '../../store/contract.ts'
import type { GatewayResponse } from '../response.ts'

/** Memory that a reply takes besides its body: headers, key, bookkeeping. */
const OVERHEAD_BYTES = 1_024
/** A reply larger than this fraction of the cache is not cached. */
const MAX_PART = 1 / 16
/**
 * The replies of one user take at most this fraction of the cache: beyond it, the least recently used of them are
 * evicted. Copies may take more while there is room. When room is short, a new copy first evicts the same user's copies
 * beyond this fraction.
 */
const MAX_USER_PART = 1 / 8
/** Copies in the making reserve at most this fraction of the cache in total, so no copy is larger. */
const MAX_RESERVED_PART = 1 / 2

/** Returns a viewer whose responses are never cached, for reads that spanned two versions of the workspace. */
export function uncacheable(viewer: LiveSession): LiveSession {
  return { ...viewer, userId: null, stateVersion: randomUUID() }
}

export interface ResponseCache {
  /**
   * Returns the cached reply of this user at the viewer's state version. `operation` is a text that names the request.
   */
  readonly find: (viewer: LiveSession, operation: string) => GatewayResponse | undefined
  /** Caches a reply that was made from the state that the viewer's state version names. Ignores streamed replies. */
  readonly keep: (viewer: LiveSession, operation: string, reply: GatewayResponse) => void
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
  readonly size: () => CacheSize
}

export interface CacheSize {
  /** Includes the bytes reserved for copies in the making. */
  readonly bytes: number
  readonly maxBytes: number
  /** Replies and copies. */
  readonly entries: number
}

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

/** The unit of eviction: all replies of one user, or one copy. */
interface Entry {
  bytes: number
  /**
   * The reference bit of CLOCK: set when the entry is used. A sweep that meets a set bit clears it and spares the
   * entry.
   */
  isReferenced: boolean
}

interface UserResponses extends Entry {
  readonly stateVersion: string
  readonly replies: Map<string, GatewayResponse>
  /** The operation, and below it the reply, of the last cache hit: a client often repeats a request. */
  lastOperation: string | null
  lastReply: GatewayResponse | undefined
}

interface UserCopies {
  /** Least recently used first. */
  readonly entries: Set<CachedEntry>
  bytes: number
}

interface CachedEntry extends Entry {
  readonly copy: Copy
  /** All copies of the same user. */
  readonly own: UserCopies
}

/**
 * Evicts by CLOCK: entries that were not used since the last sweep go first. Nothing expires. With `maxBytes` 0 nothing
 * is cached.
 */
export function createResponseCache(maxBytes: number): ResponseCache {
  const users = new Map<number, UserResponses>()
  const copies = new Map<string, CachedEntry>()
  const copiesByUser = new Map<number, UserCopies>()
  /** In sweep order. Each value is a function that removes the entry from the maps above. */
  const entries = new Map<Entry, () => void>()
  let bytes = 0
  let reserved = 0

  function drop(entry: Entry): void {
    entries.get(entry)?.()
    entries.delete(entry)
    bytes -= entry.bytes
  }

  /**
   * Makes room for an entry of this user. Evicts the user's copies beyond their share first, then entries that were not
   * used since the last sweep.
   */
  function makeRoom(userId: number): void {
    const own = copiesByUser.get(userId)
    for (const entry of own?.entries ?? []) {
      const isOverShare = entry.own.entries.size > 1 && entry.own.bytes > maxBytes * MAX_USER_PART
      if (bytes <= maxBytes || !isOverShare) break
      drop(entry)
    }
    for (const [entry, forget] of entries) {
      if (bytes <= maxBytes) return
      if (entry.isReferenced) {
        entry.isReferenced = false
        entries.delete(entry)
        entries.set(entry, forget)
      } else {
        drop(entry)
      }
    }
  }

  /** A user over their share loses their own least recently used replies, even if the cache has room. */
  function makeRoomAmong(entry: UserResponses): void {
    for (const [operation, reply] of entry.replies) {
      if (entry.bytes <= maxBytes * MAX_USER_PART) return
      const size = sizeOf(reply, operation) ?? 0
      entry.replies.delete(operation)
      entry.bytes -= size
      bytes -= size
    }
  }

  function addUser(userId: number, stateVersion: string): UserResponses {
    const entry: UserResponses = {
      stateVersion,
      replies: new Map(),
      lastOperation: null,
      lastReply: undefined,
      bytes: 0,
      isReferenced: false,
    }
    users.set(userId, entry)
    entries.set(entry, () => users.delete(userId))
    return entry
  }

  function addCopy(userId: number, name: string, copy: Copy, byteLength: number): void {
    const own = copiesByUser.get(userId) ?? { entries: new Set(), bytes: 0 }
    const entry: CachedEntry = { copy, own, bytes: byteLength, isReferenced: true }
    own.entries.add(entry)
    own.bytes += byteLength
    copiesByUser.set(userId, own)
    copies.set(name, entry)
    entries.set(entry, () => {
      copies.delete(name)
      own.entries.delete(entry)
      own.bytes -= byteLength
      if (own.entries.size === 0) copiesByUser.delete(userId)
      dropCopy(copy)
    })
  }

  return {
    find({ userId, stateVersion }, operation) {
      if (userId === null) return undefined
      const entry = users.get(userId)
      if (entry?.stateVersion !== stateVersion) return undefined
      if (entry.lastOperation === operation && entry.lastReply) {
        entry.isReferenced = true
        return entry.lastReply
      }
      const reply = entry.replies.get(operation)
      if (!reply) return undefined
      entry.isReferenced = true
      // The map is in LRU order.
      entry.replies.delete(operation)
      entry.replies.set(operation, reply)
      entry.lastOperation = operation
      entry.lastReply = reply
      return reply
    },
    keep({ userId, stateVersion }, operation, reply) {
      const size = sizeOf(reply, operation)
      if (userId === null || size === null || size > maxBytes * MAX_PART) return
      const before = users.get(userId)
      if (before && before.stateVersion !== stateVersion) drop(before)
      const entry = before?.stateVersion === stateVersion ? before : addUser(userId, stateVersion)
      if (entry.replies.has(operation)) return
      entry.replies.set(operation, withOwnMemory(reply))
      // The last hit is no longer the newest entry of the map: clearing it makes the next `find` move it to the end.
      entry.lastReply = undefined
      entry.bytes += size
      bytes += size
      makeRoomAmong(entry)
      makeRoom(userId)
    },
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
      if (before) drop(before)
      for (const [at, chunk] of copy.chunks.entries()) copy.chunks[at] = inOwnMemory(chunk)
      const beside = name.length * 2 + OVERHEAD_BYTES
      bytes += beside
      addCopy(userId, name, copy, copy.byteLength + beside)
      makeRoom(userId)
    },
    reserve(userId, byteLength) {
      if (reserved + byteLength > maxBytes * MAX_RESERVED_PART) return false
      reserved += byteLength
      bytes += byteLength
      makeRoom(userId)
      return true
    },
    release(byteLength) {
      reserved -= byteLength
      bytes -= byteLength
    },
    size() {
      const replies = users.values().reduce((sum, user) => sum + user.replies.size, 0)
      return { bytes, maxBytes, entries: replies + copies.size }
    },
  }
}

function withOwnMemory(reply: GatewayResponse): GatewayResponse {
  if (!(reply.body instanceof Uint8Array)) return reply
  const body = inOwnMemory(reply.body)
  return body === reply.body ? reply : { ...reply, body }
}

/** A Buffer from zlib is often a slice of up to 64 KiB: caching the slice would keep all of that alive. */
function inOwnMemory(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.byteLength)
  own.set(bytes)
  return own
}

function sizeOf({ body }: GatewayResponse, operation: string): number | null {
  if (!(body instanceof Uint8Array)) return null
  return body.byteLength + operation.length * 2 + OVERHEAD_BYTES
}
