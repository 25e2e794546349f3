// Checks that the documents of a list have distinct ids. The contract does not say so, but this gateway stores one
// document per id.
import { isDocument } from '../../import-export/checks/validate.ts'
import { RecordError } from '../../import-export/format/envelope.ts'
import { createRecordReader, type RecordFields } from '../../import-export/format/read-record.ts'
import { documentLine } from '../../import-export/format/write-record.ts'
import { createDistinctIds } from '../../import-export/remote/distinct-ids.ts'
import { LIST_PATHS } from '../../import-export/remote/seen-workspace.ts'
import { elementTexts } from '../../json-text.ts'
import type { DocumentKind } from '../../store/contract.ts'
import { DOCUMENT_KINDS } from '../../store/reads-contract.ts'
import { unlessArray } from '../answer-body.ts'
import { CannotTellError } from '../cannot-tell.ts'
import type { Check } from '../check.ts'

export const ID_CHECKS: readonly Check[] = DOCUMENT_KINDS.map((kind) => ({
  group: `GET ${LIST_PATHS[kind]}`,
  name: 'gives each document an id of its own',
  source: 'gateway',
  async run(probe) {
    const answer = await probe.read(LIST_PATHS[kind])
    const problem = answer.status === 200 ? unlessArray(answer) : `answered ${answer.status}`
    if (problem !== null) throw new CannotTellError(problem)
    return unlessDistinct(kind, probe, elementTexts(answer.body.toString()) ?? [])
  },
}))

interface Reading {
  readonly email: string
  readonly fields: RecordFields
}

/** Null if every document of the list has an id of its own. */
function unlessDistinct(kind: DocumentKind, { email, fields }: Reading, texts: readonly string[]): string | null {
  const readRecord = createRecordReader(fields)
  const requireDistinct = createDistinctIds(fields)
  try {
    for (const text of texts) {
      const record = readRecord(documentLine(kind, email, text))
      if (isDocument(record)) requireDistinct(record)
    }
    return null
  } catch (error) {
    if (error instanceof RecordError) return error.message
    throw error
  }
}
