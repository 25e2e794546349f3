// The values that resolvers return for a Node, before its GraphQL type is known.
import type { OpenSession } from '../../auth/sessions.ts'
import type { StoredDocument, StoredElement, StoredExport } from '../../store/contract.ts'
import type { WorkspaceUser } from '../context.ts'

/** An element with the export that it belongs to. */
export interface ExportedElement extends StoredElement {
  readonly snapshot: StoredExport
  /** The row that the store returned: the same object wherever the element occurs in a response. */
  readonly stored: StoredElement
}

export type NodeRow = WorkspaceUser | OpenSession | StoredDocument | StoredExport | ExportedElement
