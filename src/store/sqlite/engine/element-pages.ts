// Reads pages of an export's elements as ranges of row ids.
import type { Database } from 'better-sqlite3'
import {
  type ElementList,
  type ElementPage,
  type ElementRun,
  type ElementRunQuestion,
  MAX_ELEMENTS,
  type PagePart,
  type PageWithin,
  type StoredElement,
} from '../../reads-contract.ts'
import { type ItemSize, partWithin } from './items-within.ts'
import { ELEMENT_KEY, ELEMENT_POSITION, lastBefore } from './row-ids.ts'

type Range = [exportId: number, after: number, exportId: number, last: number]
const RANGE = `from export_element where key > ${ELEMENT_KEY} and key <= ${ELEMENT_KEY}`
const ELEMENT = `${ELEMENT_POSITION} as position, text`
// SQLite knows a text's length without reading its overflow pages.
const SIZE = `octet_length(text) as byteLength, ${ELEMENT_POSITION} as position`

interface RunSize {
  readonly byteLength: number | null
  readonly last: number | null
}

export interface ElementPages {
  readonly page: (page: ElementPage) => readonly StoredElement[]
  readonly part: (page: ElementList & PageWithin) => PagePart<StoredElement>
  readonly run: (question: ElementRunQuestion) => ElementRun | null
}

export function createElementPages(database: Database): ElementPages {
  const all = database.prepare<Range, StoredElement>(`select ${ELEMENT} ${RANGE} order by key`)
  const some = database.prepare<[...Range, number], StoredElement>(`select ${ELEMENT} ${RANGE} order by key limit +?`)
  const fromEnd = database.prepare<[...Range, number], StoredElement>(
    `select ${ELEMENT} ${RANGE} order by key desc limit +?`,
  )
  const sizes = database.prepare<Range, ItemSize>(`select ${SIZE} ${RANGE} order by key`)
  const sizesFromEnd = database.prepare<Range, ItemSize>(`select ${SIZE} ${RANGE} order by key desc`)
  // Not `exists`: SQLite 3.54 turns it into a join, which took five times as long.
  const runSize = database.prepare<[...Range, id: number, digest: string], RunSize>(
    `select sum(octet_length(text)) as byteLength, max(${ELEMENT_POSITION}) as last ${RANGE}
     and (select digest from export where id = ?) = ?`,
  )
  // SQL joins the texts, as a blob, so that neither a string nor an object per row is created.
  const runBytes = database.prepare<Range, { readonly bytes: Uint8Array }>(
    `select cast(group_concat(text, ',') as blob) as bytes from (select text ${RANGE} order by key)`,
  )

  return {
    page(page) {
      const range = rangeOf(page)
      if (page.limit === null) return all.all(...range)
      return page.fromEnd ? fromEnd.all(...range, page.limit).reverse() : some.all(...range, page.limit)
    },
    part(page) {
      const statement = page.fromEnd ? sizesFromEnd : sizes
      return partWithin(
        page,
        () => statement.iterate(...rangeOf(page)),
        (first, last) => all.all(page.exportId, first - 1, page.exportId, last),
      )
    },
    run({ exportId, digest, after, maxElements, maxBytes }) {
      // Positions of elements are consecutive, so the range bounds their number without a `limit`.
      const to = Math.min(after + maxElements, MAX_ELEMENTS)
      const size = runSize.get(exportId, after, exportId, to, exportId, digest)
      if (size?.last == null) return null
      const isFitting = (size.byteLength ?? 0) <= maxBytes
      const last = isFitting ? size.last : lastFitting(maxBytes, sizes.iterate(exportId, after, exportId, to))
      const found = runBytes.get(exportId, after, exportId, last)
      return found ? { bytes: found.bytes, last } : null
    },
  }
}

function rangeOf({ exportId, after, before }: ElementPage): Range {
  // A negative position would reach into the keys of another export.
  return [exportId, Math.min(Math.max(after, 0), MAX_ELEMENTS), exportId, lastBefore(before, MAX_ELEMENTS)]
}

/** The last position up to which the sizes add up to at most `maxBytes`; at least the first position. */
function lastFitting(maxBytes: number, sizes: Iterable<ItemSize>): number {
  let total = 0
  let last = 0
  for (const { byteLength, position } of sizes) {
    total += byteLength
    if (last > 0 && total > maxBytes) break
    last = position
  }
  return last
}
