// The reads of stored workspaces in PostgreSQL: each verb one statement for all of its questions.
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
import type { Connection, Statement } from './connection.ts'
import { keyOf } from './names.ts'

const EXPORT =
  'id, user_id as "userId", ref, created_at as "createdAt", instant, digest, byte_length as "byteLength", element_count as "elementCount"'
const KEY_OF_REF = 'workspace_gateway.key_of(ref)'

const DOCUMENTS: Statement = {
  name: 'documentsOf',
  text: `select asked.n, d.position, d.id, d.ref, d.text
    from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) with ordinality as asked (user_id, kind, after, max, n)
    cross join lateral (
      select position, id, ref, text from workspace_gateway.document
      where user_id = asked.user_id and kind = asked.kind and position > asked.after
      order by position limit asked.max) d`,
}
const DOCUMENT_COUNTS: Statement = {
  name: 'documentCounts',
  text: `select asked.n, d.count from unnest($1::bigint[], $2::text[]) with ordinality as asked (user_id, kind, n)
    cross join lateral (
      select count(*) from workspace_gateway.document where user_id = asked.user_id and kind = asked.kind) d`,
}
const PROJECTS_BY_REF: Statement = {
  name: 'projectsByRef',
  text: `select asked.n, d.* from unnest($1::bigint[], $2::bytea[]) with ordinality as asked (user_id, ref_key, n)
    cross join lateral (
      select position, id, ref, text from workspace_gateway.document
      where user_id = asked.user_id and ${KEY_OF_REF} = asked.ref_key and ref is not null) d`,
}
const LATEST_EXPORTS: Statement = {
  name: 'latestExports',
  text: `select asked.n, e.* from unnest($1::bigint[], $2::bytea[]) with ordinality as asked (user_id, ref_key, n)
    cross join lateral (
      select ${EXPORT} from workspace_gateway.export
      where user_id = asked.user_id and ${KEY_OF_REF} = asked.ref_key
      order by instant desc, id desc limit 1) e
    where exists (
      select 1 from workspace_gateway.document
      where user_id = asked.user_id and ${KEY_OF_REF} = asked.ref_key and ref is not null)`,
}
const EXPORTS: Statement = {
  name: 'exportsOf',
  text: `select asked.n, e.*
    from unnest($1::bigint[], $2::bytea[], $3::text[], $4::bigint[], $5::bigint[])
      with ordinality as asked (user_id, ref_key, after_instant, after_id, max, n)
    cross join lateral (
      select ${EXPORT} from workspace_gateway.export
      where user_id = asked.user_id and ${KEY_OF_REF} = asked.ref_key
        and (asked.after_id is null or (instant, id) < (asked.after_instant, asked.after_id))
      order by instant desc, id desc limit asked.max) e`,
}
const EXPORT_COUNTS: Statement = {
  name: 'exportCounts',
  text: `select asked.n, e.count from unnest($1::bigint[], $2::bytea[]) with ordinality as asked (user_id, ref_key, n)
    cross join lateral (
      select count(*) from workspace_gateway.export
      where user_id = asked.user_id and ${KEY_OF_REF} = asked.ref_key) e`,
}
const ELEMENTS: Statement = {
  name: 'elementsOf',
  text: `select asked.n, e.position, e.text
    from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
      with ordinality as asked (user_id, export_id, after, max, n)
    cross join lateral (
      select position, text from workspace_gateway.export_element
      where user_id = asked.user_id and export_id = asked.export_id and position > asked.after
      order by position limit asked.max) e
    where exists (
      select 1 from workspace_gateway.export where (user_id, id) = (asked.user_id, asked.export_id))`,
}
const USERS_AFTER: Statement = {
  name: 'usersAfter',
  text: 'select id, email from workspace_gateway.user where email > $1 order by email limit $2',
}
const USER_BY_EMAIL: Statement = {
  name: 'userByEmail',
  text: 'select id, email from workspace_gateway.user where email = $1',
}
const USERS_BY_ID: Statement = {
  name: 'usersById',
  text: 'select id, email from workspace_gateway.user where id = any($1::bigint[])',
}
const EXPORT_REFS_WITHOUT_PROJECT: Statement = {
  name: 'exportRefsWithoutProject',
  text: `select distinct ref from workspace_gateway.export e where user_id = $1 and not exists (
      select 1 from workspace_gateway.document d
      where d.user_id = e.user_id and d.ref is not null
        and workspace_gateway.key_of(d.ref) = workspace_gateway.key_of(e.ref))
    order by ref`,
}

