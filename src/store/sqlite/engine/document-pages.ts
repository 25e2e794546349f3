// Pages of documents: ranges of row ids.
import type { Database } from 'better-sqlite3'
import type { DocumentList, Page, PagePart, PageWithin, StoredDocument } from '../../contract.ts'
import { type ItemSize, reachWithin } from './items-within.ts'
import { DOCUMENT_KEY, DOCUMENT_POSITION, KIND_CODES, lastBefore, MAX_DOCUMENT_POSITION } from './row-ids.ts'

export const DOCUMENT = `user_id as userId, kind, ${DOCUMENT_POSITION} as position, id, ref, text`

type Range = [user: number, kind: number, after: number, user: number, kind: number, last: number]
const RANGE = `from document where key > ${DOCUMENT_KEY} and key <= ${DOCUMENT_KEY} order by key`
const SIZE = `octet_length(text) as byteLength, ${DOCUMENT_POSITION} as position`

export interface DocumentPages {
  readonly page: (page: DocumentList & Page) => readonly StoredDocument[]
  readonly part: (page: DocumentList & PageWithin) => PagePart<StoredDocument>
}

export function createDocumentPages(database: Database): DocumentPages {
  const all = database.prepare<Range, StoredDocument>(`select ${DOCUMENT} ${RANGE}`)
  const some = database.prepare<[...Range, number], StoredDocument>(`select ${DOCUMENT} ${RANGE} limit ?`)
  const fromEnd = database.prepare<[...Range, number], StoredDocument>(`select ${DOCUMENT} ${RANGE} desc limit ?`)
  const sizes = database.prepare<Range, ItemSize>(`select ${SIZE} ${RANGE}`)
  const sizesFromEnd = database.prepare<Range, ItemSize>(`select ${SIZE} ${RANGE} desc`)

  return {
    page(page) {
      const range = rangeOf(page)
      if (page.limit === null) return all.all(...range)
      return page.fromEnd ? fromEnd.all(...range, page.limit).reverse() : some.all(...range, page.limit)
    },
    part(page) {
      const statement = page.fromEnd ? sizesFromEnd : sizes
      const reach = reachWithin(() => statement.iterate(...rangeOf(page)), page)
      if (!reach) return { items: [], isCut: false }
      const [from, to] = page.fromEnd ? [reach.last, reach.first] : [reach.first, reach.last]
      return { items: all.all(...rangeOf({ ...page, after: from - 1, before: to + 1 })), isCut: reach.isCut }
    },
  }
}

function rangeOf({ userId, kind, after, before }: DocumentList & Page): Range {
  const code = KIND_CODES[kind]
  const from = Math.min(after, MAX_DOCUMENT_POSITION)
  return [userId, code, from, userId, code, lastBefore(before, MAX_DOCUMENT_POSITION)]
}
