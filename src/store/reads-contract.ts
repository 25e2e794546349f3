// What is stored, and the reads that answer it: the part of the contract that requests, dumps and moves share.
import type { Awaitable } from './awaitable.ts'

export type DocumentKind = 'project' | 'template' | 'uiLibrary'

/** Of one export. As many as the row ids of SQLite tell apart; both engines keep to it, so that each can be moved into the other. */
export const MAX_ELEMENTS = 16_777_215
/** Half of the places that the row ids of SQLite tell apart: a replacement takes documents through the other half. */
export const LAST_DOCUMENT_POSITION = 33_554_431

/** A stored JSON document. */
export interface StoredDocument {
  /** Grows along the list of its user and kind, up to `LAST_DOCUMENT_POSITION`; a replaced document keeps it. */
  readonly position: number
  readonly kind: DocumentKind
  readonly userId: number
  /** What makes it the same document when it is imported again; unique within user and kind. */
  readonly id: string
  /** Projects only: unique within the user. */
  readonly ref: string | null
  /** The JSON text as it was imported. */
  readonly text: string
}

/** What is known of an export without reading its elements. */
export interface StoredExport {
  readonly id: number
  readonly userId: number
  readonly ref: string
  /** RFC 3339, as it was imported. */
  readonly createdAt: string
  /** `createdAt` in UTC with nine digits of fraction, so that text order is time order. */
  readonly instant: string
  /** SHA-256 of `[` + elements joined by `,` + `]`, lower-case hexadecimal. */
  readonly digest: string
  /** Of the same bytes. */
  readonly byteLength: number
  readonly elementCount: number
}

export interface StoredElement {
  /** 1, 2, 3 … within its export, up to `MAX_ELEMENTS`. */
  readonly position: number
  readonly text: string
}

export interface StoredUser {
  readonly id: number
  readonly email: string
}

/** One page of a list: what lies between two items, both left out, in the order of the list. */
export interface Page {
  /** 0: from the start. */
  readonly after: number
  /** Absent: to the end. */
  readonly before?: number | undefined
  /** This many items, fewer only where the list ends; null: all. */
  readonly limit: number | null
  /** The last items up to `limit`, not the first. They still come in the order of the list. */
  readonly fromEnd?: boolean | undefined
}

/** A page that is read in parts: a long list is not in memory at once. */
export interface PageWithin extends Page {
  /** A part ends with the item whose text passes this many bytes, and has at most `MAX_ITEMS_WITHIN` items. */
  readonly maxBytes: number
}

/** Items of a part: tiny ones cost time by their number. */
export const MAX_ITEMS_WITHIN = 2_048

/** The first part of a page (the last part of one that is `fromEnd`), in the order of the list. */
export interface PagePart<T> {
  /** Empty only where the page is. */
  readonly items: readonly T[]
  /** Whether the page has more items than these. */
  readonly isCut: boolean
}

/** The state of a user that the lookup of a session saw. */
export interface ExpectedVersion {
  readonly stateVersion: string
  /** Called before each answer with the state that it was read from: this one, or one that came after it. Null: the user is gone. */
  readonly onRead: (stateVersion: string | null) => void
}

/** What every question about one user has. */
export interface OfUser {
  readonly userId: number
  /** Absent where it does not matter: the question is answered from the newest state. */
  readonly seen?: ExpectedVersion | undefined
}

export interface DocumentList extends OfUser {
  readonly kind: DocumentKind
}

export interface ProjectRef extends OfUser {
  readonly ref: string
}

export interface LatestExportQuestion extends ProjectRef {
  /** Whether the project itself was read already: then nobody looks once more whether there is one. */
  readonly isKnown?: boolean | undefined
}

/** What makes it the same document in whichever database it is. */
export interface DocumentKey extends DocumentList {
  readonly id: string
}

/** What makes it the same export in whichever database it is. */
export interface ExportKey extends ProjectRef {
  readonly instant: string
  readonly digest: string
}

/** Where an export stands in the history of its project. */
export interface ExportPlace {
  readonly instant: string
  readonly id: number
}

