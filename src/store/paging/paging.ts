// Reads whole lists of the store page by page, so that memory holds only one page at a time.
import type { Awaitable } from '../awaitable.ts'
import type {
  DocumentList,
  PagePart,
  StoredDocument,
  StoredElement,
  StoredExport,
  StoredUser,
  WorkspaceReads,
} from '../reads-contract.ts'
import type { RestCallVerbs } from '../rest-call-contract.ts'
import type { NewSession, SessionVerbs } from '../session-contract.ts'

const USERS_PER_READ = 256
const SESSIONS_PER_READ = 1_000
const DAYS_PER_READ = 30
/** Documents and elements can be long, and a move reads several users at a time, each from both databases. */
const BYTES_PER_READ = 1_048_576

export interface PagedList<Item, Key> {
  /** A key smaller than that of every item. */
  readonly start: Key
  /** Number of items per page. */
  readonly limit: number
  /** Reads the items that follow `after` in order of key; fewer than `limit` only at the end of the list. */
  readonly read: (after: Key, limit: number) => Awaitable<readonly Item[]>
  readonly keyOf: (item: Item) => Key
}

/** Yields non-empty pages. It reads a page only when the consumer asks for it. */
export async function* pagesOf<Item, Key>(list: PagedList<Item, Key>): AsyncGenerator<readonly Item[]> {
  const { start, limit, read, keyOf } = list
  for (let after = start; ; ) {
    const page = await read(after, limit)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    if (page.length < limit) return
    after = keyOf(last)
  }
}

/** All users in order of email. */
export function userPages(reads: WorkspaceReads): AsyncGenerator<readonly StoredUser[]> {
  return pagesOf({ start: '', limit: USERS_PER_READ, read: reads.usersAfter, keyOf: ({ email }) => email })
}

/** All sessions in order of id, expired ones included. */
export function sessionPages(store: SessionVerbs): AsyncGenerator<readonly NewSession[]> {
  return pagesOf({ start: '', limit: SESSIONS_PER_READ, read: store.sessionsAfter, keyOf: ({ id }) => id })
}

/** The days that have REST calls, oldest first. */
export function restCallDayPages(store: Pick<RestCallVerbs, 'restCallDays'>): AsyncGenerator<readonly string[]> {
  return pagesOf({ start: '', limit: DAYS_PER_READ, read: store.restCallDays, keyOf: (day) => day })
}

/**
 * Yields a list part by part, by position. `read` returns the part after a position, and `first` is the first part if
 * it was read already.
 */
async function* partsOf<T extends { readonly position: number }>(
  read: (after: number) => Awaitable<readonly PagePart<T>[]>,
  first?: PagePart<T>,
): AsyncGenerator<readonly T[]> {
  for (let part = first ?? (await read(0))[0]; part; ) {
    yield part.items
    const last = part.items.at(-1)
    part = part.isCut && last ? (await read(last.position))[0] : undefined
  }
}

/** All documents of a list by position, in parts of some `BYTES_PER_READ`. `first` is for `partsOf`. */
export function documentParts(
  reads: WorkspaceReads,
  list: DocumentList,
  first?: PagePart<StoredDocument>,
): AsyncGenerator<readonly StoredDocument[]> {
  const page = { ...list, limit: null, maxBytes: BYTES_PER_READ }
  return partsOf((after) => reads.documentsWithin([{ ...page, after }]), first)
}

/** All elements of an export by position, in parts of some `BYTES_PER_READ`. */
export function elementParts(
  reads: WorkspaceReads,
  { userId, id: exportId }: StoredExport,
): AsyncGenerator<readonly StoredElement[]> {
  const page = { userId, exportId, limit: null, maxBytes: BYTES_PER_READ }
  return partsOf((after) => reads.elementsWithin([{ ...page, after }]))
}
