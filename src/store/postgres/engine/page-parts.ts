// Builds SQL for page parts limited by bytes. It measures texts stored out of line without reading them.
import { MAX_ITEMS_WITHIN, type PagePart } from '../../reads-contract.ts'
import type { Direction } from './read-verb.ts'

/** A row of a part. The row after the last one comes without its text and shows that there is more. */
export type PartRow<R extends { readonly text: string }> = Omit<R, 'text'> & { readonly text: string | null }

interface Rows {
  /** Columns in addition to `position` and `text`. */
  readonly columns: string
  /** The `from` and `where` clauses, without an order. */
  readonly from: string
}

export function partOf({ columns, from }: Rows, direction: Direction): string {
  return `select position, ${columns}
      case when passed <= asked.max_bytes and nth <= ${MAX_ITEMS_WITHIN} then text end as text
    from (
      select listed.*, row_number() over w as nth, sum(octet_length(text)) over w - octet_length(text) as passed,
        coalesce(lag(octet_length(text)) over w, 0) as previous
      from (
        select position, ${columns} text ${from}
        order by position ${direction} limit least(asked.max, ${MAX_ITEMS_WITHIN + 1})) listed
      window w as (order by position ${direction} rows unbounded preceding)) sized
    where passed - previous <= asked.max_bytes`
}

/** Items in list order, whichever end they were read from. */
export function toPart<R extends { readonly position: number; readonly text: string }, T>(
  rows: readonly PartRow<R>[],
  toItem: (row: R) => T,
): PagePart<T> {
  const items = rows.filter((row): row is PartRow<R> & R => row.text !== null)
  items.sort((one, other) => one.position - other.position)
  return { items: items.map(toItem), isCut: items.length < rows.length }
}
