// Batches copies into the target of a move, in transactions of bounded size.
import type { Awaitable } from '../store/awaitable.ts'
import type { Copy, MigratableStore } from '../store/cutover/contract.ts'

/** Limits of one transaction. */
const MAX_COPIES = 1_000
const MAX_TEXT_LENGTH = 4_194_304
/** Weight of a removal: it deletes all rows of a user or an export, which are not counted. */
const COPIES_PER_REMOVAL = 50

/** What a move cannot do, or found to be wrong. The message is for the operator. */
export class MoveError extends Error {
  override readonly name = 'MoveError'
}

export interface Target {
  readonly store: MigratableStore
  readonly moveId: string
}

/** Target of a move, which may hold keys that the source does not have. */
export interface MoveTarget extends Target {
  /** Private keys that the move removed from the target. */
  readonly gone: Set<string>
}

export interface CopyBatch {
  readonly put: (copy: Copy) => Promise<void>
  /** Must be called at the end. */
  readonly flush: () => Promise<void>
}

export function createCopyBatch({ store, moveId }: Target): CopyBatch {
  let copies: Copy[] = []
  let [weight, textLength] = [0, 0]

  async function flush(): Promise<void> {
    if (copies.length === 0) return
    const applying = copies
    copies = []
    weight = 0
    textLength = 0
    await requireReserved(store.applyCopies(moveId, applying))
  }

  return {
    async put(copy) {
      copies.push(copy)
      weight += copy.type === 'dropUser' || copy.type === 'dropExport' ? COPIES_PER_REMOVAL : 1
      if ('text' in copy) textLength += copy.text.length
      if (weight >= MAX_COPIES || textLength >= MAX_TEXT_LENGTH) await flush()
    },
    flush,
  }
}

/** Throws `MoveError` when a step reports that another move or restore has taken over the target. */
export async function requireReserved(isReserved: Awaitable<boolean>): Promise<void> {
  if (!(await isReserved)) throw new MoveError('another move, or restore, has taken over the target')
}
