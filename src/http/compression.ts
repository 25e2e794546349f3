// Replies in a content coding, where that pays: made once for a state, kept beside the reply it was made of.
import type { LiveSession } from '../store/store.ts'
import { compressParts, compressWhole } from './compress.ts'
import { type AcceptedCodings, type Coding, codedEntityTag } from './content-coding.ts'
import { createFairTurns } from './fair-turns.ts'
import { type Reply, withHeaders } from './reply.ts'
import type { Copy, ReplyCache } from './reply-cache.ts'
import { createSharedStreams } from './shared-streams.ts'

/** A reply that fits one packet arrives no sooner for being smaller. */
const MIN_BYTES = 1_400
/** A larger one is compressed piece by piece, and sent as it comes. */
const MAX_WHOLE_BYTES = 1_048_576
const PIECE_BYTES = 131_072

export interface Compression {
  /** What `encode` answered and kept for this user in this very state. */
  readonly find: (viewer: LiveSession, operation: string, accepted: AcceptedCodings) => Reply | undefined
  /** A reply of 200 as the request likes it best. */
  readonly encode: (viewer: LiveSession, operation: string, reply: Reply, accepted: AcceptedCodings) => Promise<Reply>
}

export function createCompression(cache: ReplyCache): Compression {
  const nextTurn = createFairTurns()
  const sharedStream = createSharedStreams(cache)
  const underWay = new Map<string, Promise<Reply>>()

  async function encodeWhole(bytes: Uint8Array, reply: Reply, coding: Coding): Promise<Reply> {
    return { ...codedReply(reply, coding), body: await compressWhole(bytes, coding), derived: {} }
  }

  /** Who asks for the same meanwhile waits for the same. */
  function encodeOnce(name: string, encode: () => Promise<Reply>): Promise<Reply> {
    const encoding = underWay.get(name) ?? encode().finally(() => underWay.delete(name))
    underWay.set(name, encoding)
    return encoding
  }

  /** By name, which stands for the bytes: of the same name and user, the copy of an earlier request will do. */
  function encodeParts(name: string, reply: Reply, parts: AsyncIterable<Uint8Array>, coding: Coding): Reply {
    const coded = codedReply(reply, coding)
    const copy = cache.findCopy(name)
    if (!copy) return { ...coded, body: sharedStream(name, () => compressParts(parts, coding)) }
    return { ...withHeaders(coded, { 'content-length': String(copy.byteLength) }), body: partsOfCopy(copy) }
  }

  async function* partsOfCopy({ chunks }: Copy): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      await nextTurn()
      yield chunk
    }
  }

  function piecesOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
    return {
      async *[Symbol.asyncIterator]() {
        for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
          await nextTurn()
          yield bytes.subarray(at, at + PIECE_BYTES)
        }
      },
    }
  }

  return {
    find(viewer, operation, { coding }) {
      return coding === null ? undefined : cache.find(viewer, operationIn(coding, operation))
    },
    async encode(viewer, operation, reply, { coding, isIdentityAccepted }) {
      if (coding === null || (isIdentityAccepted && !isWorthwhile(reply))) return reply
      const { body } = reply
      if (body === null || typeof body === 'string') return reply
      const state = reply.headers.etag ?? `${viewer.stamp} ${operation}`
      const name = `${viewer.userId} ${coding} ${state}`
      if (!(body instanceof Uint8Array)) return encodeParts(name, reply, body, coding)
      if (body.byteLength > MAX_WHOLE_BYTES) return encodeParts(name, reply, piecesOf(body), coding)
      const coded = await encodeOnce(name, () => encodeWhole(body, reply, coding))
      cache.keep(viewer, operationIn(coding, operation), coded)
      return coded
    },
  }
}

function operationIn(coding: Coding, operation: string): string {
  return `${coding} ${operation}`
}

function isWorthwhile({ body }: Reply): boolean {
  return !(body instanceof Uint8Array) || body.byteLength >= MIN_BYTES
}

/** Without its body. Its length is another one, and so is its entity tag. */
function codedReply(reply: Reply, coding: Coding): Reply {
  const { etag, 'content-length': _, ...headers } = reply.headers
  const tag = etag === undefined ? {} : { etag: codedEntityTag(etag, coding) }
  return { status: reply.status, headers: { ...headers, 'content-encoding': coding, ...tag }, body: null }
}
