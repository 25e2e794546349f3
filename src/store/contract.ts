// What is remembered: the contract every database adapter keeps. `test/contract/store.ts` is its proof, sentence by sentence.

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

/** One consistent state of the database for as long as it is held. */
export interface Snapshot extends WorkspaceReads, AsyncDisposable {}

export interface SnapshotOptions {
  /** PostgreSQL: for who waits. A read that takes longer than those of requests may, throws; so does one that comes as late. */
  readonly isTimed?: boolean
}

interface StageExport {
  readonly type: 'stageExport'
  /** The caller's own name for it until it is sealed; unique in the database. */
  readonly stage: string
  readonly email: string
  readonly ref: string
  readonly createdAt: string
  readonly instant: string
}

interface StageElements {
  readonly type: 'stageElements'
  readonly stage: string
  /** Of the first of the texts. */
  readonly position: number
  /** With none, the export counts as touched. */
  readonly texts: readonly string[]
}

interface SealExport {
  readonly type: 'sealExport'
  readonly stage: string
  readonly digest: string
  readonly byteLength: number
  readonly elementCount: number
}

/** An export is staged, filled and sealed; nobody sees it before it is sealed, and then it never changes. */
export type ExportStep = StageExport | StageElements | SealExport

/**
 * A step of an import. A user comes into being with their first step.
 * A project takes its exports along when it is removed, and to another reference, those too that are still being imported. Where the
 * same export is under that reference already, one of them is left. Steps take effect in the order of the list.
 */
export type Change =
  | { readonly type: 'addUser'; readonly email: string }
  /** Everything that is stored for the email: workspace and sessions. */
  | { readonly type: 'removeUser'; readonly email: string }
  | {
      readonly type: 'removeDocument'
      readonly email: string
      readonly kind: DocumentKind
      readonly id: string
    }
  /** Every export of the user that has all that is given here; at least a digest, or a reference and an instant. */
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

/**
 * `refTaken`: another project of the user has this reference, nothing was changed.
 * `listFull`: the list has no place behind its last document, nothing was changed.
 * `unchanged`: the same document text, or the same export (reference, instant, digest), was there already; or there was
 * nothing to remove.
 */
export type ChangeOutcome = 'added' | 'replaced' | 'unchanged' | 'removed' | 'refTaken' | 'listFull' | 'staged'

/**
 * Every verb is one atomic unit, and a write is answered only once it is durable. Expected outcomes are answered, never
 * thrown: what throws is the database itself (`StoreUnavailableError` when it may work again by itself).
 *
 * The verbs that decide who is asking read a state no older than their call; the reads that follow one see the state it
 * saw or a newer one, never an older (SQLite: the very same within one turn of the event loop). A question that names the
 * state (`seen`) is told when it was another one, and may be answered by a replica of the database that is in that state.
 *
 * When a connection is lost, reads and the verbs that say they are idempotent may be run again; the others never are: they
 * throw, and whether they took effect is unknown.
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
  /** Applies all changes or, when it throws, none. One outcome per change. Throws `ListFullError` for elements past `MAX_ELEMENTS`, `StagedExportGoneError` for a stage that is not there (any more). */
  readonly applyChanges: (changes: readonly Change[]) => Awaitable<readonly ChangeOutcome[]>
  /** The id of the document that has each project reference, null where it is free. */
  readonly projectIdsByRef: (
    refs: readonly { readonly email: string; readonly ref: string }[],
  ) => Awaitable<readonly (string | null)[]>
  /** Removes a part of the staged exports last touched before `before`; true when none are left. */
  readonly dropStaleStages: (before: number) => Awaitable<boolean>

  readonly openSnapshot: (options?: SnapshotOptions) => Awaitable<Snapshot>
  /** Throws unless the database answers. */
  readonly ping: () => Awaitable<void>
}

/** The database cannot answer now and may later: a lock held for too long, a connection lost. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** What was asked for cannot be stored, now or later. Nothing was written. The message is for the operator who asked. */
export class StoreRefusedError extends Error {
  override readonly name: string = 'StoreRefusedError'
}

/** What was to be removed, or replaced, is so; what it was may still lie in the files of the database. `cause`: why. */
export class TracesLeftError extends Error {
  override readonly name = 'TracesLeftError'
}

/** A staged export takes no steps any more. */
export class StagedExportGoneError extends StoreRefusedError {
  override readonly name = 'StagedExportGoneError'
  constructor() {
    super('the staged export is gone: its user was removed, or it stood still for too long: run the import again')
  }
}

/** A document or an element has no place in its list. */
export class ListFullError extends StoreRefusedError {
  override readonly name = 'ListFullError'
}

/** Throws `ListFullError` unless every element has a place in its export. */
export function requireElementPlaces(elements: readonly { readonly position: number }[]): void {
  if (elements.some(({ position }) => position > MAX_ELEMENTS)) {
    throw new ListFullError(`an export has at most ${MAX_ELEMENTS} elements`)
  }
}

/** Throws `ListFullError` unless every document has a place in its list. */
export function requireDocumentPlaces(documents: readonly { readonly position: number }[]): void {
  if (documents.some(({ position }) => position > LAST_DOCUMENT_POSITION)) {
    throw new ListFullError(`a list of documents has at most ${LAST_DOCUMENT_POSITION} places`)
  }
}

/** The database cannot be opened: missing rights, another program's file, or written by a newer version of this one. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError'
}

/** The store was opened for reads only: nothing was written, and nothing will be. */
export class StoreReadOnlyError extends Error {
  override readonly name = 'StoreReadOnlyError'
}

/** The database cannot be used until an operator has acted: damaged, no room on its disk, a folder that cannot be made. */
export class StoreFaultError extends Error {
  override readonly name = 'StoreFaultError'
}

/** The database can be read, perhaps, and not be written to: its disk is read-only, or the rights are missing. */
export class StoreNotWritableError extends StoreFaultError {}

/** A pooler in between gives each transaction another server, where sessions were promised: what is prepared in one is not there, or twice. */
export class StoreSessionLostError extends StoreFaultError {}
