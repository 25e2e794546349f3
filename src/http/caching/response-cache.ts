// Finished replies by user, stateVersion and operation, in bounded memory; who asks names the operation. Coherent by construction: the stateVersion
// was read for this very request.
import { randomUUID } from 'node:crypto'
import type { LiveSession } from '../../store/contract.ts'
import type { GatewayResponse } from '../response.ts'

/** What a reply costs beside its body: headers, key, bookkeeping. */
const OVERHEAD_BYTES = 1_024
/** A reply larger than this part of the cache is not kept. */
const MAX_PART = 1 / 16
/** One user's replies take no more than this part of it: past that they make room for each other. */
const MAX_USER_PART = 1 / 8
/** What copies may take while they are being made, all together: none becomes larger than this. */
const MAX_RESERVED_PART = 1 / 2

/** A viewer whose responses must not be cached: its reads spanned two versions of the workspace. */
export function uncacheable(viewer: LiveSession): LiveSession {
  return { ...viewer, userId: null, stateVersion: randomUUID() }
}

export interface ResponseCache {
  /** The reply that was kept for this user in this very state. */
  readonly find: (viewer: LiveSession, operation: string) => GatewayResponse | undefined
  /** Keeps a reply that was made from the very state that the viewer's stateVersion names. Streamed replies are not kept. */
  readonly keep: (viewer: LiveSession, operation: string, reply: GatewayResponse) => void
  /** A copy of what never changes under its name. */
  readonly findCopy: (name: string) => Copy | undefined
  /** Keeps a copy whose bytes were reserved. */
  readonly keepCopy: (name: string, copy: Copy) => void
  /** Takes room for a copy that is being made; false, and nothing is taken, when there is not as much. */
  readonly reserve: (byteLength: number) => boolean
  readonly release: (byteLength: number) => void
  readonly size: () => CacheSize
}

export interface CacheSize {
  /** With what is reserved for copies that are being made. */
  readonly bytes: number
  readonly maxBytes: number
  /** Replies, and copies. */
  readonly entries: number
}

/** In pieces, as it was made. */
export interface Copy {
  /** Empty once the copy is dropped: a reader then holds no more than the chunk at hand. */
  readonly chunks: Uint8Array[]
  readonly byteLength: number
  isDropped: boolean
}

export function dropCopy(copy: Copy): void {
  copy.isDropped = true
  copy.chunks.length = 0
}

/** Kept and dropped as one. */
interface Entry {
  bytes: number
  /** Asked for since it was last passed over: spared once more. */
  isReferenced: boolean
}

interface UserResponses extends Entry {
  readonly stateVersion: string
  readonly replies: Map<string, GatewayResponse>
  /** The one that was found last: a client often asks for the same. */
  lastOperation: string | null
  lastReply: GatewayResponse | undefined
}

interface CachedEntry extends Entry {
  readonly copy: Copy
}

/** `maxBytes` 0 keeps nothing. What nobody asked for makes room first (CLOCK), a user's replies at once; nothing expires. */
export function createResponseCache(maxBytes: number): ResponseCache {
  const users = new Map<number, UserResponses>()
  const copies = new Map<string, CachedEntry>()
  /** In the order in which they are passed over. */
  const entries = new Map<Entry, () => void>()
  let bytes = 0
  let reserved = 0

  function drop(entry: Entry): void {
    entries.get(entry)?.()
    entries.delete(entry)
    bytes -= entry.bytes
  }

  function makeRoom(): void {
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
      // The most recently used one is the last in order.
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
      entry.replies.set(operation, reply)
      // The one that was found last is no longer the last in order: the next who finds it moves it there.
      entry.lastReply = undefined
      entry.bytes += size
      bytes += size
      makeRoomAmong(entry)
      makeRoom()
    },
    findCopy(name) {
      const kept = copies.get(name)
      if (!kept) return undefined
      kept.isReferenced = true
      return kept.copy
    },
    keepCopy(name, copy) {
      reserved -= copy.byteLength
      const before = copies.get(name)
      if (before) drop(before)
      const entry: CachedEntry = { copy, bytes: copy.byteLength, isReferenced: true }
      copies.set(name, entry)
      entries.set(entry, () => {
        copies.delete(name)
        dropCopy(copy)
      })
    },
    reserve(byteLength) {
      if (reserved + byteLength > maxBytes * MAX_RESERVED_PART) return false
      reserved += byteLength
      bytes += byteLength
      makeRoom()
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

function sizeOf({ body }: GatewayResponse, operation: string): number | null {
  if (!(body instanceof Uint8Array)) return null
  return body.byteLength + operation.length * 2 + OVERHEAD_BYTES
}
