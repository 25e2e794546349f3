// The contract of an online move: a store can be moved into another database, and can be the target of a move.
import type {
  Awaitable,
  LastIds,
  NewSession,
  StoredDocument,
  StoredExport,
  StoredSigningKey,
  StoredUser,
} from '../contract.ts'
import { StoreUnavailableError } from '../contract.ts'
import type { RestCalls } from '../rest-call-contract.ts'
import type { EditableStore } from '../workspace-edits.ts'
import type { CarriedReads, CarriedRow, CarriedTableName } from './carried-tables.ts'

/**
 * `live`: in use, or ready for it.
 * `filling`: the target of a running move; only that move may write.
 * `filled`: complete, but not in use yet.
 * `copying`: in use while a move copies it; changes are logged.
 * `closed`: like `copying`, but all writes are refused for a moment.
 * `moved`: another database has taken over for good; nothing is ever written here again.
 */
export type MovePhase = 'live' | 'filling' | 'filled' | 'copying' | 'closed' | 'moved'

/** The state of a database with regard to moves. */
export interface MoveState {
  /** Random identity of the database, created with it. */
  readonly identity: string
  readonly phase: MovePhase
  /** Id of the move that the database takes part in, or last took part in. */
  readonly moveId: string | null
  /** Identity of the database at the other end of that move. */
  readonly other: string | null
}

export interface Move {
  readonly id: string
  /** Identity of the database at the other end. */
  readonly other: string
}

/** A row of a carried table that was added, changed or removed. */
export interface ChangedRow {
  readonly table: CarriedTableName
  readonly key: string
}

/**
 * The changes that were logged: ids of users and sessions, whether signing keys changed, days whose REST calls changed,
 * and rows of carried tables.
 */
export interface Changed {
  readonly users: readonly number[]
  readonly sessions: readonly string[]
  readonly hasKeys: boolean
  readonly callDays: readonly string[]
  readonly rows: readonly ChangedRow[]
}

/**
 * Prefix of a placeholder email that belongs to nobody. It frees an email for its new owner while its former owner, who
 * was renamed, is not copied yet.
 */
export const DETOUR = 'moving:'

/** One step that copies a row of another database under the same id, or removes it. */
export type Copy =
  /** Removes the user with the whole workspace. */
  | { readonly type: 'dropUser'; readonly id: number }
  /** Another user who has this email gets the placeholder `DETOUR` + id, until that user is put or dropped itself. */
  | ({ readonly type: 'putUser' } & StoredUser)
  | ({ readonly type: 'dropDocument' } & Pick<StoredDocument, 'userId' | 'kind' | 'position'>)
  | { readonly type: 'dropExport'; readonly userId: number; readonly id: number }
  | ({ readonly type: 'addDocument' } & StoredDocument)
  /** Starts an export from scratch; its elements follow, then its seal. */
  | { readonly type: 'beginExport'; readonly export: StoredExport }
  | {
      readonly type: 'addElement'
      readonly userId: number
      readonly exportId: number
      readonly position: number
      readonly text: string
    }
  | { readonly type: 'sealExport'; readonly export: StoredExport }
  | { readonly type: 'dropSession'; readonly id: string }
  | { readonly type: 'putSession'; readonly session: NewSession }
  | { readonly type: 'dropKey'; readonly kid: string }
  | { readonly type: 'putKey'; readonly key: StoredSigningKey }
  /** Removes all rows of the day. */
  | { readonly type: 'dropRestCalls'; readonly day: string }
  | { readonly type: 'putRestCalls'; readonly calls: RestCalls }
  | { readonly type: 'dropRow'; readonly table: CarriedTableName; readonly key: string }
  /** Replaces every row that conflicts with it. */
  | { readonly type: 'putRow'; readonly table: CarriedTableName; readonly row: CarriedRow }

export type CopyOf<T extends Copy['type']> = Extract<Copy, { readonly type: T }>

/** All copy types in the order in which they are applied: removals come before the rows they would conflict with. */
const COPY_TYPES = [
  'dropUser',
  'putUser',
  'dropDocument',
  'dropExport',
  'addDocument',
  'beginExport',
  'addElement',
  'sealExport',
  'dropSession',
  'putSession',
  'dropKey',
  'putKey',
  'dropRestCalls',
  'putRestCalls',
  'dropRow',
  'putRow',
] as const satisfies readonly Copy['type'][]

