// Builds Relay connections (https://relay.dev/graphql/connections.htm), in the same way for every list.
import type { Awaitable, StoredDocument, StoredExport } from '../../store/contract.ts'
import type { ExportedElement } from '../identity/node-row.ts'
import { type ConnectionArguments, type Extent, requireNumber } from './page-arguments.ts'

export interface Connection<T> {
  readonly nodes: readonly T[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly cursorOf: (node: T) => string
  /** Called only if `totalCount` is selected. */
  readonly count: () => Awaitable<number>
}

export type DocumentConnection = Connection<StoredDocument>
export type ExportConnection = Connection<StoredExport>
export type ElementConnection = Connection<ExportedElement>

/**
 * `list` reads at most `limit` of the items between the two cursors. It is asked for one item more than the page holds,
 * which tells whether the page left something out. No read is needed to know that there are items beyond a cursor: the
 * item of the cursor itself is one. Throws `INVALID_ARGUMENT`.
 */
export async function toConnection<T>(
  args: ConnectionArguments,
  list: (extent: Extent) => Awaitable<readonly T[]>,
  cursorOf: (node: T) => string,
  count: () => Awaitable<number>,
): Promise<Connection<T>> {
  const first = requireNumber(args.first, 'first')
  const last = requireNumber(args.last, 'last')
  const isFromEnd = first === null && last !== null
  const longest = first === null && last === null ? null : Math.max(first ?? 0, last ?? 0)
  const items = await list({ limit: longest === null ? null : longest + 1, fromEnd: isFromEnd || undefined })
  // Section 4.4 of the specification: `first` cuts the list, then `last` cuts the rest.
  const head = first === null ? items : items.slice(0, first)
  return {
    nodes: last === null ? head : head.slice(Math.max(0, head.length - last)),
    hasNextPage: first === null ? args.before != null : items.length > first,
    hasPreviousPage: last === null ? args.after != null : items.length > last,
    cursorOf,
    count,
  }
}
