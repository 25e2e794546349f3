// A JSON array of stored texts as a reply, with its entity tag.
import { GatewayError } from '../errors.ts'
import type { Reads } from '../graphql/reads.ts'
import type { StoredDocument, StoredExport } from '../store/store.ts'
import { entityTag, type Headers, JSON_TYPE, type Reply } from './reply.ts'

/** Up to this size an export is answered in one piece, from the state its session was looked up in. */
const WHOLE_EXPORT_BYTES = 1_048_576
/** Elements read at once while a larger one is sent. */
const ELEMENTS_PER_READ = 64

const HEADERS: Headers = {
  'content-type': JSON_TYPE,
  'cache-control': 'private, no-cache',
  vary: 'Authorization, Accept-Encoding',
}

/** `[` + the documents joined by `,` + `]`. */
export function documentsReply(documents: readonly StoredDocument[]): Reply {
  const body = Buffer.from(arrayText(documents))
  return arrayReply(entityTag(body), body.byteLength, body)
}

/** An export's elements in the same form. */
export async function exportReply(snapshot: StoredExport, reads: Reads): Promise<Reply> {
  const body = snapshot.byteLength <= WHOLE_EXPORT_BYTES ? await wholeExport(snapshot, reads) : chunks(snapshot, reads)
  return arrayReply(exportTag(snapshot), snapshot.byteLength, body)
}

/** An export never changes: its digest is its entity tag. */
export function exportTag({ digest }: StoredExport): string {
  return `"${digest}"`
}

function arrayReply(etag: string, byteLength: number, body: Reply['body']): Reply {
  return { status: 200, headers: { ...HEADERS, etag, 'content-length': String(byteLength) }, body }
}

/** The 304 to a reply with this entity tag (RFC 9110 section 15.4.5). */
export function notModified(etag: string): Reply {
  return { status: 304, headers: { ...HEADERS, etag }, body: null }
}

function arrayText(items: readonly { readonly text: string }[]): string {
  return `[${items.map(({ text }) => text).join(',')}]`
}

async function wholeExport({ userId, id, elementCount }: StoredExport, reads: Reads): Promise<Uint8Array> {
  const elements = await reads.elements({ userId, exportId: id, after: 0, limit: null })
  // Removed since it was found: neither what it was nor what is there now.
  if (elements.length < elementCount) throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })
  return Buffer.from(arrayText(elements))
}

async function* chunks({ userId, id, elementCount }: StoredExport, reads: Reads): AsyncGenerator<Uint8Array> {
  let sent = 0
  while (sent < elementCount) {
    const page = await reads.elements({ userId, exportId: id, after: sent, limit: ELEMENTS_PER_READ })
    // The client sees a body that is too short, not one that looks whole.
    if (page.length === 0) throw new Error('an export was removed while it was being sent')
    yield Buffer.from(`${sent === 0 ? '[' : ','}${page.map(({ text }) => text).join(',')}`)
    sent += page.length
  }
  yield Buffer.from(elementCount === 0 ? '[]' : ']')
}
