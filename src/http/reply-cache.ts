// Finished replies by user, stamp and operation. Coherent by construction: the stamp was read for this very request.
import { randomUUID } from 'node:crypto'
import type { LiveSession } from '../store/store.ts'
import type { Reply } from './reply.ts'

/** What a reply costs beside its body: headers, key, bookkeeping. */
const OVERHEAD_BYTES = 1_024
/** A reply larger than this part of the cache is not kept. */
const MAX_PART = 1 / 16
/** What copies may take while they are being made, all together: none becomes larger than this. */
const MAX_RESERVED_PART = 1 / 2

/** Whom nothing is kept for: what was read for this session is not of the one state that its stamp names. */
export function withoutState(viewer: LiveSession): LiveSession {
  return { ...viewer, userId: null, stamp: randomUUID() }
}

export interface ReplyCache {
  /** The reply that was kept for this user in this very state. */
  readonly find: (viewer: LiveSession, operation: string) => Reply | undefined
  /** Keeps a reply that was made from the very state that the viewer's stamp names. Streamed replies are not kept. */
  readonly keep: (viewer: LiveSession, operation: string, reply: Reply) => void
  /** A copy of what never changes under its name. */
  readonly findCopy: (name: string) => Copy | undefined
  /** Keeps a copy whose bytes were reserved. */
  readonly keepCopy: (name: string, copy: Copy) => void
  /** Takes room for a copy that is being made; false, and nothing is taken, when there is not as much. */
  readonly reserve: (byteLength: number) => boolean
  readonly release: (byteLength: number) => void
}

/** In pieces, as it was made. */
export interface Copy {
  readonly chunks: readonly Uint8Array[]
  readonly byteLength: number
}

/** Kept and dropped as one. */
interface Entry {
  bytes: number
  /** Asked for since it was last passed over: spared once more. */
  isWanted: boolean
}

interface UserReplies extends Entry {
  readonly stamp: string
  readonly replies: Map<string, Reply>
  /** The one that was found last: a client often asks for the same. */
  lastOperation: string | null
  lastReply: Reply | undefined
}

interface KeptCopy extends Entry {
  readonly copy: Copy
}

/** `maxBytes` 0 keeps nothing. What nobody asked for makes room first (CLOCK), a user's replies at once; nothing expires. */
export function createReplyCache(maxBytes: number): ReplyCache {
  const users = new Map<number, UserReplies>()
  const copies = new Map<string, KeptCopy>()
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
      if (entry.isWanted) {
        entry.isWanted = false
        entries.delete(entry)
        entries.set(entry, forget)
      } else {
        drop(entry)
      }
    }
  }

  function addUser(userId: number, stamp: string): UserReplies {
    const entry: UserReplies = {
      stamp,
      replies: new Map(),
      lastOperation: null,
      lastReply: undefined,
      bytes: 0,
      isWanted: false,
    }
    users.set(userId, entry)
    entries.set(entry, () => users.delete(userId))
    return entry
  }

  return {
    find({ userId, stamp }, operation) {
      if (userId === null) return undefined
      const entry = users.get(userId)
      if (entry?.stamp !== stamp) return undefined
      entry.isWanted = true
      if (entry.lastOperation === operation) return entry.lastReply
      const reply = entry.replies.get(operation)
      if (!reply) return undefined
      entry.lastOperation = operation
      entry.lastReply = reply
      return reply
    },
    keep({ userId, stamp }, operation, reply) {
      const size = sizeOf(reply, operation)
      if (userId === null || size === null || size > maxBytes * MAX_PART) return
      const before = users.get(userId)
      if (before && before.stamp !== stamp) drop(before)
      const entry = before?.stamp === stamp ? before : addUser(userId, stamp)
      if (entry.replies.has(operation)) return
      entry.replies.set(operation, reply)
      entry.bytes += size
      bytes += size
      makeRoom()
    },
    findCopy(name) {
      const kept = copies.get(name)
      if (!kept) return undefined
      kept.isWanted = true
      return kept.copy
    },
    keepCopy(name, copy) {
      reserved -= copy.byteLength
      const before = copies.get(name)
      if (before) drop(before)
      const entry: KeptCopy = { copy, bytes: copy.byteLength, isWanted: true }
      copies.set(name, entry)
      entries.set(entry, () => copies.delete(name))
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
  }
}

function sizeOf({ body }: Reply, operation: string): number | null {
  if (!(body instanceof Uint8Array)) return null
  return body.byteLength + operation.length * 2 + OVERHEAD_BYTES
}
