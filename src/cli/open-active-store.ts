// The database of a gateway, or of an import: in use from here on, and followed when it moves.
import { UsageError } from '../errors.ts'
import { StoreOpenError } from '../store/contract.ts'
import { MOVED_MESSAGE, type MoveState } from '../store/cutover/contract.ts'
import { withCutover } from '../store/cutover/cutover-store.ts'
import { openStore, type StoreOptions } from '../store/open-store.ts'
import type { EditableStore } from '../store/workspace-edits.ts'
import { openSuccessor } from './serving/open-successor.ts'

export interface ServedDatabase {
  readonly database: string
  /** Where it may move to while it is in use. */
  readonly databaseNext?: string | undefined
  /** Of `database`: once that has moved, nothing reads from it any more. */
  readonly replica?: StoreOptions['replica']
  readonly onSwitch?: () => void
  /** `databaseNext` cannot be opened, or was lost: it is opened when it is needed. */
  readonly onNextUnusable?: (error: unknown) => void
  /** Nothing is changed for good: what a move has filled counts as unused afterwards, and may be filled again. */
  readonly isTrial?: boolean
}

/** Throws `StoreOpenError` for a database that is being filled, or that has moved and not to `databaseNext`. */
export async function openActiveStore(
  { database, databaseNext, replica, onSwitch, onNextUnusable = () => {}, isTrial = false }: ServedDatabase,
  options: StoreOptions,
): Promise<EditableStore> {
  await using opened = new AsyncDisposableStack()
  const store = opened.use(await openStore(database, { ...options, replica }))
  const next =
    databaseNext === undefined ? null : opened.use(await openSuccessor(databaseNext, options, onNextUnusable))
  const state = options.isReadOnly || isTrial ? await store.moveState() : await store.activate()
  // Nothing is anywhere else, once it has moved there.
  const there = await (state.phase === 'moved' ? next?.requireStore() : next?.store())?.moveState()
  if (state.identity === there?.identity) {
    throw new UsageError('--database-next is the database of --database: name the one that it will move to, or none')
  }
  requireWhole(state)
  if (state.phase === 'moved' && state.other !== there?.identity) throw new StoreOpenError(MOVED_MESSAGE)
  const handed = withCutover(store, {
    next,
    onSwitch() {
      next?.takeIntoUse()
      onSwitch?.()
    },
  })
  // Switches at once where it has to.
  await handed.ping()
  // It closes both from here on.
  opened.move()
  return handed
}

/** Throws `StoreOpenError` for a database that is being filled: it holds a part of what it will hold. */
export function requireWhole({ phase }: MoveState): void {
  if (phase !== 'filling') return
  throw new StoreOpenError(
    'the database is being filled by a move or a restore, or was left so by one that was broken off: run that again',
  )
}
