// The reads that requests make in PostgreSQL, as a table: each verb is one statement for all of its questions.
import type {
  DocumentList,
  ElementPage,
  ElementRun,
  ElementRunQuestion,
  ExportPage,
  OfUser,
  Page,
  ProjectRef,
  StoredDocument,
  StoredElement,
  StoredExport,
} from '../../contract.ts'
import type { Connection, Statement } from '../connection.ts'
import { keyOf } from './name-hash.ts'

/** `n` counts questions from 1. */
type Row<R> = Partial<R> & { readonly n: number; readonly isSeen: string | null }

export interface ReadVerb<K extends OfUser, V> {
  readonly statement: Statement
  /** The parameters that this verb has beside those of all: one array each. */
  readonly columns: readonly ((question: K) => unknown)[]
  /** From the rows of its question. */
  readonly answer: (rows: readonly Row<object>[], question: K) => V
}

export interface Answer<V> {
  readonly value: V
  /** Whether the user was in the state the question names, in the same snapshot; also where it names none. */
  readonly isSeen: boolean
}

/** Of every `lateral`: unless `$1` nothing is read where the user's state is not the one the question names. */
const WHERE = 'where ($1::boolean or u.stamp = asked.stamp) and user_id = asked.user_id'

type Documented = Omit<StoredDocument, 'userId' | 'kind'>

/**
 * `lateral` reads for one question, `asked`; the first of its columns, `key`, is never null. Every question has at least
 * one row, which tells whether the state is the one it names. (`offset 0`: looked up once a question, not once a row.)
 */
function readVerb<K extends OfUser, R extends object, V>(
  name: string,
  parameters: readonly (readonly [column: string, type: string, value: (question: K) => unknown])[],
  { key, lateral }: { readonly key: keyof R & string; readonly lateral: string },
  answer: (rows: readonly R[], question: K) => V,
): ReadVerb<K, V> {
  const types = parameters.map(([, type], index) => `, $${index + 4}::${type}[]`).join('')
  const columns = parameters.map(([column]) => `${column}, `).join('')
  return {
    statement: {
      name,
      text: `select asked.n, u.stamp = asked.stamp as "isSeen", found.*
        from unnest($2::bigint[], $3::text[]${types}) with ordinality as asked (user_id, stamp, ${columns}n)
        cross join lateral (
          select (select stamp from workspace_gateway.user where id = asked.user_id) as stamp offset 0) u
        left join lateral (${lateral}) found on true`,
    },
    columns: parameters.map(([, , value]) => value),
    // What the statement selects is what `R` says.
    answer: (rows, question) => answer(rows.filter((row) => Reflect.get(row, key) !== null) as R[], question),
  }
}

const KIND = ['kind', 'text', ({ kind }: DocumentList) => kind] as const
const REF_KEY = ['ref_key', 'bytea', ({ ref }: ProjectRef) => keyOf(ref)] as const
const PAGE = [
  ['after', 'bigint', ({ after }: Page) => after],
  ['max', 'bigint', ({ limit }: Page) => limit],
] as const

const EXPORT =
  'id, user_id as "userId", ref, created_at as "createdAt", instant, digest, byte_length as "byteLength", element_count as "elementCount"'
const KEY_OF_REF = 'workspace_gateway.key_of(ref)'

