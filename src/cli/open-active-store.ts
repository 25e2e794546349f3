// Opens the database of a gateway or an import, marks it as in use, and switches to its successor when it moves.
import { UsageError } from '../errors.ts'
import { StoreOpenError } from '../store/contract.ts'
import { MOVED_MESSAGE, type MoveState } from '../store/cutover/contract.ts'
import { withCutover } from '../store/cutover/cutover-store.ts'
import { openStore, type StoreOptions } from '../store/open-store.ts'
import type { EditableStore } from '../store/workspace-edits.ts'
import { openSuccessor } from './serving/open-successor.ts'

export interface ServedDatabase {
  readonly database: string
  /** The database that `database` may move to while it is in use. */
  readonly databaseNext?: string | undefined
  /** The replica of `database`. Nothing reads from it after the cutover. */
  readonly replica?: StoreOptions['replica']
  /** The file that `database` is, if this process has it open already. */
  readonly file?: StoreOptions['file']
  readonly onSwitch?: () => void
  /** Called when `databaseNext` cannot be opened or was lost. It is opened again when it is needed. */
  readonly onNextUnusable?: (error: unknown) => void
  /** Ends the wait for the preparation of `database`, which throws `StoreUnavailableError` then. */
  readonly stop?: AbortSignal
  /** For a dry run: the database is not marked as in use, so a move that has filled it may fill it again afterwards. */
  readonly isTrial?: boolean
}

/**
 * Throws `StoreOpenError` for a database that is being filled, or that has moved to another one than `databaseNext`.
 * Throws `UsageError` when both are the same database.
 */
export async function openActiveStore(
  { database, databaseNext, replica, file, onSwitch, onNextUnusable = () => {}, stop, isTrial = false }: ServedDatabase,
  options: StoreOptions,
): Promise<EditableStore> {
  await using opened = new AsyncDisposableStack()
  const store = opened.use(await openStore(database, { ...options, replica, file, stop }))
  const next =
    databaseNext === undefined ? null : opened.use(await openSuccessor(databaseNext, options, onNextUnusable))
  const state = options.isReadOnly || isTrial ? await store.moveState() : await store.activate()
  // After the cutover everything is in the next database, so it must be usable.
  const there = await (state.phase === 'moved' ? next?.requireStore() : next?.store())?.moveState()
  if (state.identity === there?.identity) {
    throw new UsageError(
      '--database-next is the same database as --database: name the one that it will move to, or leave it out',
    )
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
  // If the database has moved already, this switches to the next one now.
  await handed.ping()
  // From here on, disposing of `handed` closes both stores.
  opened.move()
  return handed
}

/** Throws `StoreOpenError` for a database that is being filled: it is still incomplete. */
export function requireWhole({ phase }: MoveState): void {
  if (phase !== 'filling') return
  throw new StoreOpenError(
    'the database is being filled by a move or a restore, or was left incomplete by an interrupted one: run that again',
  )
}