/** `n` counts questions from 1. */
type Answered<R> = R & { readonly n: number }
type Counted = Answered<{ readonly count: number }>

/** `run` says on which connection a read runs; it may run it twice. */
export type RunRead = <T>(read: (connection: Connection) => Promise<T>) => Promise<T>

/** Lists in, lists out; the caller brings the questions of one turn together. */
export function createReads(run: RunRead): WorkspaceReads {
  /** The rows of each question, in the order of the rows. */
  function ask<K, R extends Answered<object>>(
    statement: Statement,
    questions: readonly K[],
    columns: readonly ((question: K) => unknown)[],
  ): Promise<readonly (readonly R[])[]> {
    if (questions.length === 0) return Promise.resolve([])
    const values = columns.map((column) => questions.map(column))
    return run(async (connection) => {
      const rows = await connection.query<R>(statement, values)
      const answers: R[][] = questions.map(() => [])
      for (const row of rows) answers[row.n - 1]?.push(row)
      return answers
    })
  }

  const refColumns = [({ userId }: ProjectRef) => userId, ({ ref }: ProjectRef) => keyOf(ref)] as const

  return {
    async documentsOf(pages) {
      const found = await ask<DocumentList & Page, Answered<Omit<StoredDocument, 'userId' | 'kind'>>>(
        DOCUMENTS,
        pages,
        [({ userId }) => userId, ({ kind }) => kind, ({ after }) => after, ({ limit }) => limit],
      )
      return pages.map(({ userId, kind }, index) =>
        (found[index] ?? []).map(({ position, id, ref, text }) => ({ userId, kind, position, id, ref, text })),
      )
    },
    async documentCounts(lists) {
      const found = await ask<DocumentList, Counted>(DOCUMENT_COUNTS, lists, [
        ({ userId }) => userId,
        ({ kind }) => kind,
      ])
      return found.map(([row]) => row?.count ?? 0)
    },
    async projectsByRef(refs) {
      const found = await ask<ProjectRef, Answered<StoredDocument>>(PROJECTS_BY_REF, refs, refColumns)
      return refs.map(({ userId }, index) => {
        const [row] = found[index] ?? []
        if (!row) return null
        const { position, id, ref, text } = row
        return { userId, kind: 'project', position, id, ref, text }
      })
    },
    async latestExports(refs) {
      const found = await ask<ProjectRef, Answered<StoredExport>>(LATEST_EXPORTS, refs, refColumns)
      return found.map(([row]) => (row ? toExport(row) : null))
    },
    async exportsOf(pages) {
      const found = await ask<ExportPage, Answered<StoredExport>>(EXPORTS, pages, [
        ...refColumns,
        ({ after }) => after?.instant ?? null,
        ({ after }) => after?.id ?? null,
        ({ limit }) => limit,
      ])
      return found.map((rows) => rows.map(toExport))
    },
    async exportCounts(refs) {
      const found = await ask<ProjectRef, Counted>(EXPORT_COUNTS, refs, refColumns)
      return found.map(([row]) => row?.count ?? 0)
    },
    async elementsOf(pages) {
      const found = await ask<ElementPage, Answered<StoredElement>>(ELEMENTS, pages, [
        ({ userId }) => userId,
        ({ exportId }) => exportId,
        ({ after }) => after,
        ({ limit }) => limit,
      ])
      return found.map((rows) => rows.map(({ position, text }) => ({ position, text })))
    },
    usersAfter: (email, limit) =>
      run((connection) => connection.query<StoredUser & object>(USERS_AFTER, [email, limit])),
    userByEmail: (email) =>
      run(async (connection) => (await connection.query<StoredUser & object>(USER_BY_EMAIL, [email]))[0] ?? null),
    usersById: (ids) => run((connection) => connection.query<StoredUser & object>(USERS_BY_ID, [ids])),
    exportRefsWithoutProject: (userId) =>
      run(async (connection) =>
        (await connection.query<{ ref: string }>(EXPORT_REFS_WITHOUT_PROJECT, [userId])).map(({ ref }) => ref),
      ),
  }
}

function toExport({ n: _, ...found }: Answered<StoredExport>): StoredExport {
  return found
}
