// Opens the database that a served one may move to. Before the cutover nobody depends on it, so its failure stops
// nothing.
import { reasonOf, UsageError } from '../../errors.ts'
import { type MigratableStore, StoreMovedError } from '../../store/cutover/contract.ts'
import type { Successor } from '../../store/cutover/cutover-store.ts'
import { openStore, type StoreOptions } from '../../store/open-store.ts'

export interface OpenedSuccessor extends Successor {
  /** Throws the reason when it could not be opened, or was lost since. */
  readonly requireStore: () => MigratableStore
  /** Like `requireStore`, but returns null instead of throwing. */
  readonly store: () => MigratableStore | null
  /** Called at the cutover: from then on its failures are fatal, like those of the served database. */
  readonly takeIntoUse: () => void
}

/**
 * Calls `onUnusable` once for each period before the cutover in which the database cannot be used. Throws only
 * `UsageError`.
 */
export async function openSuccessor(
  url: string,
  options: StoreOptions,
  onUnusable: (error: unknown) => void,
): Promise<OpenedSuccessor> {
  let store: MigratableStore | null = null
  let isLost = false
  let isInUse = false
  let reason: unknown = null

  function reportUnusable(error: unknown): void {
    if (reason === null) onUnusable(error)
    reason = error
  }

  async function reopen(opening: StoreOptions): Promise<MigratableStore> {
    await close()
    isLost = false
    store = await openStore(url, {
      ...opening,
      isInUse: () => isInUse,
      onFatal(error) {
        isLost = true
        if (isInUse) options.onFatal(error)
        else reportUnusable(error)
      },
    })
    reason = null
    return store
  }

  async function close(): Promise<void> {
    const closing = store
    store = null
    await closing?.[Symbol.asyncDispose]()
  }

  try {
    await reopen(options)
  } catch (error) {
    if (error instanceof UsageError) throw error
    reportUnusable(error)
  }

  return {
    requireStore() {
      if (!store || isLost) throw reason
      return store
    },
    store: () => (isLost ? null : store),
    takeIntoUse() {
      isInUse = true
    },
    async open() {
      if (store && !isLost) return store
      try {
        // The move has created it, so it must exist.
        return await reopen({ ...options, mustExist: true })
      } catch (error) {
        // `onUnusable` is about a move that has not happened yet. From now on every failed request says what is wrong.
        const message = 'the database has moved to that of the option database-next, which cannot be used'
        throw new StoreMovedError(`${message}: ${reasonOf(error)}`, { cause: error })
      }
    },
    [Symbol.asyncDispose]: close,
  }
}
