// The contract for editing whole workspaces: removing, renaming, replacing and pruning. `test/contract/edits.ts` tests
// it sentence by sentence.
import { type Awaitable, type DocumentKind, type ExportStep, type Store, StoreRefusedError } from './contract.ts'

/** How much is stored for an email. */
export interface Holdings {
  readonly email: string
  readonly projects: number
  readonly templates: number
  readonly uiLibraries: number
  readonly exports: number
  /** Total size of the exports in the form in which they are sent. */
  readonly exportBytes: number
  /** Includes expired sessions that are still stored. */
  readonly sessions: number
}

/** The holdings of an email for which only a replacement had something staged. */
export const NO_HOLDINGS: Omit<Holdings, 'email'> = {
  projects: 0,
  templates: 0,
  uiLibraries: 0,
  exports: 0,
  exportBytes: 0,
  sessions: 0,
}

/** The "last touched" time that marks a replacement or staged export as ended: it accepts no steps and is dropped. */
export const DROPPED_AT = -1

/**
 * Maximum number of elements that one call of `pruneExports` removes, so that it holds its locks only briefly. A single
 * larger export is removed whole.
 */
export const ELEMENTS_PER_PRUNE = 2_000
/** The same for exports, which may be without elements. */
export const EXPORTS_PER_PRUNE = 500
/** Number of references of which one call of `pruneExports` looks for exports to remove. */
export const REFS_PER_PRUNE = 200
/** In place of a `before` that is null: sorts after every instant. */
export const ANY_AGE = '~'
/** Maximum number of users that one call of `swapReplacement` swaps. */
export const MAX_USERS_PER_SWAP = 256
/** Maximum number of rows that one call of `dropStaleStages` removes, so that it holds its locks only briefly. */
export const STALE_ROWS_PER_CALL = 2_000
/** From about this many bytes of text on, a call removes no more. It removes at least one row. */
export const STALE_BYTES_PER_CALL = 2_097_152

/** The replacement no longer exists, so it accepts no further steps. */
export class ReplacementGoneError extends StoreRefusedError {
  override readonly name = 'ReplacementGoneError'
  constructor() {
    super(
      'the staged data is gone: one of its users was removed or renamed, the import paused for too long, or the database has moved: run the import again',
    )
  }
}

/** Selects the exports of a user to remove: older than `before` and not among the newest `keep` of their project. */
export interface PruneRule {
  readonly userId: number
  readonly keep: number
  /** In the format of an export's `instant`; null for any age. */
  readonly before: string | null
  /** Continues after this reference, in an order that the engine chooses; '' starts with the first. */
  readonly after: string
}

export interface Pruned {
  readonly exports: number
  readonly byteLength: number
  /** The `after` of the next call; null when no export is left that the rule selects. */
  readonly next: string | null
}

/**
 * A replacement stages the complete new contents of users, invisible to readers, and then swaps them in user by user.
 * Its steps work like those of an import into empty workspaces, except that an export stays under the reference that it
 * was staged with.
 */
export type ReplacementStep =
  | { readonly type: 'stageUser'; readonly email: string }
  | {
      readonly type: 'stageDocument'
      readonly email: string
      readonly kind: DocumentKind
      readonly id: string
      readonly ref: string | null
      readonly text: string
    }
  | ExportStep

export type StepOf<T extends ReplacementStep['type']> = Extract<ReplacementStep, { readonly type: T }>

/**
 * What a swap did to one user: numbers of documents and exports. A document whose rank among the documents that stay
 * changed counts as replaced. A user who is to have nothing counts as one item, added or unchanged.
 */
export interface Swapped {
  readonly email: string
  readonly added: number
  readonly replaced: number
  readonly unchanged: number
  readonly removed: number
}

/**
 * SQL of both engines: the rank of a document among those of its kind that stay, in the order of `key`. Added and removed
 * documents in between do not change it. `s` is the staged document, `d` the stored one with the same id, if any.
 */
export const rankBy = (key: string): string =>
  `row_number() over (partition by s.kind, d.user_id is null order by ${key})`

