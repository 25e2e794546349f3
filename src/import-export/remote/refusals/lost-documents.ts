// Refuses to remove documents that the other server may have lost, rather than removed.
import type { DocumentKind, Store } from '../../../store/contract.ts'
import { DOCUMENT_KINDS } from '../../../store/reads-contract.ts'
import { ContractError } from '../client.ts'
import { areEmpty, type Reading } from '../read-changes.ts'
import { LIST_PATHS } from '../seen-workspace.ts'

/** What a replacement removes, although the other server may have lost it. */
export interface RemovableDocuments {
  /** Lists to treat as empty when they alone are 404, although documents of them are stored here. */
  readonly mayLoseLists: readonly DocumentKind[]
  /**
   * Lists of which to remove all documents when they are empty there, while other lists are not. With the projects, their
   * exports go.
   */
  readonly mayClear: readonly DocumentKind[]
  /** Whether to remove all documents of a user whose lists there are all empty. */
  readonly mayEmptyWorkspace: boolean
}

/** Documents of these lists are stored here, and the other server shows none. `found` is what it answered. */
class ListsError extends ContractError {
  readonly kinds: readonly DocumentKind[]
  constructor(kinds: readonly DocumentKind[], found: string) {
    const paths = kinds.map((kind) => `GET ${LIST_PATHS[kind]}`).join(' and ')
    super(`${paths} answered ${found}, and such documents are stored here`)
    this.kinds = kinds
  }
}

/** These lists are 404 there while the user's other lists are not. That does not prove a removal. */
export class LostListsError extends ListsError {
  constructor(kinds: readonly DocumentKind[]) {
    super(kinds, '404 although other lists did not')
  }
}

/**
 * All lists of the user are empty there, and documents are stored here. A server that has lost its database looks the
 * same for every user.
 */
export class EmptiedWorkspaceError extends ContractError {}

/**
 * These lists are empty there while others are not. For one user this is a removal; a server that has lost a list looks
 * the same for every user.
 */
export class EmptiedListsError extends ListsError {
  constructor(kinds: readonly DocumentKind[]) {
    super(kinds, 'an empty list')
  }
}

/** Must be called before a replacement. Throws `LostListsError`, `EmptiedWorkspaceError` or `EmptiedListsError`. */
export async function requireDocuments(
  email: string,
  { absent, lists }: Pick<Reading & { type: 'changed' }, 'absent' | 'lists'>,
  { store, mayLoseLists, mayClear, mayEmptyWorkspace }: RemovableDocuments & { readonly store: Store },
): Promise<void> {
  const notLost = DOCUMENT_KINDS.filter((kind) => !mayLoseLists.includes(kind))
  const missing = notLost.filter((kind) => absent.includes(kind))
  const lost = await storedKinds(store, email, missing)
  if (lost.length > 0) throw new LostListsError(lost)
  if (areEmpty(lists)) {
    if (mayEmptyWorkspace || (await storedKinds(store, email, notLost)).length === 0) return
    throw new EmptiedWorkspaceError('every list is empty there, but documents are stored here')
  }
  const empty = DOCUMENT_KINDS.filter((kind) => lists[kind].length === 0 && ![...absent, ...mayClear].includes(kind))
  const emptied = await storedKinds(store, email, empty)
  if (emptied.length > 0) throw new EmptiedListsError(emptied)
}

/** Those of these kinds of which the user has documents here. */
async function storedKinds(
  store: Store,
  email: string,
  kinds: readonly DocumentKind[],
): Promise<readonly DocumentKind[]> {
  const user = kinds.length > 0 ? await store.userByEmail(email) : null
  if (!user) return []
  const firsts = await store.documentsOf(kinds.map((kind) => ({ userId: user.id, kind, after: 0, limit: 1 })))
  return kinds.filter((_, index) => (firsts[index] ?? []).length > 0)
}
