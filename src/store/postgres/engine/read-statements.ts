// Defines the SQL statements of all reads that requests make in PostgreSQL.
import type {
  DocumentKey,
  DocumentList,
  ElementList,
  ElementPage,
  ElementRun,
  ElementRunQuestion,
  ExportKey,
  ExportPage,
  Page,
  PagePart,
  PageWithin,
  ProjectRef,
  StoredDocument,
  StoredElement,
  StoredExport,
} from '../../contract.ts'
import { AFTER_ALL, BEFORE_ALL } from '../../reads-contract.ts'
import { keyOf } from './name-hash.ts'
import { type PartRow, partOf, toPart } from './page-parts.ts'
import { type Direction, inListOrder, readVerb, WHERE } from './read-verb.ts'

/** A row for a project: its newest export, or nulls. */
type OfProject = { readonly isProject: true } & (StoredExport | { readonly id: null })
type Documented = Omit<StoredDocument, 'userId' | 'kind'>

/** Forces one index lookup per question: otherwise the planner may scan the whole table once and join. */
const LOOKUP = 'limit 1'

const KIND = ['kind', 'text', ({ kind }: DocumentList) => kind] as const
const REF_KEY = ['ref_key', 'bytea', ({ ref }: ProjectRef) => keyOf(ref)] as const
const EXPORT_ID = ['export_id', 'bigint', ({ exportId }: ElementList) => exportId] as const

/** Greater than every position, because positions are 32-bit integers. */
const NO_END = 2 ** 31
const PAGE = [
  ['after', 'bigint', ({ after }: Page) => after],
  ['before', 'bigint', ({ before }: Page) => before ?? NO_END],
  ['max', 'bigint', ({ limit }: Page) => limit],
] as const
const IN_PAGE = 'position > asked.after and position < asked.before'
const PAGE_WITHIN = [...PAGE, ['max_bytes', 'bigint', ({ maxBytes }: PageWithin) => maxBytes]] as const

const EXPORT =
  'id, user_id as "userId", ref, created_at as "createdAt", instant, digest, byte_length as "byteLength", element_count as "elementCount"'
const KEY_OF_REF = 'workspace_gateway.key_of(ref)'
const OF_PROJECT = `${KEY_OF_REF} = (
  select asked.ref_key from workspace_gateway.document
  where user_id = asked.user_id and ${KEY_OF_REF} = asked.ref_key and ref is not null)`
const ofExport = (condition = '') => `export_id = (
  select id from workspace_gateway.export where user_id = asked.user_id and id = asked.export_id ${condition})`

function documentPages(name: string, direction: Direction) {
  return readVerb<DocumentList & Page, Documented, readonly StoredDocument[]>(
    name,
    [KIND, ...PAGE],
    {
      key: 'position',
      lateral: `select position, id, ref, text from workspace_gateway.document
        ${WHERE} and kind = asked.kind and ${IN_PAGE}
        order by position ${direction} limit asked.max`,
    },
    (rows, { userId, kind }) => inListOrder(rows, direction).map((row) => toDocument(row, userId, kind)),
  )
}

function documentParts(name: string, direction: Direction) {
  const from = `from workspace_gateway.document ${WHERE} and kind = asked.kind and ${IN_PAGE}`
  return readVerb<DocumentList & PageWithin, PartRow<Documented>, PagePart<StoredDocument>>(
    name,
    [KIND, ...PAGE_WITHIN],
    { key: 'position', lateral: partOf({ columns: 'id, ref,', from }, direction) },
    (rows, { userId, kind }) => toPart<Documented, StoredDocument>(rows, (row) => toDocument(row, userId, kind)),
  )
}

function exportPages(name: string, direction: Direction) {
  return readVerb<ExportPage, StoredExport, readonly StoredExport[]>(
    name,
    [
      REF_KEY,
      ['after_instant', 'text', ({ after }) => (after ?? BEFORE_ALL).instant],
      ['after_id', 'bigint', ({ after }) => (after ?? BEFORE_ALL).id],
      ['before_instant', 'text', ({ before }) => (before ?? AFTER_ALL).instant],
      ['before_id', 'bigint', ({ before }) => (before ?? AFTER_ALL).id],
      ['max', 'bigint', ({ limit }) => limit],
    ],
    {
      key: 'id',
      lateral: `select ${EXPORT} from workspace_gateway.export
        ${WHERE} and ${KEY_OF_REF} = asked.ref_key
          and (instant, id) < (asked.after_instant, asked.after_id)
          and (instant, id) > (asked.before_instant, asked.before_id)
        order by instant ${direction}, id ${direction} limit asked.max`,
    },
    // Newest first, whichever end they were read from.
    (rows) => (direction === 'desc' ? rows : rows.toReversed()).map(toExport),
  )
}

