// Dumps one user or all users in the import format.
import type { ExportPage, Snapshot, StoredDocument, StoredExport, StoredUser } from '../store/contract.ts'
import { documentParts, elementParts, userPages } from '../store/paging/paging.ts'
import { documentLine, exportLines, userLine } from './format/write-record.ts'

/** Projects whose exports are listed by one read. */
const PROJECTS_PER_READ = 32

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
  for await (const projects of documentParts(snapshot, { userId: user.id, kind: 'project' })) {
    for (let start = 0; start < projects.length; start += PROJECTS_PER_READ) {
      yield* dumpProjects(snapshot, user, projects.slice(start, start + PROJECTS_PER_READ))
    }
  }
  for (const ref of await snapshot.exportRefsWithoutProject(user.id)) {
    const [exports = []] = await snapshot.exportsOf([allExports(user, ref)])
    yield* dumpExports(snapshot, user, exports)
  }
  for (const kind of ['template', 'uiLibrary'] as const) {
    for await (const documents of documentParts(snapshot, { userId: user.id, kind })) {
      for (const { text } of documents) yield documentLine(kind, user.email, text)
    }
  }
}

async function* dumpProjects(
  snapshot: Snapshot,
  user: StoredUser,
  projects: readonly StoredDocument[],
): AsyncGenerator<string> {
  const exports = await snapshot.exportsOf(projects.map(({ ref }) => allExports(user, ref ?? '')))
  for (const [index, { text }] of projects.entries()) {
    yield documentLine('project', user.email, text)
    yield* dumpExports(snapshot, user, exports[index] ?? [])
  }
}

function allExports({ id: userId }: StoredUser, ref: string): ExportPage {
  return { userId, ref, after: null, limit: null }
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
  for await (const elements of elementParts(snapshot, one)) for (const { text } of elements) yield text
}
