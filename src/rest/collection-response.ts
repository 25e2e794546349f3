// Builds the reply to a collection: a JSON array of stored texts, with its entity tag.
import { createHash } from 'node:crypto'
import type { Reservation } from '../http/limits/in-flight-bytes.ts'
import type { YieldTurn } from '../http/limits/round-robin-scheduler.ts'
import { entityTag, type GatewayResponse, type Headers, JSON_TYPE, toEntityTag } from '../http/response.ts'
import { endOfPart } from '../resolvers/documents/end-of-part.ts'
import { type ExportReading, exportBytes } from '../resolvers/documents/export-bytes.ts'
import { isPaged, type Paged } from '../resolvers/pagination/paged.ts'
import type { StoredDocument, StoredExport } from '../store/contract.ts'

/**
 * A longer list is streamed in the pieces it was built in, and not cached. The comparison is rough: before the text is
 * encoded, it counts UTF-16 code units instead of bytes.
 */
const MAX_WHOLE_BYTES = 4_194_304
/** In UTF-16 code units. */
const PIECE_LENGTH = 262_144

const CACHING: Headers = { 'cache-control': 'private, no-cache', vary: 'Authorization, Accept-Encoding' }
const HEADERS: Headers = { 'content-type': JSON_TYPE, ...CACHING }

/** Returns `[` + the documents joined by `,` + `]`. `holding` counts the memory of a long list until it is sent. */
export async function documentsResponse(
  documents: readonly StoredDocument[] | Paged<StoredDocument>,
  yieldTurn: YieldTurn,
  holding: Reservation,
): Promise<GatewayResponse> {
  if (isPaged(documents)) return largeCollectionResponse(pagesOf(documents), yieldTurn, holding)
  const length = documents.reduce((sum, { text }) => sum + text.length, 0)
  if (length > MAX_WHOLE_BYTES) return largeCollectionResponse([documents], yieldTurn, holding)
  const body = Buffer.from(`[${documents.map(({ text }) => text).join(',')}]`)
  return collectionResponse(entityTag(body), body.byteLength, body)
}

async function* pagesOf({ nextPage }: Paged<StoredDocument>): AsyncGenerator<readonly StoredDocument[]> {
  for (let documents = await nextPage(); documents; documents = await nextPage()) yield documents
}

/** Builds the same array, but works on each piece in a turn of its own. */
async function largeCollectionResponse(
  pages: AsyncIterable<readonly StoredDocument[]> | Iterable<readonly StoredDocument[]>,
  yieldTurn: YieldTurn,
  holding: Reservation,
): Promise<GatewayResponse> {
  const hash = createHash('sha256')
  const pieces: Uint8Array[] = []
  let byteLength = 0
  for await (const text of arrayPieces(pages)) {
    await yieldTurn()
    const bytes = Buffer.from(text)
    holding.require(bytes.byteLength)
    hash.update(bytes)
    pieces.push(bytes)
    byteLength += bytes.byteLength
  }
  const body = byteLength <= MAX_WHOLE_BYTES ? Buffer.concat(pieces, byteLength) : streamOf(pieces)
  return collectionResponse(toEntityTag(hash), byteLength, body)
}

function streamOf(pieces: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* pieces
    },
  }
}

/**
 * Yields pieces of roughly equal length, however long the documents are, because each piece costs a turn and a write.
 */
async function* arrayPieces(
  pages: AsyncIterable<readonly StoredDocument[]> | Iterable<readonly StoredDocument[]>,
): AsyncGenerator<string> {
  let piece = '['
  let separator = ''
  for await (const documents of pages) {
    for (const { text } of documents) {
      piece += separator
      separator = ','
      if (piece.length + text.length > PIECE_LENGTH) {
        yield piece
        piece = ''
      }
      let at = 0
      while (text.length - at > PIECE_LENGTH) {
        const end = endOfPart(text, at, PIECE_LENGTH)
        yield text.slice(at, end)
        at = end
      }
      piece += text.slice(at)
    }
  }
  yield `${piece}]`
}

/**
 * Returns an export's elements in the same form: a small export whole, a larger one as a stream that reads while it
 * sends.
 */
export async function exportResponse(
  snapshot: StoredExport,
  context: ExportReading,
  now: number,
): Promise<GatewayResponse> {
  const bytes = await exportBytes(snapshot, context)
  const body =
    bytes instanceof Uint8Array ? bytes : { [Symbol.asyncIterator]: () => bytes.chunks()[Symbol.asyncIterator]() }
  return { ...exportMetadataResponse(snapshot, now), body }
}

/**
 * Returns the same reply without a body. An export never changes, so its digest is its entity tag. `now` is in
 * milliseconds since 1970.
 */
export function exportMetadataResponse({ digest, byteLength, instant }: StoredExport, now: number): GatewayResponse {
  return collectionResponse(`"${digest}"`, byteLength, null, lastModified(Date.parse(instant), now))
}

/** A server may not answer a time in the future (RFC 9110 section 8.8.2.1). */
function lastModified(time: number, now: number): Headers {
  return time <= now ? { 'last-modified': new Date(time).toUTCString() } : {}
}

function collectionResponse(
  etag: string,
  byteLength: number,
  body: GatewayResponse['body'],
  more: Headers = {},
): GatewayResponse {
  const headers = { ...HEADERS, etag, ...more, 'content-length': String(byteLength) }
  return { status: 200, headers, body, derived: {} }
}

/** Returns the 304 for a reply with this entity tag. It does not describe the body (RFC 9110 section 15.4.5). */
export function notModified(etag: string): GatewayResponse {
  return { status: 304, headers: { ...CACHING, etag }, body: null, derived: {} }
}
