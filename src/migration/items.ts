// Reads a user's documents, exports and elements item by item, in an order that two databases share.
import type { StoredDocument, StoredElement, StoredExport, WorkspaceReads } from '../store/contract.ts'
import { documentParts, elementParts } from '../store/paging/paging.ts'
import { DOCUMENT_KINDS } from '../store/reads-contract.ts'

/** Bytes per kind in the first read. */
const BYTES_PER_FIRST_READ = 262_144
const EXPORT_LISTS_PER_READ = 256

/** Yields documents kind by kind, each in order of position. One read suffices for a small workspace. */
export async function* documentsOf(reads: WorkspaceReads, userId: number): AsyncGenerator<StoredDocument> {
  const page = { userId, after: 0, limit: null, maxBytes: BYTES_PER_FIRST_READ }
  const first = await reads.documentsWithin(DOCUMENT_KINDS.map((kind) => ({ ...page, kind })))
  for (const [index, kind] of DOCUMENT_KINDS.entries()) {
    for await (const documents of documentParts(reads, { userId, kind }, first[index])) yield* documents
  }
}

/** Two documents at the same kind and position; one may be undefined. */
export interface DocumentPair {
  readonly wanted: StoredDocument | undefined
  readonly found: StoredDocument | undefined
}

/** Merges two lists, both in the order of `documentsOf`. */
export async function* pairs(
  wanted: AsyncGenerator<StoredDocument>,
  found: AsyncGenerator<StoredDocument>,
): AsyncGenerator<DocumentPair> {
  let [a, b] = [await next(wanted), await next(found)]
  while (a || b) {
    const order = a && b ? compare(a, b) : a ? -1 : 1
    yield { wanted: order <= 0 ? a : undefined, found: order >= 0 ? b : undefined }
    if (order <= 0) a = await next(wanted)
    if (order >= 0) b = await next(found)
  }
}

export function isSameDocument(a: StoredDocument, b: StoredDocument): boolean {
  return a.id === b.id && a.ref === b.ref && a.text === b.text
}

/** All exports by id, including those whose reference belongs to no project. */
export async function exportsOf(
  reads: WorkspaceReads,
  userId: number,
  projectRefs: readonly string[],
): Promise<ReadonlyMap<number, StoredExport>> {
  const refs = [...projectRefs, ...(await reads.exportRefsWithoutProject(userId))]
  const found = new Map<number, StoredExport>()
  for (let start = 0; start < refs.length; start += EXPORT_LISTS_PER_READ) {
    const pages = refs
      .slice(start, start + EXPORT_LISTS_PER_READ)
      .map((ref) => ({ userId, ref, after: null, limit: null }))
    for (const one of (await reads.exportsOf(pages)).flat()) found.set(one.id, one)
  }
  return found
}

export async function* elementsOf(reads: WorkspaceReads, one: StoredExport): AsyncGenerator<StoredElement> {
  for await (const elements of elementParts(reads, one)) yield* elements
}

async function next(documents: AsyncGenerator<StoredDocument>): Promise<StoredDocument | undefined> {
  const { value, done } = await documents.next()
  return done === true ? undefined : value
}

function compare(a: StoredDocument, b: StoredDocument): number {
  return DOCUMENT_KINDS.indexOf(a.kind) - DOCUMENT_KINDS.indexOf(b.kind) || a.position - b.position
}
