// What a user has, item by item, in an order that two databases share.
import type { DocumentKind, StoredDocument, StoredElement, StoredExport, WorkspaceReads } from '../store/contract.ts'
import { elementPages } from '../store/paging/paging.ts'

const ITEMS_PER_READ = 256
const KINDS: readonly DocumentKind[] = ['project', 'template', 'uiLibrary']

/** Kind by kind, each in order of position. What is small comes with one question. */
export async function* documentsOf(reads: WorkspaceReads, userId: number): AsyncGenerator<StoredDocument> {
  const first = await reads.documentsOf(KINDS.map((kind) => ({ userId, kind, after: 0, limit: ITEMS_PER_READ })))
  for (const [index, kind] of KINDS.entries()) {
    let page = first[index] ?? []
    yield* page
    for (let last = page.at(-1); last && page.length === ITEMS_PER_READ; last = page.at(-1)) {
      const [next = []] = await reads.documentsOf([{ userId, kind, after: last.position, limit: ITEMS_PER_READ }])
      yield* next
      page = next
    }
  }
}

/** A document at a place where both databases have one, or one of them. */
export interface DocumentPair {
  readonly wanted: StoredDocument | undefined
  readonly found: StoredDocument | undefined
}

/** Two lists side by side, both in the order of `documentsOf`. */
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

/** Of every reference, also of those that no project has; by id. */
export async function exportsOf(
  reads: WorkspaceReads,
  userId: number,
  projectRefs: readonly string[],
): Promise<ReadonlyMap<number, StoredExport>> {
  const refs = [...projectRefs, ...(await reads.exportRefsWithoutProject(userId))]
  const found = new Map<number, StoredExport>()
  for (let start = 0; start < refs.length; start += ITEMS_PER_READ) {
    const pages = refs.slice(start, start + ITEMS_PER_READ).map((ref) => ({ userId, ref, after: null, limit: null }))
    for (const one of (await reads.exportsOf(pages)).flat()) found.set(one.id, one)
  }
  return found
}

export async function* elementsOf(reads: WorkspaceReads, one: StoredExport): AsyncGenerator<StoredElement> {
  for await (const page of elementPages(reads, one, ITEMS_PER_READ)) yield* page
}

async function next(documents: AsyncGenerator<StoredDocument>): Promise<StoredDocument | undefined> {
  const { value, done } = await documents.next()
  return done === true ? undefined : value
}

function compare(a: StoredDocument, b: StoredDocument): number {
  return KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.position - b.position
}
