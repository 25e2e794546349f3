// The reads of stored workspaces, on one SQLite connection.
//
// In this build of SQLite (with STAT4) a statement with a join, an ORDER BY over an index or a bound LIMIT is compiled anew
// for every value bound to it, at ten times the cost of running it. So what is read most often has none of these: whole
// lists come in the order of their row id, and for the newest export the values go through a one-row table.
import type { Database } from 'better-sqlite3'
import type {
  Awaitable,
  DocumentList,
  ElementPage,
  ElementRun,
  ElementRunQuestion,
  ExpectedVersion,
  ExportPage,
  OfUser,
  Page,
  StoredDocument,
  StoredElement,
  StoredExport,
  StoredUser,
  WorkspaceReads,
} from '../contract.ts'
import {
  DOCUMENT_KEY,
  DOCUMENT_POSITION,
  ELEMENT_KEY,
  ELEMENT_POSITION,
  KIND_CODES,
  MAX_DOCUMENT_POSITION,
  MAX_ELEMENT_POSITION,
} from './engine/row-ids.ts'

/** SQLite: a negative limit is no limit. */
const NO_LIMIT = -1

const DOCUMENT = `user_id as userId, kind, ${DOCUMENT_POSITION} as position, id, ref, text`
const EXPORT =
  'id, user_id as userId, ref, created_at as createdAt, instant, digest, byte_length as byteLength, element_count as elementCount'

type DocumentRange = [user: number, kind: number, after: number, user: number, kind: number, last: number]
const DOCUMENTS = `select ${DOCUMENT} from document where key > ${DOCUMENT_KEY} and key <= ${DOCUMENT_KEY} order by key`

type ElementRange = [exportId: number, after: number, exportId: number, last: number]
const ELEMENTS = `select ${ELEMENT_POSITION} as position, text from export_element
  where key > ${ELEMENT_KEY} and key <= ${ELEMENT_KEY} order by key`

/** The positions of a run are consecutive, so its length needs no `limit`. */
type RunRange = [exportId: number, after: number, exportId: number, last: number]
const RUN = `from export_element where key > ${ELEMENT_KEY} and key <= ${ELEMENT_KEY}`

interface RunSize {
  readonly byteLength: number | null
  readonly last: number | null
}

interface Count {
  readonly count: number
}

