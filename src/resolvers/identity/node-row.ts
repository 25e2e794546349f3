// What a Node is given as, before its type is told.
import type { OpenSession } from '../../auth/sessions.ts'
import type { StoredDocument, StoredElement, StoredExport } from '../../store/contract.ts'
import type { WorkspaceUser } from '../context.ts'

/** An element, and what it is an element of. */
export interface ExportedElement extends StoredElement {
  readonly snapshot: StoredExport
  /** The same one wherever the element stands in an answer. */
  readonly stored: StoredElement
}

export type NodeRow = WorkspaceUser | OpenSession | StoredDocument | StoredExport | ExportedElement
