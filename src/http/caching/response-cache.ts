// Caches finished replies by user, state version and operation in bounded memory. No cached reply is stale, because the
// caller reads the state version for each request.
import { randomUUID } from 'node:crypto'
import type { LiveSession } from '../../store/contract.ts'
import type { GatewayResponse } from '../response.ts'
import { inOwnMemory, occupiedBytes } from './cached-bytes.ts'
import { createClockMemory, type Entry } from './clock-memory.ts'
import { type CopyCache, createCopyCache } from './copy-cache.ts'

/** A reply larger than this fraction of the cache is not cached. */
const MAX_PART = 1 / 16
/**
 * The replies of one user take at most this fraction of the cache: beyond it, the least recently used of them are
 * evicted. Copies may take more while there is room. When room is short, a new copy first evicts the same user's copies
 * beyond this fraction.
 */
const MAX_USER_PART = 1 / 8

/** Returns a viewer whose responses are never cached, for reads that spanned two versions of the workspace. */
export function uncacheable(viewer: LiveSession): LiveSession {
  return { ...viewer, userId: null, stateVersion: randomUUID() }
}

export interface ResponseCache extends CopyCache {
  /**
   * Returns the cached reply of this user at the viewer's state version. `operation` is a text that names the request.
   */
  readonly find: (viewer: LiveSession, operation: string) => GatewayResponse | undefined
  /** Caches a reply that was made from the state that the viewer's state version names. Ignores streamed replies. */
  readonly keep: (viewer: LiveSession, operation: string, reply: GatewayResponse) => void
  readonly size: () => CacheSize
}

export interface CacheSize {
  /** Includes the bytes reserved for copies in the making. */
  readonly bytes: number
  readonly maxBytes: number
  /** Replies and copies. */
  readonly entries: number
}

/** All replies of one user: they are evicted together. */
interface UserResponses extends Entry {
  readonly stateVersion: string
  readonly replies: Map<string, GatewayResponse>
  /** The operation, and below it the reply, of the last cache hit: a client often repeats a request. */
  lastOperation: string | null
  lastReply: GatewayResponse | undefined
}

/** With `maxBytes` 0 nothing is cached. */
export function createResponseCache(maxBytes: number): ResponseCache {
  const maxUserBytes = maxBytes * MAX_USER_PART
  const memory = createClockMemory(maxBytes)
  const { copyCache, makeRoom, copyCount } = createCopyCache(memory, maxUserBytes)
  const users = new Map<number, UserResponses>()

  /** A user over their share loses their own least recently used replies, even if the cache has room. */
  function makeRoomAmong(entry: UserResponses): void {
    for (const [operation, reply] of entry.replies) {
      if (entry.bytes <= maxUserBytes) return
      const size = sizeOf(reply, operation) ?? 0
      entry.replies.delete(operation)
      entry.bytes -= size
      memory.count(-size)
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
    memory.add(entry, () => users.delete(userId))
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
      if (before && before.stateVersion !== stateVersion) memory.drop(before)
      const entry = before?.stateVersion === stateVersion ? before : addUser(userId, stateVersion)
      if (entry.replies.has(operation)) return
      entry.replies.set(operation, withOwnMemory(reply))
      // The last hit is no longer the newest entry of the map: clearing it makes the next `find` move it to the end.
      entry.lastReply = undefined
      entry.bytes += size
      memory.count(size)
      makeRoomAmong(entry)
      makeRoom(userId)
    },
    ...copyCache,
    size() {
      const replies = users.values().reduce((sum, user) => sum + user.replies.size, 0)
      return { bytes: memory.bytes(), maxBytes, entries: replies + copyCount() }
    },
  }
}

function withOwnMemory(reply: GatewayResponse): GatewayResponse {
  if (!(reply.body instanceof Uint8Array)) return reply
  const body = inOwnMemory(reply.body)
  return body === reply.body ? reply : { ...reply, body }
}

function sizeOf({ body }: GatewayResponse, operation: string): number | null {
  if (!(body instanceof Uint8Array)) return null
  return occupiedBytes(body.byteLength, operation)
}
