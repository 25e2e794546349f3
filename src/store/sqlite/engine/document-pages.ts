// Reads pages of documents as ranges of row ids.
import type { Database } from 'better-sqlite3'
import type { DocumentList, Page, PagePart, PageWithin, StoredDocument } from '../../contract.ts'
import { type ItemSize, partWithin } from './items-within.ts'
import { DOCUMENT_KEY, DOCUMENT_POSITION, KIND_CODES, lastBefore, MAX_DOCUMENT_POSITION } from './row-ids.ts'

export const DOCUMENT = `user_id as userId, kind, ${DOCUMENT_POSITION} as position, id, ref, text`

type Range = [user: number, kind: number, after: number, user: number, kind: number, last: number]
/** The columns that differ between the documents of a page. */
type Row = [position: number, id: string, ref: string | null, text: string]
const COLUMNS = `${DOCUMENT_POSITION}, id, ref, text`
const RANGE = `from document where key > ${DOCUMENT_KEY} and key <= ${DOCUMENT_KEY} order by key`
const SIZE = `octet_length(text) as byteLength, ${DOCUMENT_POSITION} as position`

/** Number of positions whose sizes are summed up to find out whether a list is short. Nearly every list is. */
const SHORT_LIST = 256
/** Maximum number of cached short lists, about 100 bytes each. */
const MAX_SHORT_LISTS = 50_000
/** Greater than every kind code. */
const KINDS = 4

interface ShortList {
  readonly stateVersion: string
  readonly byteLength: number
}

export interface DocumentPages {
  readonly page: (page: DocumentList & Page) => readonly StoredDocument[]
  readonly part: (page: DocumentList & PageWithin) => PagePart<StoredDocument>
}

export function createDocumentPages(database: Database): DocumentPages {
  // Raw rows with only the columns that differ: every value that crosses the native boundary costs time, and so does an
  // object that is created there.
  const all = database.prepare<Range, Row>(`select ${COLUMNS} ${RANGE}`).raw()
  const some = database.prepare<[...Range, number], Row>(`select ${COLUMNS} ${RANGE} limit +?`).raw()
  const fromEnd = database.prepare<[...Range, number], Row>(`select ${COLUMNS} ${RANGE} desc limit +?`).raw()
  const sizes = database.prepare<Range, ItemSize>(`select ${SIZE} ${RANGE}`)
  const shortLists = new Map<number, ShortList>()
  const size = database.prepare<Range, { readonly byteLength: number | null }>(
    `select sum(octet_length(text)) as byteLength from document where key > ${DOCUMENT_KEY} and key <= ${DOCUMENT_KEY}`,
  )
  const next = database.prepare<Range, { readonly key: number }>(`select key ${RANGE} limit 1`)
  const sizesFromEnd = database.prepare<Range, ItemSize>(`select ${SIZE} ${RANGE} desc`)

  /** Caches, as a hint from the newest state, that a list is short. A list that grows gets another state version. */
  function rememberShort({ userId, kind }: DocumentList, short: ShortList): void {
    if (shortLists.size >= MAX_SHORT_LISTS) shortLists.clear()
    shortLists.set(userId * KINDS + KIND_CODES[kind], short)
  }

  /** Cache hit if the list was short in the state version that is asked for. Every page of a short list is short. */
  function isKnownShort({ userId, kind, expected, maxBytes }: DocumentList & PageWithin): boolean {
    const known = shortLists.get(userId * KINDS + KIND_CODES[kind])
    return known !== undefined && known.stateVersion === expected?.stateVersion && known.byteLength <= maxBytes
  }

  /**
   * Whether everything after `after` fits into one part. Two lookups tell; walking over the sizes would take as long as
   * reading the documents.
   */
  function isShort(page: DocumentList & PageWithin): boolean {
    if (page.limit !== null) return false
    const before = page.after + SHORT_LIST + 1
    const byteLength = size.get(...rangeOf({ ...page, before }))?.byteLength ?? 0
    const isWhole = byteLength <= page.maxBytes && next.get(...rangeOf({ ...page, after: before - 1 })) === undefined
    // A page with `before` says nothing about the rest of the list.
    const isOfList = page.after === 0 && page.before === undefined
    const { expected } = page
    if (isWhole && isOfList && expected) rememberShort(page, { stateVersion: expected.stateVersion, byteLength })
    return isWhole
  }

  function rowsOf(page: DocumentList & Page): readonly Row[] {
    const range = rangeOf(page)
    if (page.limit === null) return all.all(...range)
    return page.fromEnd ? fromEnd.all(...range, page.limit).reverse() : some.all(...range, page.limit)
  }

  function documentsOf(page: DocumentList & Page): readonly StoredDocument[] {
    const { userId, kind } = page
    return rowsOf(page).map(([position, id, ref, text]) => ({ userId, kind, position, id, ref, text }))
  }

  return {
    page: documentsOf,
    part(page) {
      if (isKnownShort(page) || isShort(page)) return { items: documentsOf(page), isCut: false }
      const statement = page.fromEnd ? sizesFromEnd : sizes
      return partWithin(
        page,
        () => statement.iterate(...rangeOf(page)),
        (first, last) => documentsOf({ ...page, limit: null, after: first - 1, before: last + 1 }),
      )
    },
  }
}

function rangeOf({ userId, kind, after, before }: DocumentList & Page): Range {
  const code = KIND_CODES[kind]
  const from = Math.min(after, MAX_DOCUMENT_POSITION)
  return [userId, code, from, userId, code, lastBefore(before, MAX_DOCUMENT_POSITION)]
}