/** Groups copies by type, in the order in which they are applied. */
export function byCopyType(
  copies: readonly Copy[],
): readonly { readonly [T in Copy['type']]: readonly [T, readonly CopyOf<T>[]] }[Copy['type']][] {
  return COPY_TYPES.map((type) => [type, copies.filter((copy) => copy.type === type)]) as ReturnType<typeof byCopyType>
}

/**
 * While the phase is `closed`, every write throws `StoreClosedError`. Once it is `moved`, every write and every method
 * that authenticates the caller throws `StoreMovedError`. Triggers in the database refuse writes by anyone else, such
 * as an operator in a database shell. A write that is admitted because the closing has timed out ends the closing in
 * its own transaction, so that no clock decides whether a database may become `moved`.
 */
export interface MigratableStore extends EditableStore, CarriedReads {
  readonly moveState: () => Awaitable<MoveState>
  /** Call it before serving or importing: `filled` becomes `live`. Returns the resulting state. */
  readonly activate: () => Awaitable<MoveState>

  /**
   * Starts logging every change. Takes over from another move that has not finished. False for a database that is being
   * filled or has moved.
   */
  readonly beginMove: (move: Move) => Promise<boolean>
  /**
   * Returns the committed changes since the last call and removes them from the log. Null if the move was cancelled or
   * taken over.
   */
  readonly drainChangeLog: (moveId: string) => Promise<Changed | null>
  /**
   * Closes the database for at most `milliseconds`. Once it resolves, no write is in progress and none can begin. False
   * if the move was cancelled or taken over.
   */
  readonly fenceWrites: (moveId: string, milliseconds: number) => Promise<boolean>
  /** Admits writes again. */
  readonly unfenceWrites: (moveId: string) => Promise<void>
  /**
   * Sets the phase to `moved` if this move has kept the database closed since `fenceWrites`. False if something may
   * have been written since then.
   */
  readonly finishMove: (moveId: string) => Promise<boolean>
  /**
   * Returns the phase to `live` and stops logging changes. Does nothing unless the current move is `moveId`. Null
   * cancels any move, and also removes the leftovers of an earlier call that threw.
   */
  readonly cancelMove: (moveId: string | null) => Promise<void>

  /**
   * Sets the phase to `filling`, so that no other move can write. False unless the database is empty, registered
   * clients and the audit log included, or was filled from the same database and has not been used since.
   */
  readonly reserveTarget: (move: Move) => Promise<boolean>
  /**
   * Applies copies atomically, type by type in the order of `COPY_TYPES`, and within a type in the order given. False,
   * with nothing changed, if this move does not own the database (any more).
   */
  readonly applyCopies: (moveId: string, copies: readonly Copy[]) => Promise<boolean>
  /** Makes the database assign only ids above these. False as for `applyCopies`. */
  readonly raiseIds: (moveId: string, ids: LastIds) => Promise<boolean>
  /** Sets the phase to `filled`. False as for `applyCopies`. */
  readonly completeTarget: (moveId: string) => Promise<boolean>
  /**
   * Sets the phase to `live` if the database is being filled, or was filled, from the database `from`. Only for a
   * caller that knows that `from` has moved here. Idempotent.
   */
  readonly promote: (from: string) => Promise<void>

  /**
   * Erases from the database files the private key texts that a move removed here, except those that a stored key still
   * has. Throws `TracesLeftError` if that fails.
   */
  readonly eraseKeyTraces: (gone: readonly string[]) => Promise<void>

  /** The sessions with these ids, expired ones included, in no particular order. */
  readonly sessionsById: (ids: readonly string[]) => Awaitable<readonly NewSession[]>
}

/** The methods that each adapter implements in its `cutover.ts`. */
export type MoveVerbs = Pick<
  MigratableStore,
  | 'moveState'
  | 'activate'
  | 'beginMove'
  | 'drainChangeLog'
  | 'fenceWrites'
  | 'unfenceWrites'
  | 'finishMove'
  | 'cancelMove'
  | 'lastIds'
  | 'sessionsById'
>

/** The database is closed for the last step of a move, which takes a moment. Nothing was written. */
export class StoreClosedError extends StoreUnavailableError {}

/** Another database has taken over. Nothing was read or written. */
export class StoreMovedError extends StoreUnavailableError {}

export const CLOSED_MESSAGE = 'the database is being moved: writes wait for a moment'
export const MOVED_MESSAGE =
  'the database has moved to another one: use the URL of that one, or give it with the option database-next'

/** Maximum duration of a closing, even if a clock is set back meanwhile. */
export const MAX_CLOSED_MS = 60_000
