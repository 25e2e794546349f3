// Dumps one user or all users in the import format.
import type { DocumentKind, ExportPage, Snapshot, StoredExport, StoredUser } from '../store/contract.ts'
import { elementPages, pagesOf, userPages } from '../store/paging/paging.ts'
import { documentLine, exportLines, userLine } from './format/write-record.ts'

const DOCUMENTS_PER_READ = 32
const ELEMENTS_PER_READ = 64

/**
 * Yields lines with their line ends: each user's projects, each followed by its exports, oldest first, then the rest. A
 * user without any data gets a line too.
 */
export async function* dumpUsers(snapshot: Snapshot): AsyncGenerator<string> {
  for await (const users of userPages(snapshot)) {
    for (const user of users) yield* dumpUser(snapshot, user)
  }
}

export async function* dumpUser(snapshot: Snapshot, user: StoredUser): AsyncGenerator<string> {
  let isEmpty = true
  for await (const line of dumpContents(snapshot, user)) {
    isEmpty = false
    yield line
  }
  if (isEmpty) yield userLine(user.email)
}

async function* dumpContents(snapshot: Snapshot, user: StoredUser): AsyncGenerator<string> {
  for await (const page of documentPages(snapshot, user, 'project')) {
    const exports = await snapshot.exportsOf(page.map(({ ref }) => allExports(user, ref ?? '')))
    for (const [index, { text }] of page.entries()) {
      yield documentLine('project', user.email, text)
      yield* dumpExports(snapshot, user, exports[index] ?? [])
    }
  }
  for (const ref of await snapshot.exportRefsWithoutProject(user.id)) {
    const [exports = []] = await snapshot.exportsOf([allExports(user, ref)])
    yield* dumpExports(snapshot, user, exports)
  }
  for (const kind of ['template', 'uiLibrary'] as const) {
    for await (const page of documentPages(snapshot, user, kind)) {
      for (const { text } of page) yield documentLine(kind, user.email, text)
    }
  }
}

function allExports({ id: userId }: StoredUser, ref: string): ExportPage {
  return { userId, ref, after: null, limit: null }
}

function documentPages(snapshot: Snapshot, { id: userId }: StoredUser, kind: DocumentKind) {
  return pagesOf({
    start: 0,
    limit: DOCUMENTS_PER_READ,
    read: async (after, limit) => (await snapshot.documentsOf([{ userId, kind, after, limit }]))[0] ?? [],
    keyOf: ({ position }) => position,
  })
}

/** `exports` are newest first; the lines are oldest first. */
async function* dumpExports(
  snapshot: Snapshot,
  { email }: StoredUser,
  exports: readonly StoredExport[],
): AsyncGenerator<string> {
  for (const one of exports.toReversed()) {
    const { ref, createdAt, byteLength: length } = one
    yield* exportLines(email, { ref, createdAt, length, id: String(one.id) }, elementsOf(snapshot, one))
  }
}

async function* elementsOf(snapshot: Snapshot, one: StoredExport): AsyncGenerator<string> {
  for await (const page of elementPages(snapshot, one, ELEMENTS_PER_READ)) for (const { text } of page) yield text
}
