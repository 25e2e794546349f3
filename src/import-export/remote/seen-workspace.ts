// Remembers the last seen state of a workspace by entity tags and digests, enough to detect changes.
import { hash } from 'node:crypto'
import { skipSpace } from '../../json-text.ts'
import type { DocumentKind, Store, StoredDocument } from '../../store/contract.ts'
import { DOCUMENT_KINDS } from '../../store/reads-contract.ts'
import { createExportDigest } from '../export-digest.ts'
import type { RecordFields } from '../format/read-record.ts'
import { createRefReader } from './project-ref.ts'

export const LIST_PATHS = {
  project: '/projects',
  template: '/templates',
  uiLibrary: '/ui-libraries',
} as const satisfies Record<DocumentKind, string>

export interface SeenAnswer {
  /** Null when the server sent none. */
  readonly etag: string | null
  /** SHA-256 of the response body, hexadecimal; null for 404. */
  readonly digest: string | null
}

export interface SeenWorkspace {
  /** By path including the query. */
  readonly answers: ReadonlyMap<string, SeenAnswer>
  /** References of the projects, in their order. */
  readonly refs: readonly string[]
}

export const NOTHING_SEEN: SeenWorkspace = { answers: new Map(), refs: [] }
/** Also stands for a list that a server answers with 404 because it is empty. */
export const EMPTY_ARRAY_DIGEST = digestOf('[]')

/** An array that has no element within this many bytes is not looked at further. */
const MAX_EMPTY_BYTES = 256

export function exportPath(ref: string): string {
  return `/exports?r=${encodeURIComponent(ref)}`
}

export function digestOf(bytes: Uint8Array | string): string {
  return hash('sha256', bytes)
}

/** Digest of an array as another server sent it. An empty array has the same one with or without white space. */
export function digestOfAnswer(bytes: Uint8Array): string {
  const begin = new TextDecoder().decode(bytes.subarray(0, MAX_EMPTY_BYTES))
  const open = skipSpace(begin, 0)
  const isEmpty = begin[open] === '[' && begin[skipSpace(begin, open + 1)] === ']'
  return isEmpty ? EMPTY_ARRAY_DIGEST : digestOf(bytes)
}

/** Digest of an array as this gateway serves it: without white space between documents. */
export function digestOfElements(elements: readonly string[]): string {
  const digest = createExportDigest()
  for (const element of elements) digest.add(element)
  return digest.finish().digest
}

/** The lists with documents. */
export function filledLists({ answers }: SeenWorkspace): readonly DocumentKind[] {
  return DOCUMENT_KINDS.filter((kind) => answers.get(LIST_PATHS[kind])?.digest !== EMPTY_ARRAY_DIGEST)
}

/** Removes the entity tags of the lists, so that the server sends the lists whole even when they are unchanged. */
export function withoutListTags({ answers, refs }: SeenWorkspace): SeenWorkspace {
  const untagged = new Map(answers)
  for (const path of Object.values(LIST_PATHS)) {
    const answer = answers.get(path)
    if (answer) untagged.set(path, { ...answer, etag: null })
  }
  return { answers: untagged, refs }
}

/**
 * The stored workspace in the form in which a server of the contract would answer it. With `fields`, the list of
 * projects is left out when a project is stored under another reference than these fields give it: so it is taken in
 * again, and its exports are asked for by the new reference.
 */
export async function seenInStore(store: Store, email: string, fields?: RecordFields): Promise<SeenWorkspace> {
  const user = await store.userByEmail(email)
  if (!user) return NOTHING_SEEN
  const { id: userId } = user
  const answers = new Map<string, SeenAnswer>()
  let refs: readonly string[] = []
  for (const kind of DOCUMENT_KINDS) {
    const [documents = []] = await store.documentsOf([{ userId, kind, after: 0, limit: null }])
    if (kind === 'project') refs = documents.flatMap(({ ref }) => ref ?? [])
    if (kind === 'project' && fields && !haveRefs(documents, fields)) continue
    answers.set(LIST_PATHS[kind], { etag: null, digest: digestOfElements(documents.map(({ text }) => text)) })
  }
  const newest = await store.latestExports(refs.map((ref) => ({ userId, ref })))
  refs.forEach((ref, index) => {
    answers.set(exportPath(ref), { etag: null, digest: newest[index]?.digest ?? null })
  })
  return { answers, refs }
}

/** Whether every project is stored under the reference that these fields give it. */
function haveRefs(projects: readonly Pick<StoredDocument, 'text' | 'ref'>[], fields: RecordFields): boolean {
  const readRef = createRefReader(fields)
  return projects.every(({ text, ref }) => readRef(text) === ref)
}
