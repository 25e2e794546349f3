// Copies on their way into the target of a move, in transactions of a bounded size.
import type { Awaitable } from '../store/awaitable.ts'
import type { Copy, MigratableStore } from '../store/cutover/contract.ts'

/** What one transaction holds at most. */
const MAX_COPIES = 1_000
const MAX_TEXT_LENGTH = 4_194_304
/** What goes with a user, or an export, is more than a row: nobody has counted it. */
const COPIES_PER_REMOVAL = 50

/** What a move cannot do, or found to be wrong: in words. */
export class MoveError extends Error {
  override readonly name = 'MoveError'
}

export interface Target {
  readonly store: MigratableStore
  readonly moveId: string
}

/** Of a move, which may find more there than it brings. */
export interface MoveTarget extends Target {
  /** Private parts of keys that were there and are not any more. */
  readonly gone: Set<string>
}

export interface CopyBatch {
  readonly put: (copy: Copy) => Promise<void>
  /** To be called in the end. */
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
    await requireMine(store.applyCopies(moveId, applying))
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

/** Of a step of the target that is answered false once another move, or restore, has it. */
export async function requireMine(isMine: Awaitable<boolean>): Promise<void> {
  if (!(await isMine)) throw new MoveError('another move, or restore, has taken over the target')
}
