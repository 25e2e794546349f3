// What a store can do beside serving: be moved into another database, and be the one that is moved into.
import type { Awaitable, NewSession, StoredDocument, StoredExport, StoredSigningKey, StoredUser } from '../contract.ts'
import { StoreUnavailableError } from '../contract.ts'
import type { RestCalls } from '../rest-call-contract.ts'
import type { EditableStore } from '../workspace-edits.ts'
import type { CarriedReads, CarriedRow, CarriedTableName } from './carried-tables.ts'

/**
 * `live`: in use, or free to be. `filling`: a move writes here, nobody else may. `filled`: whole, and not used by anybody yet.
 * `copying`: in use, while a move copies it; what changes is noted. `closed`: the same, and nobody may write for a moment.
 * `moved`: another database has taken over, for good; nothing here is ever written again.
 */
export type MovePhase = 'live' | 'filling' | 'filled' | 'copying' | 'closed' | 'moved'

/** Where a database stands. */
export interface MoveState {
  /** Of the database: random, made with it. */
  readonly identity: string
  readonly phase: MovePhase
  /** Of the move it takes part in, or took part in last. */
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

/** Users by id, sessions by id, whether signing keys are among it, the days whose REST calls are, and rows of carried tables. */
export interface Changed {
  readonly users: readonly number[]
  readonly sessions: readonly string[]
  readonly hasKeys: boolean
  readonly callDays: readonly string[]
  readonly rows: readonly ChangedRow[]
}

/** The highest number ever given to a user, to an export and to an entry of the audit log; no later one is given twice. */
export interface LastIds {
  readonly user: number
  readonly export: number
  readonly auditEntry: number
}

/** Begins an email that is nobody's. Who is renamed may be brought over after whoever has the old email now. */
export const DETOUR = 'moving:'

/** One row of another database, to be the same here, under the same id. */
export type Copy =
  /** With everything the user has. */
  | { readonly type: 'dropUser'; readonly id: number }
  /** Another user with this email has another one from then on, `DETOUR` and the id, until it is put or dropped itself. */
  | ({ readonly type: 'putUser' } & StoredUser)
  | ({ readonly type: 'dropDocument' } & Pick<StoredDocument, 'userId' | 'kind' | 'position'>)
  | { readonly type: 'dropExport'; readonly userId: number; readonly id: number }
  | ({ readonly type: 'addDocument' } & StoredDocument)
  /** Begins an export anew; its elements follow, then its seal. */
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
  /** All of the day. */
  | { readonly type: 'dropRestCalls'; readonly day: string }
  | { readonly type: 'putRestCalls'; readonly calls: RestCalls }
  | { readonly type: 'dropRow'; readonly table: CarriedTableName; readonly key: string }
  /** Whatever is in its way goes. */
  | { readonly type: 'putRow'; readonly table: CarriedTableName; readonly row: CarriedRow }

export type CopyOf<T extends Copy['type']> = Extract<Copy, { readonly type: T }>

/** In the order in which they are applied: what is in the way goes first. */
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

/** The copies of each type there is, in the order in which they are applied. */
export function byCopyType(
  copies: readonly Copy[],
): readonly { readonly [T in Copy['type']]: readonly [T, readonly CopyOf<T>[]] }[Copy['type']][] {
  return COPY_TYPES.map((type) => [type, copies.filter((copy) => copy.type === type)]) as ReturnType<typeof byCopyType>
}

/**
 * While `closed`, every write throws `StoreClosedError`; once `moved`, every write and every verb that decides who is asking
 * throws `StoreMovedError`. The database itself refuses the writes of whoever does not know of moves, a hand in its shell
 * included. A write that is let through because the time of a closing has run out takes the closing back in its own
 * transaction, so that whether a database may be called moved never depends on a clock.
 */
export interface MigratableStore extends EditableStore, CarriedReads {
  readonly moveState: () => Awaitable<MoveState>
  /** Before anybody is served, or anything imported: `filled` becomes `live`. Answers how it stands then. */
  readonly activate: () => Awaitable<MoveState>

  /**
   * From now on every change is noted. Takes over from another move that has not finished. False for a database that is
   * being filled, or has moved.
   */
  readonly beginMove: (move: Move) => Promise<boolean>
  /** What was changed since it was last asked, and is committed: forgotten with the answer. Null when the move was cancelled or taken over. */
  readonly drainChangeLog: (moveId: string) => Promise<Changed | null>
  /** Resolves when no write is under way and none can begin, for at most this long. False when the move was cancelled or taken over. */
  readonly fenceWrites: (moveId: string, milliseconds: number) => Promise<boolean>
  /** Lets writes in again. */
  readonly unfenceWrites: (moveId: string) => Promise<void>
  /** `moved`, if it is still closed by this move since `fenceWrites`: false when anything may have been written since then. */
  readonly finishMove: (moveId: string) => Promise<boolean>
  /**
   * Back to `live`; no change is noted any more. Nothing happens unless it is this move's (null: whosever it is, and what an
   * earlier call that threw has left goes too).
   */
  readonly cancelMove: (moveId: string | null) => Promise<void>

  /**
   * To `filling`, from where nobody else's move can write. False unless the database is empty, registered clients and the
   * audit log too, or was filled from the
   * same one and not used since.
   */
  readonly reserveTarget: (move: Move) => Promise<boolean>
  /** As one unit, type by type as listed above, and those of one type in the order given. False, and nothing happened, when this move does not have the database (any more). */
  readonly applyCopies: (moveId: string, copies: readonly Copy[]) => Promise<boolean>
  /** Numbers given later are higher than these. False as above. */
  readonly raiseIds: (moveId: string, ids: LastIds) => Promise<boolean>
  /** `filled`; false as above. */
  readonly completeTarget: (moveId: string) => Promise<boolean>
  /** `live`, when it is being filled from this database, or was. For a caller that knows that the other one has moved here. Idempotent. */
  readonly promote: (from: string) => Promise<void>

  /** Of private parts that no key has any more, and copies removed: out of the files too. Throws `TracesLeftError` where that could not be done. */
  readonly eraseKeyTraces: (gone: readonly string[]) => Promise<void>

  readonly lastIds: () => Promise<LastIds>
  /** Sessions with these ids, in no order; expired ones too. */
  readonly sessionsById: (ids: readonly string[]) => Awaitable<readonly NewSession[]>
}

/** What each adapter answers in its `cutover.ts`. */
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

/** Writes wait for a move to take its last step, which takes a moment. Nothing was written. */
export class StoreClosedError extends StoreUnavailableError {}

/** Another database has taken over. Nothing was written, nothing was answered. */
export class StoreMovedError extends StoreUnavailableError {}

export const CLOSED_MESSAGE = 'the database is being moved: writes wait for a moment'
export const MOVED_MESSAGE =
  'the database has moved to another one: use the URL of that, or name it with the option database-next'

/** A closing never counts for longer than this, also when a clock was set back meanwhile. */
export const MAX_CLOSED_MS = 60_000
