// The reads of stored workspaces on one SQLite connection.
//
// This build of SQLite (with STAT4) recompiles a statement with a join, an ORDER BY over an index or a bound LIMIT
// whenever a value is bound to it, because the value could change the plan (https://www.sqlite.org/c3ref/prepare.html).
// That costs five to ten times as much as running it. `+?` is an expression that no plan depends on, so frequent
// statements use it.
import type { Database } from 'better-sqlite3'
import type {
  Awaitable,
  ExpectedVersion,
  OfUser,
  StoredDocument,
  StoredExport,
  StoredUser,
  WorkspaceReads,
} from '../contract.ts'
import { createDocumentPages, DOCUMENT } from './engine/document-pages.ts'
import { createElementPages } from './engine/element-pages.ts'
import { createExportPages, EXPORT } from './engine/export-pages.ts'
import { createNewestExports } from './engine/newest-exports.ts'

type ExportIdentity = [user: number, ref: string, instant: string, digest: string]

interface Count {
  readonly count: number
}

/** `read` runs a read inside a transaction; `readNow` does the same, but sees everything that is committed by now. */
export function createReads(
  database: Database,
  read: <T>(run: () => T) => T,
  readNow: <T>(run: () => T) => T = read,
): WorkspaceReads {
  const documents = createDocumentPages(database)
  const exports = createExportPages(database)
  const newestExports = createNewestExports(database, exports)
  const elements = createElementPages(database)
  const documentById = database.prepare<[number, string, string], StoredDocument>(
    `select ${DOCUMENT} from document where user_id = ? and kind = ? and id = ?`,
  )
  const documentCount = database.prepare<[number, string], Count>(
    'select count(*) as count from document where user_id = ? and kind = ?',
  )
  const projectByRef = database.prepare<[number, string], StoredDocument>(
    `select ${DOCUMENT} from document where user_id = ? and ref = ?`,
  )
  const exportByKey = database.prepare<[...ExportIdentity, user: number, ref: string], StoredExport>(
    `select ${EXPORT} from export where user_id = +? and ref = +? and instant = +? and digest = +?
       and exists (select 1 from document where user_id = +? and ref = +?)`,
  )
  const exportCount = database.prepare<[number, string], Count>(
    'select count(*) as count from export where user_id = ? and ref = ?',
  )
  const users = database.prepare<[string, number], StoredUser>(
    'select id, email from user where email > +? order by email limit +?',
  )
  const userByEmail = database.prepare<[string], StoredUser>('select id, email from user where email = ?')
  const userById = database.prepare<[number], StoredUser>('select id, email from user where id = ?')
  const exportRefsWithoutProject = database.prepare<[number], { readonly ref: string }>(
    `select distinct ref from export e where user_id = +?
       and not exists (select 1 from document d where d.user_id = e.user_id and d.ref = e.ref)
     order by ref`,
  )

  const storedVersionOf = database.prepare<[number], { readonly stamp: string }>('select stamp from user where id = ?')

  /** Answers every question from one state. */
  function answerAll<K extends OfUser, V>(
    questions: readonly K[],
    answer: (question: K) => V,
  ): Awaitable<readonly V[]> {
    return inOneState(questions, () => questions.map(answer))
  }

  function inOneState<V>(questions: readonly OfUser[], answer: () => V): Awaitable<V> {
    return read(() => {
      const compared = new Set<ExpectedVersion>()
      for (const { userId, expected } of questions) {
        if (!expected || compared.has(expected)) continue
        compared.add(expected)
        expected.onRead(storedVersionOf.get(userId)?.stamp ?? null)
      }
      return answer()
    })
  }

  return {
    documentsOf: (pages) => answerAll(pages, documents.page),
    documentsWithin: (pages) => answerAll(pages, documents.part),
    documentsById: (keys) => answerAll(keys, ({ userId, kind, id }) => documentById.get(userId, kind, id) ?? null),
    documentCounts: (lists) => answerAll(lists, ({ userId, kind }) => documentCount.get(userId, kind)?.count ?? 0),
    projectsByRef: (refs) => answerAll(refs, ({ userId, ref }) => projectByRef.get(userId, ref) ?? null),
    latestExports: (questions) => inOneState(questions, () => newestExports(questions)),
    exportsByKey: (keys) =>
      answerAll(
        keys,
        ({ userId, ref, instant, digest }) => exportByKey.get(userId, ref, instant, digest, userId, ref) ?? null,
      ),
    exportsOf: (pages) => answerAll(pages, exports),
    exportCounts: (refs) => answerAll(refs, ({ userId, ref }) => exportCount.get(userId, ref)?.count ?? 0),
    elementsOf: (pages) => answerAll(pages, elements.page),
    elementsWithin: (pages) => answerAll(pages, elements.part),
    elementRunsOf: (questions) => answerAll(questions, elements.run),
    usersAfter: (email, limit) => read(() => users.all(email, limit)),
    userByEmail: (email) => read(() => userByEmail.get(email) ?? null),
    usersById: (ids) => readNow(() => ids.flatMap((id) => userById.get(id) ?? [])),
    exportRefsWithoutProject: (userId) => read(() => exportRefsWithoutProject.all(userId).map(({ ref }) => ref)),
  }
}
