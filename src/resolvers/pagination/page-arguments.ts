// Converts `first`, `after`, `last` and `before` to the page that the store reads.
import { GatewayError } from '../../errors.ts'
import type { ExportPage, Page } from '../../store/contract.ts'
import { requireExportPlace, requirePosition } from './cursors.ts'

/** Arguments of a plain list. */
export interface PageArguments {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
}

/** Arguments of a connection: from either end, or from both at once. */
export interface ConnectionArguments extends PageArguments {
  readonly last?: number | null | undefined
  readonly before?: string | null | undefined
}

/** How many items to read, and from which end. */
export type Extent = Pick<Page, 'limit' | 'fromEnd'>

/** The first items, or all of them if no number is given. Throws `INVALID_ARGUMENT`. */
export function requireExtent({ first }: PageArguments): Extent {
  return { limit: requireNumber(first, 'first') }
}

/** A page of a list whose items have positions. Throws `INVALID_ARGUMENT`. */
export function requirePage({ after, before }: ConnectionArguments, { limit, fromEnd }: Extent): Page {
  return {
    after: isCursor(after) ? requirePosition(after, 'after') : 0,
    before: isCursor(before) ? requirePosition(before, 'before') : undefined,
    limit,
    fromEnd,
  }
}

/** A page of an export history. Throws `INVALID_ARGUMENT`. */
export function requireExportPage(
  { after, before }: ConnectionArguments,
  { limit, fromEnd }: Extent,
): Pick<ExportPage, 'after' | 'before' | 'limit' | 'fromEnd'> {
  return {
    after: isCursor(after) ? requireExportPlace(after, 'after') : null,
    before: isCursor(before) ? requireExportPlace(before, 'before') : undefined,
    limit,
    fromEnd,
  }
}

/**
 * An empty text is no cursor: clients send it while they have none. Apollo's `relayStylePagination` stores it as the
 * `endCursor` of an empty list.
 */
export function isCursor(argument: string | null | undefined): argument is string {
  return argument != null && argument !== ''
}

/** Null if the argument is absent. Throws `INVALID_ARGUMENT` if it is negative. */
export function requireNumber(value: number | null | undefined, name: 'first' | 'last'): number | null {
  if (value == null) return null
  if (value < 0) throw new GatewayError('INVALID_ARGUMENT', { message: `\`${name}\` must be 0 or more.` })
  return value
}
