// A cache of finished replies by user, state version and operation, in bounded memory. No reply is stale: the caller reads the state
// version for each request.
import { randomUUID } from 'node:crypto'
import type { LiveSession } from '../../store/contract.ts'
import type { GatewayResponse } from '../response.ts'

/** What a reply costs beside its body: headers, key, bookkeeping. */
const OVERHEAD_BYTES = 1_024
/** A reply larger than this part of the cache is not kept. */
const MAX_PART = 1 / 16
/**
 * The replies of one user take no more than this part of the cache: past it the least recently used of them go. Copies may take more
 * where there is room; where there is not, those past this part go first to make room for another of the same user.
 */
const MAX_USER_PART = 1 / 8
/** Copies that are being made reserve no more than this part of the cache, all together: so none is larger. */
const MAX_RESERVED_PART = 1 / 2

/** A viewer whose responses must not be cached: its reads spanned two versions of the workspace. */
export function uncacheable(viewer: LiveSession): LiveSession {
  return { ...viewer, userId: null, stateVersion: randomUUID() }
}

export interface ResponseCache {
  /** The reply that was kept for this user, at the viewer's state version. `operation` is text that names the request. */
  readonly find: (viewer: LiveSession, operation: string) => GatewayResponse | undefined
  /** Keeps a reply that was made of the state that the viewer's state version names. Streamed replies are not kept. */
  readonly keep: (viewer: LiveSession, operation: string, reply: GatewayResponse) => void
  /** The copy that was kept under this name. What has a name never changes. */
  readonly findCopy: (name: string) => Copy | undefined
  /** Keeps a copy whose bytes were reserved, as one of this user. */
  readonly keepCopy: (userId: number, name: string, copy: Copy) => void
  /** Reserves room for a copy of this user that is being made. False where there is not enough: then nothing is reserved. */
  readonly reserve: (userId: number, byteLength: number) => boolean
  readonly release: (byteLength: number) => void
  readonly size: () => CacheSize
}

export interface CacheSize {
  /** Also those that are reserved for copies that are being made. */
  readonly bytes: number
  readonly maxBytes: number
  /** Replies and copies. */
  readonly entries: number
}

/** In pieces, as it was made. */
export interface Copy {
  /** Emptied when the copy is dropped: a reader then keeps no more than its current chunk in memory. */
  readonly chunks: Uint8Array[]
  readonly byteLength: number
  isDropped: boolean
}

export function dropCopy(copy: Copy): void {
  copy.isDropped = true
  copy.chunks.length = 0
}

/** What is dropped at once: all replies of a user, or a copy. */
interface Entry {
  bytes: number
  /** The reference bit of CLOCK: set when the entry is used. A sweep that meets it clears it, and spares the entry. */
  isReferenced: boolean
}

interface UserResponses extends Entry {
  readonly stateVersion: string
  readonly replies: Map<string, GatewayResponse>
  /** The operation, and below the reply, that was found last: a client often repeats a request. */
  lastOperation: string | null
  lastReply: GatewayResponse | undefined
}

interface UserCopies {
  /** Used the longest ago first. */
  readonly entries: Set<CachedEntry>
  bytes: number
}

interface CachedEntry extends Entry {
  readonly copy: Copy
  /** All of the same user. */
  readonly own: UserCopies
}

/** Evicts by CLOCK: first the entries that were not used since the last sweep. Nothing expires. `maxBytes` 0 keeps nothing. */
export function createResponseCache(maxBytes: number): ResponseCache {
  const users = new Map<number, UserResponses>()
  const copies = new Map<string, CachedEntry>()
  const copiesByUser = new Map<number, UserCopies>()
  /** In the order of the sweep; each with what removes it from the maps above. */
  const entries = new Map<Entry, () => void>()
  let bytes = 0
  let reserved = 0

  function drop(entry: Entry): void {
    entries.get(entry)?.()
    entries.delete(entry)
    bytes -= entry.bytes
  }

  /** For one of this user: what they have beyond their share goes first, then what was not used since the last sweep. */
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

  /** A user over their share loses their own least recently used replies, even if there is room elsewhere. */
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
      // The map is in the order of last use.
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
      // The reply that was found last is not the last of the map any more: the next `find` moves it there.
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

/** What zlib or Buffer answers is often a part of up to 64 KiB: who keeps the part would keep all of that. */
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