export const READ_VERBS = {
  documentsOf: readVerb<DocumentList & Page, Documented, readonly StoredDocument[]>(
    'documentsOf',
    [KIND, ...PAGE],
    {
      key: 'position',
      lateral: `select position, id, ref, text from workspace_gateway.document
        ${WHERE} and kind = asked.kind and position > asked.after
        order by position limit asked.max`,
    },
    (rows, { userId, kind }) => rows.map((row) => toDocument(row, userId, kind)),
  ),
  documentCounts: readVerb<DocumentList, { readonly count: number }, number>(
    'documentCounts',
    [KIND],
    {
      key: 'count',
      lateral: `select count(*) from workspace_gateway.document ${WHERE} and kind = asked.kind`,
    },
    ([row]) => row?.count ?? 0,
  ),
  projectsByRef: readVerb<ProjectRef, Documented, StoredDocument | null>(
    'projectsByRef',
    [REF_KEY],
    {
      key: 'position',
      lateral: `select position, id, ref, text from workspace_gateway.document
        ${WHERE} and ${KEY_OF_REF} = asked.ref_key and ref is not null`,
    },
    ([row], { userId }) => (row ? toDocument(row, userId, 'project') : null),
  ),
  latestExports: readVerb<ProjectRef, StoredExport, StoredExport | null>(
    'latestExports',
    [REF_KEY],
    {
      key: 'id',
      lateral: `select ${EXPORT} from workspace_gateway.export
        ${WHERE} and ${KEY_OF_REF} = (
          select asked.ref_key from workspace_gateway.document
          where user_id = asked.user_id and ${KEY_OF_REF} = asked.ref_key and ref is not null)
        order by instant desc, id desc limit 1`,
    },
    ([row]) => (row ? toExport(row) : null),
  ),
  exportsOf: readVerb<ExportPage, StoredExport, readonly StoredExport[]>(
    'exportsOf',
    [
      REF_KEY,
      ['after_instant', 'text', ({ after }) => after?.instant ?? null],
      ['after_id', 'bigint', ({ after }) => after?.id ?? null],
      ['max', 'bigint', ({ limit }) => limit],
    ],
    {
      key: 'id',
      lateral: `select ${EXPORT} from workspace_gateway.export
        ${WHERE} and ${KEY_OF_REF} = asked.ref_key
          and (asked.after_id is null or (instant, id) < (asked.after_instant, asked.after_id))
        order by instant desc, id desc limit asked.max`,
    },
    (rows) => rows.map(toExport),
  ),
  exportCounts: readVerb<ProjectRef, { readonly count: number }, number>(
    'exportCounts',
    [REF_KEY],
    {
      key: 'count',
      lateral: `select count(*) from workspace_gateway.export
        ${WHERE} and ${KEY_OF_REF} = asked.ref_key`,
    },
    ([row]) => row?.count ?? 0,
  ),
  elementsOf: readVerb<ElementPage, StoredElement, readonly StoredElement[]>(
    'elementsOf',
    [['export_id', 'bigint', ({ exportId }) => exportId], ...PAGE],
    {
      key: 'position',
      lateral: `select position, text from workspace_gateway.export_element
        ${WHERE} and position > asked.after and export_id = (
          select id from workspace_gateway.export where user_id = asked.user_id and id = asked.export_id)
        order by position limit asked.max`,
    },
    (rows) => rows.map(({ position, text }) => ({ position, text })),
  ),
  elementRunsOf: readVerb<ElementRunQuestion, { readonly text: string; readonly last: number }, ElementRun | null>(
    'elementRunsOf',
    [
      ['export_id', 'bigint', ({ exportId }) => exportId],
      ['after', 'bigint', ({ after }) => after],
      ['max_elements', 'bigint', ({ maxElements }) => maxElements],
      ['max_bytes', 'bigint', ({ maxBytes }) => maxBytes],
    ],
    {
      key: 'last',
      lateral: `select string_agg(text, ',' order by position) as text, max(position) as last from (
          select position, text, sum(octet_length(text)) over (order by position) as total
          from workspace_gateway.export_element
          ${WHERE} and position > asked.after and position <= asked.after + asked.max_elements and export_id = (
            select id from workspace_gateway.export where user_id = asked.user_id and id = asked.export_id)) sized
        where total <= asked.max_bytes or position = asked.after + 1`,
    },
    ([row]) => (row ? { bytes: Buffer.from(row.text), last: row.last } : null),
  ),
}

/** One answer per question, in the order given. `isAnyState` false: only a question whose state it is has a value that counts. */
export async function askAll<K extends OfUser, V>(
  connection: Connection,
  { statement, columns, answer }: ReadVerb<K, V>,
  questions: readonly K[],
  isAnyState: boolean,
): Promise<readonly Answer<V>[]> {
  const rows = await connection.query<Row<object>>(statement, [
    isAnyState,
    questions.map(({ userId }) => userId),
    questions.map(({ seen }) => seen?.stateVersion ?? null),
    ...columns.map((column) => questions.map(column)),
  ])
  const rowsOf: Row<object>[][] = questions.map(() => [])
  for (const row of rows) rowsOf[row.n - 1]?.push(row)
  return questions.map((question, index) => {
    const own = rowsOf[index] ?? []
    return { value: answer(own, question), isSeen: question.seen === undefined || own[0]?.isSeen === 't' }
  })
}

function toDocument({ position, id, ref, text }: Documented, userId: number, kind: StoredDocument['kind']) {
  return { userId, kind, position, id, ref, text }
}

/** Without what the row has beside. */
function toExport(row: StoredExport): StoredExport {
  const { id, userId, ref, createdAt, instant, digest, byteLength, elementCount } = row
  return { id, userId, ref, createdAt, instant, digest, byteLength, elementCount }
}