/** `read` says inside which transaction a read runs. */
export function createReads(database: Database, read: <T>(run: () => T) => T): WorkspaceReads {
  const allDocuments = database.prepare<DocumentRange, StoredDocument>(DOCUMENTS)
  const documentPages = database.prepare<[...DocumentRange, number], StoredDocument>(`${DOCUMENTS} limit ?`)
  const documentCount = database.prepare<[number, string], Count>(
    'select count(*) as count from document where user_id = ? and kind = ?',
  )
  const projectByRef = database.prepare<[number, string], StoredDocument>(
    `select ${DOCUMENT} from document where user_id = ? and ref = ?`,
  )
  const newestExport = database.prepare<[number, string], StoredExport>(
    `with asked (user_id, ref) as (values (?, ?))
     select ${EXPORT} from export
     where (user_id, ref) = (select user_id, ref from asked)
       and exists (select 1 from document where (user_id, ref) = (select user_id, ref from asked))
     order by instant desc, id desc limit 1`,
  )
  const exports = database.prepare<[number, string, number], StoredExport>(
    `select ${EXPORT} from export where user_id = ? and ref = ? order by instant desc, id desc limit ?`,
  )
  const exportsAfter = database.prepare<[number, string, string, number, number], StoredExport>(
    `select ${EXPORT} from export
     where user_id = ? and ref = ? and (instant, id) < (?, ?) order by instant desc, id desc limit ?`,
  )
  const exportCount = database.prepare<[number, string], Count>(
    'select count(*) as count from export where user_id = ? and ref = ?',
  )
  const allElements = database.prepare<ElementRange, StoredElement>(ELEMENTS)
  const elementPages = database.prepare<[...ElementRange, number], StoredElement>(`${ELEMENTS} limit ?`)
  // Lengths are known without reading the texts that lie on overflow pages.
  const runSize = database.prepare<RunRange, RunSize>(
    `select sum(octet_length(text)) as byteLength, max(${ELEMENT_POSITION}) as last ${RUN}`,
  )
  const runSizes = database.prepare<RunRange, RunSize>(
    `select octet_length(text) as byteLength, ${ELEMENT_POSITION} as last ${RUN} order by key`,
  )
  // Joined here, and as a blob: no string is made of it, and no object for each row.
  const runBytes = database.prepare<RunRange, { readonly bytes: Uint8Array }>(
    `select cast(group_concat(text, ',') as blob) as bytes from (select text ${RUN} order by key)`,
  )
  const users = database.prepare<[string, number], StoredUser>(
    'select id, email from user where email > ? order by email limit ?',
  )
  const userByEmail = database.prepare<[string], StoredUser>('select id, email from user where email = ?')
  const userById = database.prepare<[number], StoredUser>('select id, email from user where id = ?')
  const exportRefsWithoutProject = database.prepare<[number], { readonly ref: string }>(
    `select distinct ref from export e where user_id = ?
       and not exists (select 1 from document d where d.user_id = e.user_id and d.ref = e.ref)
     order by ref`,
  )

  const storedVersionOf = database.prepare<[number], { readonly stamp: string }>('select stamp from user where id = ?')

  /** One answer per question, all from one state. */
  function answerAll<K extends OfUser, V>(
    questions: readonly K[],
    answer: (question: K) => V,
  ): Awaitable<readonly V[]> {
    return read(() => {
      const compared = new Set<ExpectedVersion>()
      for (const { userId, seen } of questions) {
        if (!seen || compared.has(seen)) continue
        compared.add(seen)
        if (storedVersionOf.get(userId)?.stamp !== seen.stateVersion) seen.onMismatch()
      }
      return questions.map(answer)
    })
  }

  function documentPage({ userId, kind, after, limit }: DocumentList & Page): readonly StoredDocument[] {
    const code = KIND_CODES[kind]
    const from = Math.min(after, MAX_DOCUMENT_POSITION)
    const range: DocumentRange = [userId, code, from, userId, code, MAX_DOCUMENT_POSITION]
    return limit === null ? allDocuments.all(...range) : documentPages.all(...range, limit)
  }

  function exportPage({ userId, ref, after, limit }: ExportPage): readonly StoredExport[] {
    return after === null
      ? exports.all(userId, ref, limit ?? NO_LIMIT)
      : exportsAfter.all(userId, ref, after.instant, after.id, limit ?? NO_LIMIT)
  }

  function elementPage({ exportId, after, limit }: ElementPage): readonly StoredElement[] {
    const range: ElementRange = [exportId, Math.min(after, MAX_ELEMENT_POSITION), exportId, MAX_ELEMENT_POSITION]
    return limit === null ? allElements.all(...range) : elementPages.all(...range, limit)
  }

  function elementRun({ exportId, after, maxElements, maxBytes }: ElementRunQuestion): ElementRun | null {
    const to = Math.min(after + maxElements, MAX_ELEMENT_POSITION)
    const size = runSize.get(exportId, after, exportId, to)
    if (size?.last == null) return null
    const isFitting = (size.byteLength ?? 0) <= maxBytes
    const last = isFitting ? size.last : lastWithin(maxBytes, runSizes.iterate(exportId, after, exportId, to))
    const found = runBytes.get(exportId, after, exportId, last)
    return found ? { bytes: found.bytes, last } : null
  }

  return {
    documentsOf: (pages) => answerAll(pages, documentPage),
    documentCounts: (lists) => answerAll(lists, ({ userId, kind }) => documentCount.get(userId, kind)?.count ?? 0),
    projectsByRef: (refs) => answerAll(refs, ({ userId, ref }) => projectByRef.get(userId, ref) ?? null),
    latestExports: (refs) => answerAll(refs, ({ userId, ref }) => newestExport.get(userId, ref) ?? null),
    exportsOf: (pages) => answerAll(pages, exportPage),
    exportCounts: (refs) => answerAll(refs, ({ userId, ref }) => exportCount.get(userId, ref)?.count ?? 0),
    elementsOf: (pages) => answerAll(pages, elementPage),
    elementRunsOf: (questions) => answerAll(questions, elementRun),
    usersAfter: (email, limit) => read(() => users.all(email, limit)),
    userByEmail: (email) => read(() => userByEmail.get(email) ?? null),
    usersById: (ids) => read(() => ids.flatMap((id) => userById.get(id) ?? [])),
    exportRefsWithoutProject: (userId) => read(() => exportRefsWithoutProject.all(userId).map(({ ref }) => ref)),
  }
}

/** The position up to which sizes add up to no more than `maxBytes`, the first at least. */
function lastWithin(maxBytes: number, sizes: Iterable<RunSize>): number {
  let total = 0
  let within = 0
  for (const { byteLength, last } of sizes) {
    total += byteLength ?? 0
    if (within > 0 && total > maxBytes) break
    within = last ?? within
  }
  return within
}
