// Relay-style connections (https://relay.dev/graphql/connections.htm), the same for every list.
import type { Awaitable, StoredDocument, StoredElement, StoredExport } from '../../store/contract.ts'
import type { PageArguments } from './page-arguments.ts'

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
export type ElementConnection = Connection<StoredElement>

/** `list` answers the page for the arguments it is given; one item more than asked tells whether there is a next page. */
export async function toConnection<T>(
  args: PageArguments,
  list: (args: PageArguments) => Awaitable<readonly T[]>,
  cursorOf: (node: T) => string,
  count: () => Awaitable<number>,
): Promise<Connection<T>> {
  const { first } = args
  // Left as it is where it is not a number to add to: `list` refuses what is not allowed.
  const items = await list(first != null && first >= 0 ? { ...args, first: first + 1 } : args)
  const nodes = first == null ? items : items.slice(0, first)
  return {
    nodes,
    hasNextPage: nodes.length < items.length,
    hasPreviousPage: args.after != null,
    cursorOf,
    count,
  }
}
