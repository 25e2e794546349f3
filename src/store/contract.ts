// The store contract that both database adapters implement. `test/contract/store.ts` tests it sentence by sentence.

import type { AuditVerbs } from './audit-contract.ts'
import type { Awaitable } from './awaitable.ts'
import { type DocumentKind, LAST_DOCUMENT_POSITION, MAX_ELEMENTS, type WorkspaceReads } from './reads-contract.ts'
import type { RestCallVerbs } from './rest-call-contract.ts'
import type { SessionVerbs } from './session-contract.ts'
import type { ClientVerbs } from './sign-in/client-contract.ts'
import type { CodeVerbs } from './sign-in/code-contract.ts'
import type { SigningKeyVerbs } from './signing-key-contract.ts'
import type { StatisticsVerbs } from './statistics-contract.ts'

export type { Awaitable } from './awaitable.ts'
export type * from './reads-contract.ts'
export type { LiveSession, NewSession, RefreshableSession, SessionVerbs } from './session-contract.ts'
export type { SigningKeyVerbs, StoredSigningKey } from './signing-key-contract.ts'

/** Reads one consistent state of the database until it is disposed. */
export interface Snapshot extends WorkspaceReads, AsyncDisposable {}

export interface SnapshotOptions {
  /**
   * PostgreSQL only; set it when a request waits for the snapshot. The statement timeout of requests then applies: a
   * read that runs longer throws, and so does a read that follows an idle time of that length.
   */
  readonly isTimed?: boolean
}

interface StageExport {
  readonly type: 'stageExport'
  /** Name that the caller gives the export until it is sealed; unique in the database. */
  readonly stage: string
  readonly email: string
  readonly ref: string
  readonly createdAt: string
  readonly instant: string
}

interface StageElements {
  readonly type: 'stageElements'
  readonly stage: string
  /** Position of the first of the texts. */
  readonly position: number
  /** An empty list only renews the time at which the export was last touched. */
  readonly texts: readonly string[]
}

interface SealExport {
  readonly type: 'sealExport'
  readonly stage: string
  readonly digest: string
  readonly byteLength: number
  readonly elementCount: number
}

/** An export is staged, filled and sealed. Readers see it only once it is sealed; from then on it is immutable. */
export type ExportStep = StageExport | StageElements | SealExport

/**
 * A step of an import. The first step that stores something for an email creates the user. Steps take effect in the
 * order of the list.
 *
 * Removing a project removes its exports. Changing a project's reference moves its exports to the new reference, also
 * those that are still being imported; where the new reference already has the same export, one of the two is kept.
 */
export type Change =
  | { readonly type: 'addUser'; readonly email: string }
  /** Removes everything that is stored for the email: workspace and sessions. */
  | { readonly type: 'removeUser'; readonly email: string }
  | {
      readonly type: 'removeDocument'
      readonly email: string
      readonly kind: DocumentKind
      readonly id: string
    }
  /**
   * Removes the exports of the user that match every filter that is not null. The caller gives at least a digest, or a
   * reference and an instant.
   */
  | {
      readonly type: 'removeExports'
      readonly email: string
      readonly ref: string | null
      readonly instant: string | null
      readonly digest: string | null
    }
  | {
      readonly type: 'putDocument'
      readonly email: string
      readonly kind: DocumentKind
      readonly id: string
      readonly ref: string | null
      readonly text: string
    }
  | ((StageExport | StageElements) & { readonly now: number })
  | SealExport

export type ChangeOf<T extends Change['type']> = Extract<Change, { readonly type: T }>
export type Removal = ChangeOf<'removeUser' | 'removeDocument' | 'removeExports'>

/**
 * `refTaken`: another project of the user has this reference; nothing was changed.
 * `listFull`: the list has no position after its last document; nothing was changed.
 * `unchanged`: the same document text, or the same export (reference, instant, digest), was stored already; or there
 * was nothing to remove.
 */
export type ChangeOutcome = 'added' | 'replaced' | 'unchanged' | 'removed' | 'refTaken' | 'listFull' | 'staged'

/** The highest ids ever assigned to users, exports and audit entries, those of removed rows included; 0 for none. */
export interface LastIds {
  readonly user: number
  readonly export: number
  readonly auditEntry: number
}

/**
 * Every method is atomic. A write resolves only once it is durable; the one exception is the ledger of REST calls on
 * SQLite, which may lose its last writes in a power failure. Expected outcomes are return values. A method throws only
 * when the database fails (`StoreUnavailableError` when it may recover by itself) or refuses the input
 * (`StoreRefusedError`).
 *
 * The methods that authenticate the caller read a state no older than their call. Reads that follow such a call see the
 * same state or a newer one, never an older one (SQLite: the same state within one turn of the event loop). A read that
 * names its expected state (`expected`) is told which state it was answered from, and may be answered by a replica that is
 * in that state.
 *
 * When a connection is lost, the adapter may retry reads and the methods that are documented as idempotent. It never
 * retries the others: they throw, and whether they took effect is unknown.
 */
