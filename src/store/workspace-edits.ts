// What is done to whole workspaces beside importing into them: the contract of removing, renaming, replacing and pruning.
// `test/contract/edits.ts` is its proof, sentence by sentence.
import { type Awaitable, type DocumentKind, type ExportStep, type Store, StoreRefusedError } from './contract.ts'

/** How much is stored for an email. */
export interface Holdings {
  readonly email: string
  readonly projects: number
  readonly templates: number
  readonly uiLibraries: number
  readonly exports: number
  /** Of the exports' elements, as they are sent. */
  readonly exportBytes: number
  /** Expired ones that are still stored included. */
  readonly sessions: number
}

/** Of an email that only an import had something staged for. */
export const NO_HOLDINGS: Omit<Holdings, 'email'> = {
  projects: 0,
  templates: 0,
  uiLibraries: 0,
  exports: 0,
  exportBytes: 0,
  sessions: 0,
}

/** When a replacement, or a staged export, was touched last that takes no steps any more, and is to be dropped. */
export const DROPPED_AT = -1

/** A replacement takes no steps any more. */
export class ReplacementGoneError extends StoreRefusedError {
  override readonly name = 'ReplacementGoneError'
  constructor() {
    super(
      'what was staged is gone: a user of it was removed or renamed, it stood still for too long, or the database has moved: run the import again',
    )
  }
}

/** Which exports of a user go: those that are older than `before` and not among the newest `keep` of their project. */
export interface PruneRule {
  readonly userId: number
  readonly keep: number
  /** As `instant` of an export; null for any age. */
  readonly before: string | null
}

export interface Pruned {
  readonly exports: number
  readonly byteLength: number
  /** Whether no export is left that the rule is about. */
  readonly isDone: boolean
}

/**
 * A replacement collects what users shall have, seen by nobody, and then swaps it in, user by user. Its steps are like
 * those of an import into workspaces that are empty, but an export stays under the reference that it was staged with.
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

/**
 * What became of one user: documents and exports. A document that stands elsewhere among those that stay counts as replaced. A
 * user who shall have nothing counts as one that is added or left unchanged.
 */
export interface Swapped {
  readonly email: string
  readonly added: number
  readonly replaced: number
  readonly unchanged: number
  readonly removed: number
}

export interface SwapQuestion {
  readonly replacement: string
  /** Users come in the order of their emails: those after this one ('' for the first). */
  readonly after: string
  /** Documents of all users of one call, at most; one user at least, however many documents that one has. */
  readonly maxDocuments: number
  /** Only says what would become of them. */
  readonly isDryRun: boolean
  /**
   * Absent: false. Exports of projects that stay are kept beside those that were staged, under the reference that their project
   * has then, and are not counted.
   */
  readonly keepsExports?: boolean | undefined
  readonly now: number
}

/**
 * Every verb is one atomic unit, answered once it is durable. None is idempotent in its answer; each is in its effect.
 */
export interface WorkspaceEdits {
  /** What is stored for each email, in the order given; null where there is neither a workspace nor a session. */
  readonly holdingsOf: (emails: readonly string[]) => Awaitable<readonly (Holdings | null)[]>
  /**
   * Takes away all that is stored for each email, and says what that was; null where there was nothing. What replacements
   * have staged for it goes too, and they take no steps any more, those under way either. Audit entries that have the email in
   * clear have its hash instead, also where nothing else was stored, and so have those that are still to be written (`REMOVED_NAME_MS`).
   */
  readonly removeUsers: (emails: readonly string[]) => Awaitable<readonly (Holdings | null)[]>
  /**
   * Everything of the user under another email, and the end of the sessions of the old one, and of what is staged for it,
   * as in `removeUsers`; so is what the audit log has of the old one. `unknown`: no workspace has the
   * old email. `taken`: another workspace has the new one. Nothing was changed then.
   */
  readonly renameUser: (email: string, to: string) => Awaitable<'renamed' | 'unknown' | 'taken'>
  /** Removes some of the exports that the rule is about: a bounded number of elements, one export at least. */
  readonly pruneExports: (rule: PruneRule) => Awaitable<Pruned>

  readonly beginReplacement: (replacement: string, now: number) => Awaitable<void>
  /** All steps or, when it throws, none. Throws `ReplacementGoneError` when it is not there (any more), `ListFullError` past the last place of a list. */
  readonly stageReplacement: (replacement: string, steps: readonly ReplacementStep[], now: number) => Awaitable<void>
  /**
   * Gives the next users exactly what was staged for them, in its order: each of them in one step, as readers see it. What is
   * the same stays as it is. Empty when no user is left. Takes time by what changes of these users, and by how many
   * documents they have.
   */
  readonly swapReplacement: (question: SwapQuestion) => Awaitable<readonly Swapped[]>
  /** What is left of a replacement is dropped by `dropStaleStages` from now on, like that of one that died. */
  readonly endReplacement: (replacement: string) => Awaitable<void>

  readonly space: () => Awaitable<Space>
  /** Gives some of the unused space back to the file system. To be called until nothing is left to give back. */
  readonly reclaimSpace: () => Awaitable<Space>
  /** Writes the database anew, without what is unused. Writes of others wait meanwhile, on PostgreSQL reads too. */
  readonly rewrite: () => Awaitable<void>
  /**
   * What was removed leaves the files of the database. `inUse`: not while somebody reads an older state. `external`: another
   * program empties the log, in its own time.
   */
  readonly flushRemovals: () => Awaitable<'flushed' | 'inUse' | 'external'>
}

export interface Space {
  /** Of the files of the database. */
  readonly byteLength: number
  /** What of it is unused, as far as the engine tells. */
  readonly unusedBytes: number
  /** What of that `reclaimSpace` can still give back. */
  readonly reclaimableBytes: number
}

/** A store for commands. */
export interface EditableStore extends Store, WorkspaceEdits {}