/**
 * A replacement keeps the positions of documents that stay, as far as the new order allows, because the cursors of clients
 * that page are positions. It numbers the lists of a user anew instead if one would have a greater position than this.
 */
export const LAST_KEPT_POSITION = 16_777_215

export interface SwapQuestion {
  readonly replacement: string
  /** Users are swapped in order of email. Continues after this email; '' starts with the first. */
  readonly after: string
  /** Maximum number of documents of all users of one call. A call swaps at least one user, regardless of the number. */
  readonly maxDocuments: number
  /** Only reports what a swap would do. */
  readonly isDryRun: boolean
  /**
   * True: keeps the existing exports of projects that stay, beside the staged ones, under the new reference of their
   * project. They are not counted. Absent: false.
   */
  readonly keepsExports?: boolean | undefined
  readonly now: number
}

/**
 * Every method is atomic and resolves once its effect is durable. Its effect is idempotent; its returned value is not.
 */
export interface WorkspaceEdits {
  /** The holdings of each email, in the order given; null where there is neither a workspace nor a session. */
  readonly holdingsOf: (emails: readonly string[]) => Awaitable<readonly (Holdings | null)[]>
  /**
   * Removes everything that is stored for each email, and returns what that was; null where there was nothing. Also
   * removes what replacements have staged for the email, and ends those replacements, running ones included: they
   * accept no further steps. Audit entries with the clear email get its hash instead, even if nothing else was stored;
   * so do entries that are written within `REMOVED_NAME_MS`.
   */
  readonly removeUsers: (emails: readonly string[]) => Awaitable<readonly (Holdings | null)[]>
  /**
   * Gives the user's workspace another email. Ends the sessions of the old email, forgets its known networks, and treats
   * what is staged for it and its audit entries like `removeUsers` does. `unknown`: no workspace has the old email.
   * `taken`: another workspace has the new one. In both cases nothing was changed.
   */
  readonly renameUser: (email: string, to: string) => Awaitable<'renamed' | 'unknown' | 'taken'>
  /**
   * Removes some of the exports that the rule selects. A call looks at a bounded number of references, and removes a
   * bounded number of exports and of elements, but at least one export if it finds any.
   */
  readonly pruneExports: (rule: PruneRule) => Awaitable<Pruned>

  readonly beginReplacement: (replacement: string, now: number) => Awaitable<void>
  /**
   * Applies all steps or, when it throws, none. Throws `ReplacementGoneError` if the replacement does not exist (any
   * more), `ListFullError` past the last position of a list.
   */
  readonly stageReplacement: (replacement: string, steps: readonly ReplacementStep[], now: number) => Awaitable<void>
  /**
   * Gives the next users exactly what was staged for them, in the staged order. Readers see the change of each user as
   * one step. Equal rows stay untouched. Returns an empty list when no user is left. Takes time proportional to what
   * changes and to the number of documents of these users.
   */
  readonly swapReplacement: (question: SwapQuestion) => Awaitable<readonly Swapped[]>
  /** Ends a replacement. `dropStaleStages` then removes what is left of it, like the rows of an import that died. */
  readonly endReplacement: (replacement: string) => Awaitable<void>

  readonly space: () => Awaitable<Space>
  /** Returns some of the unused space to the file system. The caller repeats it until nothing is reclaimable. */
  readonly reclaimSpace: () => Awaitable<Space>
  /** Rewrites the database without its unused space. Other writes wait meanwhile; on PostgreSQL reads wait too. */
  readonly rewrite: () => Awaitable<void>
  /**
   * Erases removed data from the database files. `inUse`: a reader of an older state, or a writer, prevents it at the
   * moment. `external`: another program makes the checkpoints, in its own time.
   */
  readonly flushRemovals: () => Awaitable<'flushed' | 'inUse' | 'external'>
}

export interface Space {
  /** Total size of the database. */
  readonly byteLength: number
  /** The unused part of `byteLength`, as far as the engine reports it. */
  readonly unusedBytes: number
  /** The part of `unusedBytes` that `reclaimSpace` can still return to the file system. */
  readonly reclaimableBytes: number
}

/** The store as commands use it. */
export interface EditableStore extends Store, WorkspaceEdits {}