export interface Store
  extends WorkspaceReads,
    SessionVerbs,
    SigningKeyVerbs,
    AuditVerbs,
    RestCallVerbs,
    CodeVerbs,
    ClientVerbs,
    StatisticsVerbs,
    AsyncDisposable {
  /**
   * Applies all changes or, when it throws, none. Returns one outcome per change. Throws `ListFullError` for elements
   * past `MAX_ELEMENTS`, `StagedExportGoneError` for a stage that does not exist (any more).
   */
  readonly applyChanges: (changes: readonly Change[]) => Awaitable<readonly ChangeOutcome[]>
  /** The id of the project with each reference, in the order given; null where the reference is free. */
  readonly projectIdsByRef: (
    refs: readonly { readonly email: string; readonly ref: string }[],
  ) => Awaitable<readonly (string | null)[]>
  /**
   * Removes some of the staged exports and replacements that were last touched before `before` (milliseconds since the
   * epoch). Returns true when none are left.
   */
  readonly dropStaleStages: (before: number) => Awaitable<boolean>

  readonly lastIds: () => Promise<LastIds>
  readonly openSnapshot: (options?: SnapshotOptions) => Awaitable<Snapshot>
  /**
   * `now` (milliseconds since the epoch), or the time of the database's server if that is earlier. What one gateway
   * removes is gone for all gateways, so a clock that is ahead must not decide alone what is old. SQLite has no server,
   * and returns `now`.
   */
  readonly earlierTime: (now: number) => Awaitable<number>
  /** Throws unless the database responds. */
  readonly ping: () => Awaitable<void>
}

/**
 * The database cannot respond now but may later: a lock was held for too long, a connection was lost, or tables or rights
 * are missing for a while.
 */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** The disk of the database is full, for its rows or for the temporary files of a statement. */
export class StoreFullError extends StoreUnavailableError {
  constructor(cause?: unknown) {
    super('the disk of the database is full', { cause })
  }
}

/** The input cannot be stored, now or later. Nothing was written. The message is for the operator who made the call. */
export class StoreRefusedError extends Error {
  override readonly name: string = 'StoreRefusedError'
}

/** The data was removed or replaced, but the database files may still contain the old bytes. `cause` says why. */
export class TracesLeftError extends Error {
  override readonly name = 'TracesLeftError'
}

/** The staged export no longer exists, so it accepts no further steps. */
export class StagedExportGoneError extends StoreRefusedError {
  override readonly name = 'StagedExportGoneError'
  constructor() {
    super(
      'the staged export is gone: its user was removed, the import paused for too long, or the database has moved: run the import again',
    )
  }
}

/** A document's or an element's position exceeds the bound of its list. */
export class ListFullError extends StoreRefusedError {
  override readonly name = 'ListFullError'
}

/** Throws `ListFullError` if an element's position is beyond `MAX_ELEMENTS`. */
export function requireElementPlaces(elements: readonly { readonly position: number }[]): void {
  if (elements.some(({ position }) => position > MAX_ELEMENTS)) {
    throw new ListFullError(`an export has at most ${MAX_ELEMENTS} elements`)
  }
}

/** Throws `ListFullError` if a document's position is beyond `LAST_DOCUMENT_POSITION`. */
export function requireDocumentPlaces(documents: readonly { readonly position: number }[]): void {
  if (documents.some(({ position }) => position > LAST_DOCUMENT_POSITION)) {
    throw new ListFullError(`a list of documents has at most ${LAST_DOCUMENT_POSITION} places`)
  }
}

/**
 * The database cannot be opened: permissions are missing, or another program or a newer version of this one wrote it.
 */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError'
}

/** There is no database, and none should be created. */
export class StoreMissingError extends StoreOpenError {}

/** The store was opened read-only: it refuses every write. */
export class StoreReadOnlyError extends Error {
  override readonly name = 'StoreReadOnlyError'
}

/**
 * The database cannot be used until an operator acts: it is damaged, its disk failed, or its folder cannot be made.
 */
export class StoreFaultError extends Error {
  override readonly name = 'StoreFaultError'
}

/** Pages of the database are damaged. */
export class StoreDamagedError extends StoreFaultError {}

/** The database cannot be written to, though it may be readable: its disk is read-only or full, or permissions are missing. */
export class StoreNotWritableError extends StoreFaultError {}

/** The disk is too full to open the database for writing. */
export class StoreNoRoomError extends StoreNotWritableError {}

/**
 * A connection pooler gives each transaction another server connection although the configuration promises sessions: a
 * prepared statement is missing there, or already exists.
 */
export class StoreSessionLostError extends StoreFaultError {}
