// The types of stored rows and the reads that return them: the part of the contract that requests, dumps and moves use.
import type { Awaitable } from './awaitable.ts'

export const DOCUMENT_KINDS = ['project', 'template', 'uiLibrary'] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

/**
 * Maximum number of elements of one export. SQLite's row ids encode the position in 24 bits; PostgreSQL keeps the same
 * bound, so that each database can be moved into the other.
 */
export const MAX_ELEMENTS = 16_777_215
/**
 * Highest position of a document in its list: half of the 26-bit range that SQLite's row ids encode. A replacement uses
 * the other half for documents on their way to another position.
 */
export const LAST_DOCUMENT_POSITION = 33_554_431
/** Maximum length of the id of a document and of a reference, in UTF-16 units. The import refuses longer ones. */
export const MAX_NAME_LENGTH = 1_024

/** A stored JSON document. */
export interface StoredDocument {
  /** Ascends along the list of its user and kind, up to `LAST_DOCUMENT_POSITION`. Replacing a document keeps it. */
  readonly position: number
  readonly kind: DocumentKind
  readonly userId: number
  /** Identifies the document when it is imported again; unique within user and kind. */
  readonly id: string
  /** Unique within the user; null unless the document is a project. */
  readonly ref: string | null
  /** The JSON text as it was imported. */
  readonly text: string
}

