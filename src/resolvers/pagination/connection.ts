// Relay's connections (https://relay.dev/graphql/connections.htm), the same for every list.
import type { Awaitable, StoredDocument, StoredExport } from '../../store/contract.ts'
import type { ExportedElement } from '../identity/node-row.ts'
import { type ConnectionArguments, type Extent, requireNumber } from './page-arguments.ts'

export interface Connection<T> {
  readonly nodes: readonly T[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly cursorOf: (node: T) => string
  /** Asked only when `totalCount` is selected. */
  readonly count: () => Awaitable<number>
}

export type DocumentConnection = Connection<StoredDocument>
export type ExportConnection = Connection<StoredExport>
export type ElementConnection = Connection<ExportedElement>

/**
 * `list` answers as much of what lies between the two cursors as it is asked for. One item more than the page has tells
 * whether the page left something out. What lies beyond the cursors is told without a read: their own items do.
 * Throws `INVALID_ARGUMENT`.
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
  // Section 4.4 of the specification: `first` cuts, then `last` cuts what is left.
  const head = first === null ? items : items.slice(0, first)
  return {
    nodes: last === null ? head : head.slice(Math.max(0, head.length - last)),
    hasNextPage: first === null ? args.before != null : items.length > first,
    hasPreviousPage: last === null ? args.after != null : items.length > last,
    cursorOf,
    count,
  }
}