function elementPages(name: string, direction: Direction) {
  return readVerb<ElementPage, StoredElement, readonly StoredElement[]>(
    name,
    [EXPORT_ID, ...PAGE],
    {
      key: 'position',
      lateral: `select position, text from workspace_gateway.export_element
        ${WHERE} and ${IN_PAGE} and ${ofExport()}
        order by position ${direction} limit asked.max`,
    },
    (rows) => inListOrder(rows, direction).map(toElement),
  )
}

function elementParts(name: string, direction: Direction) {
  const from = `from workspace_gateway.export_element ${WHERE} and ${IN_PAGE} and ${ofExport()}`
  return readVerb<ElementList & PageWithin, PartRow<StoredElement>, PagePart<StoredElement>>(
    name,
    [EXPORT_ID, ...PAGE_WITHIN],
    { key: 'position', lateral: partOf({ columns: '', from }, direction) },
    (rows) => toPart(rows, toElement),
  )
}

export const READ_VERBS = {
  documentsOf: documentPages('documentsOf', ''),
  documentsFromEnd: documentPages('documentsFromEnd', 'desc'),
  documentsWithin: documentParts('documentsWithin', ''),
  documentsWithinFromEnd: documentParts('documentsWithinFromEnd', 'desc'),
  documentsById: readVerb<DocumentKey, Documented, StoredDocument | null>(
    'documentsById',
    [KIND, ['id_key', 'bytea', ({ id }) => keyOf(id)]],
    {
      key: 'position',
      lateral: `select position, id, ref, text from workspace_gateway.document
        ${WHERE} and kind = asked.kind and workspace_gateway.key_of(id) = asked.id_key ${LOOKUP}`,
    },
    ([row], { userId, kind }) => (row ? toDocument(row, userId, kind) : null),
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
        ${WHERE} and ${KEY_OF_REF} = asked.ref_key and ref is not null ${LOOKUP}`,
    },
    ([row], { userId }) => (row ? toDocument(row, userId, 'project') : null),
  ),
  latestExports: readVerb<ProjectRef, OfProject, StoredExport | null | undefined>(
    'latestExports',
    [REF_KEY],
    {
      key: 'isProject',
      lateral: `select * from (
          select true as "isProject" from workspace_gateway.document
          ${WHERE} and ${KEY_OF_REF} = asked.ref_key and ref is not null ${LOOKUP}) project
        left join lateral (
          select ${EXPORT} from workspace_gateway.export
          where user_id = asked.user_id and ${KEY_OF_REF} = asked.ref_key
          order by instant desc, id desc limit 1) newest on true`,
    },
    ([row]) => row && (row.id === null ? null : toExport(row)),
  ),
  exportsByKey: readVerb<ExportKey, StoredExport, StoredExport | null>(
    'exportsByKey',
    [REF_KEY, ['instant', 'text', ({ instant }) => instant], ['digest', 'text', ({ digest }) => digest]],
    {
      key: 'id',
      lateral: `select ${EXPORT} from workspace_gateway.export
        ${WHERE} and ${OF_PROJECT} and instant = asked.instant and digest = asked.digest ${LOOKUP}`,
    },
    ([row]) => (row ? toExport(row) : null),
  ),
  exportsOf: exportPages('exportsOf', 'desc'),
  exportsFromEnd: exportPages('exportsFromEnd', ''),
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
  elementsOf: elementPages('elementsOf', ''),
  elementsFromEnd: elementPages('elementsFromEnd', 'desc'),
  elementsWithin: elementParts('elementsWithin', ''),
  elementsWithinFromEnd: elementParts('elementsWithinFromEnd', 'desc'),
  elementRunsOf: readVerb<ElementRunQuestion, { readonly text: string; readonly last: number }, ElementRun | null>(
    'elementRunsOf',
    [
      EXPORT_ID,
      ['digest', 'text', ({ digest }) => digest],
      ['after', 'bigint', ({ after }) => after],
      ['max_elements', 'bigint', ({ maxElements }) => maxElements],
      ['max_bytes', 'bigint', ({ maxBytes }) => maxBytes],
    ],
    {
      key: 'last',
      lateral: `select string_agg(text, ',' order by position) as text, max(position) as last from (
          select position, text, sum(octet_length(text)) over (order by position) as total
          from workspace_gateway.export_element
          ${WHERE} and position > asked.after and position <= asked.after + asked.max_elements
          and ${ofExport('and digest = asked.digest')}) sized
        where total <= asked.max_bytes or position = asked.after + 1`,
    },
    ([row]) => (row ? { bytes: Buffer.from(row.text), last: row.last } : null),
  ),
}

function toDocument({ position, id, ref, text }: Documented, userId: number, kind: StoredDocument['kind']) {
  return { userId, kind, position, id, ref, text }
}

/** Drops the additional columns of the row. */
function toExport(row: StoredExport): StoredExport {
  const { id, userId, ref, createdAt, instant, digest, byteLength, elementCount } = row
  return { id, userId, ref, createdAt, instant, digest, byteLength, elementCount }
}

function toElement({ position, text }: StoredElement): StoredElement {
  return { position, text }
}
