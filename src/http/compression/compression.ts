// Compresses replies where that pays, once per state, and caches the result next to the uncompressed reply.
import { hash } from 'node:crypto'
import type { LiveSession } from '../../store/contract.ts'
import type { ResponseCache } from '../caching/response-cache.ts'
import type { InFlightBytes } from '../limits/in-flight-bytes.ts'
import { createRoundRobin } from '../limits/round-robin-scheduler.ts'
import { type AcceptedCodings, type Coding, codedEntityTag } from '../negotiation/content-coding.ts'
import { type GatewayResponse, withHeaders } from '../response.ts'
import { compressorBytes, compressParts, compressWhole } from './codecs.ts'
import { createSharedStreams, readCopy } from './shared-streams.ts'

/** A reply that fits into one packet arrives no sooner when it is smaller. */
const MIN_BYTES = 1_400
/** A larger reply is compressed in pieces and streamed. */
const MAX_WHOLE_BYTES = 1_048_576
const PIECE_BYTES = 131_072

export interface Compression {
  /** Returns what `encode` cached for this user in exactly this state. */
  readonly find: (viewer: LiveSession, operation: string, accepted: AcceptedCodings) => GatewayResponse | undefined
  /** Returns a 200 reply in the coding that the request prefers. */
  readonly encode: (
    viewer: LiveSession,
    operation: string,
    reply: GatewayResponse,
    accepted: AcceptedCodings,
  ) => Promise<GatewayResponse>
}

export function createCompression(cache: ResponseCache, inFlight: InFlightBytes): Compression {
  const yieldTurn = createRoundRobin()
  const sharedStream = createSharedStreams(cache)
  const encodings = new Map<string, Promise<GatewayResponse>>()

  async function encodeWhole(bytes: Uint8Array, reply: GatewayResponse, coding: Coding): Promise<GatewayResponse> {
    return { ...codedReply(reply, coding), body: await compressWhole(bytes, coding), derived: {} }
  }

  /** Concurrent requests for the same coding share one compression. */
  function encodeOnce(name: string, encode: () => Promise<GatewayResponse>): Promise<GatewayResponse> {
    const encoding = encodings.get(name) ?? encode().finally(() => encodings.delete(name))
    encodings.set(name, encoding)
    return encoding
  }

  /**
   * Compresses a streamed or large reply. `name` stands for the bytes: an earlier copy with the same name and user is
   * reused. Without a user nothing is cached.
   */
  function encodeParts(
    userId: number | null,
    name: string,
    reply: GatewayResponse,
    parts: AsyncIterable<Uint8Array>,
    coding: Coding,
  ): GatewayResponse {
    const coded = codedReply(reply, coding)
    const compress = () => compressWithin(parts, coding)
    const copy = userId === null ? undefined : cache.findCopy(name)
    if (copy) {
      return {
        ...withHeaders(coded, { 'content-length': String(copy.byteLength) }),
        body: paced(readCopy(copy, compress)),
      }
    }
    requireRoomFor(coding)
    return { ...coded, body: userId === null ? compress() : sharedStream(userId, name, compress) }
  }

  /** Checked before the status is sent: afterwards the gateway could only break off the response. */
  function requireRoomFor(coding: Coding): void {
    using probe = inFlight.open(0)
    probe.require(compressorBytes(coding))
  }

  async function* compressWithin(parts: AsyncIterable<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
    using compressor = inFlight.open(0)
    compressor.require(compressorBytes(coding))
    yield* compressParts(parts, coding)
  }

  async function* paced(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      await yieldTurn()
      yield chunk
    }
  }

  function piecesOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
    return {
      async *[Symbol.asyncIterator]() {
        for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
          await yieldTurn()
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
      // Hashed to keep the name short: the operation is a whole request body, and the name lives as long as the copy.
      const state = reply.headers.etag ?? `${viewer.stateVersion} ${hash('sha256', operation)}`
      const name = `${viewer.userId} ${coding} ${state}`
      if (!(body instanceof Uint8Array)) return encodeParts(viewer.userId, name, reply, body, coding)
      if (body.byteLength > MAX_WHOLE_BYTES) return encodeParts(viewer.userId, name, reply, piecesOf(body), coding)
      const encode = () => encodeWhole(body, reply, coding)
      // Without a user, the name says nothing about whose bytes these are.
      const coded = await (viewer.userId === null ? encode() : encodeOnce(name, encode))
      cache.keep(viewer, operationIn(coding, operation), coded)
      return coded
    },
  }
}

function operationIn(coding: Coding, operation: string): string {
  return `${coding} ${operation}`
}

function isWorthwhile({ body }: GatewayResponse): boolean {
  return !(body instanceof Uint8Array) || body.byteLength >= MIN_BYTES
}

/** Returns the reply without its body, and with the headers of the coded form: no length, another entity tag. */
function codedReply(reply: GatewayResponse, coding: Coding): GatewayResponse {
  const { etag, 'content-length': _, ...headers } = reply.headers
  const tag = etag === undefined ? {} : { etag: codedEntityTag(etag, coding) }
  const { derived: _derived, ...rest } = reply
  return { ...rest, headers: { ...headers, 'content-encoding': coding, ...tag }, body: null }
}
