// A JSON array of stored texts as a reply, with its entity tag.
import { createHash } from 'node:crypto'
import type { Reads } from '../graphql/reads.ts'
import type { StoredDocument, StoredExport } from '../store/store.ts'
import { exportPages, isSmallExport, wholeExport } from './export-pages.ts'
import type { NextTurn } from './fair-turns.ts'
import { entityTag, type Headers, JSON_TYPE, type Reply, toEntityTag } from './reply.ts'

/** A list that is longer is made in pieces, and not kept. UTF-16 code units, both. */
const LARGE_LENGTH = 4_194_304
const PIECE_LENGTH = 262_144

const HEADERS: Headers = {
  'content-type': JSON_TYPE,
  'cache-control': 'private, no-cache',
  vary: 'Authorization, Accept-Encoding',
}

/** `[` + the documents joined by `,` + `]`. */
export async function documentsReply(documents: readonly StoredDocument[], nextTurn: NextTurn): Promise<Reply> {
  const length = documents.reduce((sum, { text }) => sum + text.length, 0)
  if (length > LARGE_LENGTH) return largeReply(documents, nextTurn)
  const body = Buffer.from(arrayText(documents))
  return arrayReply(entityTag(body), body.byteLength, body)
}

/** The same, with the work on each piece in a turn of its own. */
async function largeReply(documents: readonly StoredDocument[], nextTurn: NextTurn): Promise<Reply> {
  const hash = createHash('sha256')
  const pieces: Uint8Array[] = []
  for (const text of arrayPieces(documents)) {
    await nextTurn()
    const bytes = Buffer.from(text)
    hash.update(bytes)
    pieces.push(bytes)
  }
  const byteLength = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  const body = {
    async *[Symbol.asyncIterator]() {
      yield* pieces
    },
  }
  return arrayReply(toEntityTag(hash), byteLength, body)
}

function* arrayPieces(documents: readonly StoredDocument[]): Generator<string> {
  yield '['
  for (const [index, { text }] of documents.entries()) {
    if (index > 0) yield ','
    for (let at = 0; at < text.length; ) {
      const end = Math.min(at + PIECE_LENGTH, text.length)
      // Not between the halves of a character.
      const isWhole = end === text.length || !/[\ud800-\udbff]/.test(text.charAt(end - 1))
      yield text.slice(at, isWhole ? end : end + 1)
      at = isWhole ? end : end + 1
    }
  }
  yield ']'
}

/** An export's elements in the same form: small ones whole, others read while they are sent. */
export async function exportReply(snapshot: StoredExport, reads: Reads, nextTurn: NextTurn): Promise<Reply> {
  const body = isSmallExport(snapshot)
    ? await wholeExport(snapshot, reads)
    : { [Symbol.asyncIterator]: () => exportPages(snapshot, reads, nextTurn) }
  return { ...exportHead(snapshot), body }
}

/** The same without a body. An export never changes: its digest is its entity tag. */
export function exportHead({ digest, byteLength }: StoredExport): Reply {
  return arrayReply(`"${digest}"`, byteLength, null)
}

function arrayReply(etag: string, byteLength: number, body: Reply['body']): Reply {
  return { status: 200, headers: { ...HEADERS, etag, 'content-length': String(byteLength) }, body, derived: {} }
}

/** The 304 to a reply with this entity tag (RFC 9110 section 15.4.5). */
export function notModified(etag: string): Reply {
  return { status: 304, headers: { ...HEADERS, etag }, body: null, derived: {} }
}

function arrayText(items: readonly { readonly text: string }[]): string {
  return `[${items.map(({ text }) => text).join(',')}]`
}
