// Parts of pages: as many rows as pass a number of bytes, found without reading texts that are stored out of line.
import { MAX_ITEMS_WITHIN, type PagePart } from '../../contract.ts'
import { type Direction, inListOrder } from './read-verb.ts'

export interface Listed {
  /** How many rows were looked at; more than are answered where the part is cut. */
  readonly listed: number
}

/** `select` answers rows with `position` and `text`, in no order. */
export function partOf(select: string, direction: Direction): string {
  return `select * from (
      select listed.*, count(*) over () as listed,
        row_number() over w as nth, sum(octet_length(text)) over w - octet_length(text) as passed
      from (${select} order by position ${direction} limit least(asked.max, ${MAX_ITEMS_WITHIN + 1})) listed
      window w as (order by position ${direction} rows unbounded preceding)) sized
    where passed <= asked.max_bytes and nth <= ${MAX_ITEMS_WITHIN} order by nth`
}

export function toPart<R extends Listed, T>(
  rows: readonly R[],
  direction: Direction,
  toItem: (row: R) => T,
): PagePart<T> {
  return { items: inListOrder(rows, direction).map(toItem), isCut: rows.length < (rows[0]?.listed ?? 0) }
}
