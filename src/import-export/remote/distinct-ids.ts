// Rejects lists of another server in which two documents have the same id: here they would be one document.
import { redact } from '../../redact.ts'
import type { DocumentKind } from '../../store/contract.ts'
import { RecordError, shortened } from '../format/envelope.ts'
import type { DocumentRecord, RecordFields } from '../format/read-record.ts'
import { LIST_PATHS } from './seen-workspace.ts'

/** The returned function takes each document of one user. It throws `RecordError` for a repeated id within a list. */
export function createDistinctIds({ idFields }: RecordFields): (document: DocumentRecord) => void {
  const idsOf = new Map<DocumentKind, Set<string>>()
  return ({ kind, id }) => {
    const ids = idsOf.get(kind) ?? new Set()
    idsOf.set(kind, ids)
    if (!ids.has(id)) {
      ids.add(id)
      return
    }
    const fields = idFields.join(', ')
    throw new RecordError(
      `two documents of ${LIST_PATHS[kind]} have the id "${shortened(redact(id))}": an id is the first of ${fields} that a document has`,
    )
  }
}
