// Refuses to remove documents that the other server may have lost, rather than removed.
import type { DocumentKind, Store } from '../../../store/contract.ts'
import { DOCUMENT_KINDS } from '../../../store/reads-contract.ts'
import { areEmpty, type Reading } from '../read-changes.ts'
import { LIST_PATHS } from '../seen-workspace.ts'
import { LossError } from './loss.ts'

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

/** Must be called before a replacement. Throws a `LossError` of `lists`, `documents` or `emptyLists`. */
export async function requireDocuments(
  email: string,
  { absent, lists }: Pick<Reading & { type: 'changed' }, 'absent' | 'lists'>,
  { store, mayLoseLists, mayClear, mayEmptyWorkspace }: RemovableDocuments & { readonly store: Store },
): Promise<void> {
  const notLost = DOCUMENT_KINDS.filter((kind) => !mayLoseLists.includes(kind))
  const missing = notLost.filter((kind) => absent.includes(kind))
  const lost = await storedKinds(store, email, missing)
  if (lost.length > 0) throw lossOfLists('lists', lost, '404 although other lists did not')
  if (areEmpty(lists)) {
    if (mayEmptyWorkspace || (await storedKinds(store, email, notLost)).length === 0) return
    throw new LossError('documents', 'every list is empty there, but documents are stored here')
  }
  const empty = DOCUMENT_KINDS.filter((kind) => lists[kind].length === 0 && ![...absent, ...mayClear].includes(kind))
  const emptied = await storedKinds(store, email, empty)
  if (emptied.length > 0) throw lossOfLists('emptyLists', emptied, 'an empty list')
}

/** `answer` is what the server answered for these lists. */
function lossOfLists(type: 'lists' | 'emptyLists', kinds: readonly DocumentKind[], answer: string): LossError {
  const paths = kinds.map((kind) => `GET ${LIST_PATHS[kind]}`).join(' and ')
  return new LossError(type, `${paths} answered ${answer}, and such documents are stored here`, kinds)
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
