// Finished replies by user, stamp and operation. Coherent by construction: the stamp was read for this very request.
import type { LiveSession } from '../store/store.ts'
import type { Reply } from './reply.ts'

/** What a reply costs beside its body: headers, key, bookkeeping. */
const OVERHEAD_BYTES = 1_024
/** A reply larger than this part of the cache is not kept. */
const MAX_PART = 1 / 16

export interface ReplyCache {
  /** The reply that was kept for this user in this very state. */
  readonly find: (viewer: LiveSession, operation: string) => Reply | undefined
  /** Keeps a reply that was made from the very state that the viewer's stamp names. Streamed replies are not kept. */
  readonly keep: (viewer: LiveSession, operation: string, reply: Reply) => void
}

interface UserReplies {
  readonly stamp: string
  readonly replies: Map<string, Reply>
  bytes: number
  /** Asked for since it was last passed over: spared once more. */
  isWanted: boolean
}

/** `maxBytes` 0 keeps nothing. Users whose replies nobody asked for make room first (CLOCK); no reply ever expires. */
export function createReplyCache(maxBytes: number): ReplyCache {
  const users = new Map<number, UserReplies>()
  let bytes = 0

  function drop(userId: number, { bytes: freed }: UserReplies): void {
    users.delete(userId)
    bytes -= freed
  }

  function makeRoom(): void {
    for (const [userId, entry] of users) {
      if (bytes <= maxBytes) return
      if (entry.isWanted) {
        entry.isWanted = false
        users.delete(userId)
        users.set(userId, entry)
      } else {
        drop(userId, entry)
      }
    }
  }

  return {
    find({ userId, stamp }, operation) {
      if (userId === null) return undefined
      const entry = users.get(userId)
      if (entry?.stamp !== stamp) return undefined
      entry.isWanted = true
      return entry.replies.get(operation)
    },
    keep({ userId, stamp }, operation, reply) {
      const size = sizeOf(reply, operation)
      if (userId === null || size === null || size > maxBytes * MAX_PART) return
      const before = users.get(userId)
      if (before && before.stamp !== stamp) drop(userId, before)
      const entry = users.get(userId) ?? { stamp, replies: new Map(), bytes: 0, isWanted: false }
      if (entry.replies.has(operation)) return
      entry.replies.set(operation, reply)
      entry.bytes += size
      bytes += size
      users.set(userId, entry)
      makeRoom()
    },
  }
}

function sizeOf({ body }: Reply, operation: string): number | null {
  if (!(body instanceof Uint8Array)) return null
  return body.byteLength + operation.length * 2 + OVERHEAD_BYTES
}