/** A page of a history, newest first; as `Page`. */
export interface ExportPage extends ProjectRef {
  /** Null: from the newest. */
  readonly after: ExportPlace | null
  /** Absent: to the oldest. */
  readonly before?: ExportPlace | undefined
  readonly limit: number | null
  readonly fromEnd?: boolean | undefined
}

export interface ElementList extends OfUser {
  readonly exportId: number
}

export type ElementPage = ElementList & Page

/** What follows `after` in an export, bounded both ways. */
export interface ElementRunQuestion extends OfUser {
  readonly exportId: number
  /** Of that export. Whose newest exports are lost, as with a standby that takes over without them, gives their ids away again. */
  readonly digest: string
  readonly after: number
  readonly maxElements: number
  readonly maxBytes: number
}

/** Consecutive elements as they are sent. */
export interface ElementRun {
  /** The texts joined by `,`, in UTF-8. */
  readonly bytes: Uint8Array
  /** Position of the last of them. */
  readonly last: number
}

/** Reads of stored workspaces. Lists in, lists out, in the order given. */
export interface WorkspaceReads {
  /** The documents of each page, in stored order. */
  readonly documentsOf: (pages: readonly (DocumentList & Page)[]) => Awaitable<readonly (readonly StoredDocument[])[]>
  /** A part of each page, bounded by bytes. Costs time by what it answers, not by the length of the list. */
  readonly documentsWithin: (
    pages: readonly (DocumentList & PageWithin)[],
  ) => Awaitable<readonly PagePart<StoredDocument>[]>
  /** The document with each key, null where the user has none. */
  readonly documentsById: (keys: readonly DocumentKey[]) => Awaitable<readonly (StoredDocument | null)[]>
  /** How many documents each list has. */
  readonly documentCounts: (lists: readonly DocumentList[]) => Awaitable<readonly number[]>
  /** The project with each reference, null where the user has none. */
  readonly projectsByRef: (refs: readonly ProjectRef[]) => Awaitable<readonly (StoredDocument | null)[]>
  /**
   * The newest export of each project: by instant, then by order of import. Null where the project has none, undefined where
   * the user has no such project.
   */
  readonly latestExports: (
    questions: readonly LatestExportQuestion[],
  ) => Awaitable<readonly (StoredExport | null | undefined)[]>
  /** The export with each key, null where there is none or its project is gone. */
  readonly exportsByKey: (keys: readonly ExportKey[]) => Awaitable<readonly (StoredExport | null)[]>
  /** The exports of each page, newest first. Only whole exports are ever seen, here and above. */
  readonly exportsOf: (pages: readonly ExportPage[]) => Awaitable<readonly (readonly StoredExport[])[]>
  readonly exportCounts: (refs: readonly ProjectRef[]) => Awaitable<readonly number[]>
  /** The elements of each page, in order. */
  readonly elementsOf: (pages: readonly ElementPage[]) => Awaitable<readonly (readonly StoredElement[])[]>
  /** A part of each page, as `documentsWithin`. */
  readonly elementsWithin: (
    pages: readonly (ElementList & PageWithin)[],
  ) => Awaitable<readonly PagePart<StoredElement>[]>
  /**
   * The elements after each position: as many as the bounds allow, and one at least, however long. Null where none follows,
   * or the export is gone. A read costs time by its bounds, not by the size of the export.
   */
  readonly elementRunsOf: (questions: readonly ElementRunQuestion[]) => Awaitable<readonly (ElementRun | null)[]>
  /** Users in order of email, those after `email` ('' for the first): `limit`, fewer only at the end. */
  readonly usersAfter: (email: string, limit: number) => Awaitable<readonly StoredUser[]>
  readonly userByEmail: (email: string) => Awaitable<StoredUser | null>
  /** Those that are there in a state no older than this call, in no order. */
  readonly usersById: (ids: readonly number[]) => Awaitable<readonly StoredUser[]>
  /** The references of a user's exports that no project of the user has, in order: exports nobody can ask for. */
  readonly exportRefsWithoutProject: (userId: number) => Awaitable<readonly string[]>
}
