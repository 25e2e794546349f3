// The reads of stored workspaces, on one SQLite connection.
import type { Database } from 'better-sqlite3'
import type {
  DocumentList,
  ElementPage,
  ExportPage,
  Page,
  ProjectRef,
  StoredDocument,
  StoredElement,
  StoredExport,
  StoredUser,
  WorkspaceReads,
} from '../store.ts'

/** SQLite: a negative limit is no limit. */
const NO_LIMIT = -1

const DOCUMENT = 'user_id as userId, kind, position, id, ref, text'
const EXPORT =
  'id, user_id as userId, ref, created_at as createdAt, instant, digest, byte_length as byteLength, element_count as elementCount'

interface Count {
  readonly count: number
}

/** `read` says inside which transaction a read runs. */
export function createReads(database: Database, read: <T>(run: () => T) => T): WorkspaceReads {
  const documents = database.prepare<[number, string, number, number], StoredDocument>(
    `select ${DOCUMENT} from document where user_id = ? and kind = ? and position > ? order by position limit ?`,
  )
  const documentCount = database.prepare<[number, string], Count>(
    'select count(*) as count from document where user_id = ? and kind = ?',
  )
  const projectByRef = database.prepare<[number, string], StoredDocument>(
    `select ${DOCUMENT} from document where user_id = ? and ref = ?`,
  )
  const exportsAfter = database.prepare<[number, string, string, number, number], StoredExport>(
    `select ${EXPORT} from export
     where user_id = ? and ref = ? and stage is null and (instant, id) < (?, ?)
     order by instant desc, id desc limit ?`,
  )
  const exports = database.prepare<[number, string, number], StoredExport>(
    `select ${EXPORT} from export where user_id = ? and ref = ? and stage is null order by instant desc, id desc limit ?`,
  )
  const exportCount = database.prepare<[number, string], Count>(
    'select count(*) as count from export where user_id = ? and ref = ? and stage is null',
  )
  const elements = database.prepare<[number, number, number, number], StoredElement>(
    `select position, text from export_element
     where user_id = ? and export_id = ? and position > ? order by position limit ?`,
  )
  const users = database.prepare<[string, number], StoredUser>(
    'select id, email from user where email > ? order by email limit ?',
  )
  const userByEmail = database.prepare<[string], StoredUser>('select id, email from user where email = ?')
  const exportRefsWithoutProject = database.prepare<[number], { readonly ref: string }>(
    `select distinct ref from export e where user_id = ? and stage is null
       and not exists (select 1 from document d where d.user_id = e.user_id and d.ref = e.ref)
     order by ref`,
  )

  return {
    documentsOf: (pages: readonly (DocumentList & Page)[]) =>
      read(() => pages.map((page) => documents.all(page.userId, page.kind, page.after, page.limit ?? NO_LIMIT))),
    documentCounts: (lists: readonly DocumentList[]) =>
      read(() => lists.map((list) => documentCount.get(list.userId, list.kind)?.count ?? 0)),
    projectsByRef: (refs: readonly ProjectRef[]) =>
      read(() => refs.map(({ userId, ref }) => projectByRef.get(userId, ref) ?? null)),
    latestExports: (refs: readonly ProjectRef[]) =>
      read(() => refs.map(({ userId, ref }) => exports.get(userId, ref, 1) ?? null)),
    exportsOf: (pages: readonly ExportPage[]) =>
      read(() =>
        pages.map(({ userId, ref, after, limit }) =>
          after === null
            ? exports.all(userId, ref, limit ?? NO_LIMIT)
            : exportsAfter.all(userId, ref, after.instant, after.id, limit ?? NO_LIMIT),
        ),
      ),
    exportCounts: (refs: readonly ProjectRef[]) =>
      read(() => refs.map(({ userId, ref }) => exportCount.get(userId, ref)?.count ?? 0)),
    elementsOf: (pages: readonly ElementPage[]) =>
      read(() => pages.map((page) => elements.all(page.userId, page.exportId, page.after, page.limit ?? NO_LIMIT))),
    usersAfter: (email: string, limit: number) => read(() => users.all(email, limit)),
    userByEmail: (email: string) => read(() => userByEmail.get(email) ?? null),
    exportRefsWithoutProject: (userId: number) =>
      read(() => exportRefsWithoutProject.all(userId).map(({ ref }) => ref)),
  }
}