/** An export without its elements. */
export interface StoredExport {
  readonly id: number
  readonly userId: number
  readonly ref: string
  /** RFC 3339, as it was imported. */
  readonly createdAt: string
  /** `createdAt` in UTC with nine fractional digits, so that text order is time order. */
  readonly instant: string
  /** SHA-256 of `[` + elements joined by `,` + `]`, in lower-case hexadecimal. */
  readonly digest: string
  /** Length of the bytes that `digest` covers. */
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

/** One page of a list: the items between two positions, both exclusive, in the order of the list. */
export interface Page {
  /** 0: from the start of the list. */
  readonly after: number
  /** Absent: to the end of the list. */
  readonly before?: number | undefined
  /** Number of items; fewer only where the range ends. Null: all. */
  readonly limit: number | null
  /** Selects the last `limit` items instead of the first. They are still returned in the order of the list. */
  readonly fromEnd?: boolean | undefined
}

/** A page that is read in parts, so that a long list is never in memory as a whole. */
export interface PageWithin extends Page {
  /**
   * A part ends with the item whose text exceeds this many bytes in total, and has at most `MAX_ITEMS_WITHIN` items.
   */
  readonly maxBytes: number
}

/** Maximum number of items of a part: a byte limit alone does not bound the time that many tiny items take. */
export const MAX_ITEMS_WITHIN = 2_048

/** The first part of a page (the last part of one that is `fromEnd`), in the order of the list. */
export interface PagePart<T> {
  /** Empty only if the page is empty. */
  readonly items: readonly T[]
  /** Whether the page has more items than these. */
  readonly isCut: boolean
}

/** The state of a user that the session lookup read. */
export interface ExpectedVersion {
  readonly stateVersion: string
  /**
   * Called before each answer with the state version that it was read from: the same or a later one. Null: no such
   * user.
   */
  readonly onRead: (stateVersion: string | null) => void
}

/** The part that all questions about one user share. */
export interface OfUser {
  readonly userId: number
  /** Absent if the state does not matter: the question is answered from the newest one. */
  readonly expected?: ExpectedVersion | undefined
}

export interface DocumentList extends OfUser {
  readonly kind: DocumentKind
}

export interface ProjectRef extends OfUser {
  readonly ref: string
}

export interface LatestExportQuestion extends ProjectRef {
  /** Set if the caller has read the project already; the store then does not check that it exists. */
  readonly isKnown?: boolean | undefined
}

/** Identifies a document across databases. */
export interface DocumentKey extends DocumentList {
  readonly id: string
}

/** Identifies an export across databases. */
export interface ExportKey extends ProjectRef {
  readonly instant: string
  readonly digest: string
}

/** Position of an export in the history of its project. */
export interface ExportPlace {
  readonly instant: string
  readonly id: number
}

/** Places before and after all exports in a history, newest first: instants begin with a digit. */
export const BEFORE_ALL: ExportPlace = { instant: '~', id: 0 }
export const AFTER_ALL: ExportPlace = { instant: '', id: 0 }

/** A page of a project's export history, newest first. The fields mean the same as those of `Page`. */
export interface ExportPage extends ProjectRef {
  /** Null: from the newest export. */
  readonly after: ExportPlace | null
  /** Absent: to the oldest export. */
  readonly before?: ExportPlace | undefined
  readonly limit: number | null
  readonly fromEnd?: boolean | undefined
}

export interface ElementList extends OfUser {
  readonly exportId: number
}

export type ElementPage = ElementList & Page

/** Asks for the elements of an export that follow position `after`, bounded by number and by bytes. */
export interface ElementRunQuestion extends OfUser {
  readonly exportId: number
  /**
   * Digest of that export. The id alone does not identify it: when the newest exports are lost, as in a failover to a
   * standby that has not received them, the database assigns their ids again.
   */
  readonly digest: string
  readonly after: number
  readonly maxElements: number
  readonly maxBytes: number
}

/** Consecutive elements in the form in which they are sent. */
export interface ElementRun {
  /** The texts joined by `,`, in UTF-8. */
  readonly bytes: Uint8Array
  /** Position of the last element. */
  readonly last: number
}

/** Reads of stored workspaces. Most take a list of questions and return one answer for each, in the order given. */
export interface WorkspaceReads {
  /** The documents of each page, by position. */
  readonly documentsOf: (pages: readonly (DocumentList & Page)[]) => Awaitable<readonly (readonly StoredDocument[])[]>
  /** The first part of each page, bounded by bytes. Takes time proportional to the part, not to the list. */
  readonly documentsWithin: (
    pages: readonly (DocumentList & PageWithin)[],
  ) => Awaitable<readonly PagePart<StoredDocument>[]>
  /** The document with each key, null where the user has none. */
  readonly documentsById: (keys: readonly DocumentKey[]) => Awaitable<readonly (StoredDocument | null)[]>
  /** The number of documents of each list. */
  readonly documentCounts: (lists: readonly DocumentList[]) => Awaitable<readonly number[]>
  /** The project with each reference, null where the user has none. */
  readonly projectsByRef: (refs: readonly ProjectRef[]) => Awaitable<readonly (StoredDocument | null)[]>
  /**
   * The newest export of each project: by instant, then by order of import. Null where the project has no export,
   * undefined where the user has no such project.
   */
  readonly latestExports: (
    questions: readonly LatestExportQuestion[],
  ) => Awaitable<readonly (StoredExport | null | undefined)[]>
  /** The export with each key; null where there is none or its project was removed. */
  readonly exportsByKey: (keys: readonly ExportKey[]) => Awaitable<readonly (StoredExport | null)[]>
  /** The exports of each page, newest first. No read ever returns an export that is not sealed. */
  readonly exportsOf: (pages: readonly ExportPage[]) => Awaitable<readonly (readonly StoredExport[])[]>
  readonly exportCounts: (refs: readonly ProjectRef[]) => Awaitable<readonly number[]>
  /** The elements of each page, by position. */
  readonly elementsOf: (pages: readonly ElementPage[]) => Awaitable<readonly (readonly StoredElement[])[]>
  /** The first part of each page, like `documentsWithin`. */
  readonly elementsWithin: (
    pages: readonly (ElementList & PageWithin)[],
  ) => Awaitable<readonly PagePart<StoredElement>[]>
  /**
   * The elements after each position: as many as the bounds allow, but at least one, however long it is. Null if no
   * element follows or the export is gone. Takes time proportional to the bounds, not to the size of the export.
   */
  readonly elementRunsOf: (questions: readonly ElementRunQuestion[]) => Awaitable<readonly (ElementRun | null)[]>
  /**
   * At most `limit` users that follow `email` ('' for the first) in order of email; fewer only at the end of the list.
   */
  readonly usersAfter: (email: string, limit: number) => Awaitable<readonly StoredUser[]>
  readonly userByEmail: (email: string) => Awaitable<StoredUser | null>
  /** The users with these ids that exist in a state no older than this call, in no particular order. */
  readonly usersById: (ids: readonly number[]) => Awaitable<readonly StoredUser[]>
  /** The references of a user's exports that no project of the user has, sorted. No request can reach these exports. */
  readonly exportRefsWithoutProject: (userId: number) => Awaitable<readonly string[]>
}
