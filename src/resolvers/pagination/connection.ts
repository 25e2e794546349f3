// Builds Relay connections (https://relay.dev/graphql/connections.htm), in the same way for every list.
import type { Awaitable, StoredDocument, StoredExport } from '../../store/contract.ts'
import type { ExportedElement } from '../identity/node-row.ts'
import { type ConnectionArguments, type Extent, isCursor, requireNumber } from './page-arguments.ts'

/** The items of a page, and whether there are items beyond it. */
export interface ConnectionPage<T> {
  readonly nodes: readonly T[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
}

export interface Connection<T> {
  /** Reads the page at the first call. Called only if more than `totalCount` is selected. */
  readonly page: () => Promise<ConnectionPage<T>>
  readonly cursorOf: (node: T) => string
  /** Called only if `totalCount` is selected. */
  readonly count: () => Awaitable<number>
}

export type DocumentConnection = Connection<StoredDocument>
export type ExportConnection = Connection<StoredExport>
export type ElementConnection = Connection<ExportedElement>

/** Reads the items of an extent. */
export type ReadList<T> = () => Awaitable<readonly T[]>

/**
 * `listOf` checks the cursors, and returns the read of at most `limit` of the items between them. It is asked for one
 * item more than the page holds, which tells whether the page left something out. No read is needed to know that there
 * are items beyond a cursor: the item of the cursor itself is one. Throws `INVALID_ARGUMENT`.
 */
export function toConnection<T>(
  args: ConnectionArguments,
  listOf: (extent: Extent) => ReadList<T>,
  cursorOf: (node: T) => string,
  count: () => Awaitable<number>,
): Connection<T> {
  const first = requireNumber(args.first, 'first')
  const last = requireNumber(args.last, 'last')
  const isFromEnd = first === null && last !== null
  const longest = first === null && last === null ? null : Math.max(first ?? 0, last ?? 0)
  const list = listOf({ limit: longest === null ? null : longest + 1, fromEnd: isFromEnd || undefined })

  async function readPage(): Promise<ConnectionPage<T>> {
    const items = await list()
    // Section 4.4 of the specification: `first` cuts the list, then `last` cuts the rest.
    const head = first === null ? items : items.slice(0, first)
    return {
      nodes: last === null ? head : head.slice(Math.max(0, head.length - last)),
      hasNextPage: first === null ? isCursor(args.before) : items.length > first,
      hasPreviousPage: last === null ? isCursor(args.after) : items.length > last,
    }
  }

  let reading: Promise<ConnectionPage<T>> | null = null
  return { page: () => (reading ??= readPage()), cursorOf, count }
}
