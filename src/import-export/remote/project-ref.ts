// What a project of another server is asked for by: `r` of GET /exports.
import { RecordError } from '../format/envelope.ts'
import { createRecordReader, type RecordFields } from '../format/read-record.ts'
import { documentLine } from '../format/write-record.ts'

/** Any address: the record of a project has one. */
const SOMEBODY = 'somebody@example.com'

/** Of a project's JSON text; null for a project that has none. */
export function createRefReader(fields: RecordFields): (projectText: string) => string | null {
  const readRecord = createRecordReader(fields)
  return (text) => {
    try {
      const record = readRecord(documentLine('project', SOMEBODY, text))
      return record.kind === 'project' ? record.ref : null
    } catch (error) {
      if (error instanceof RecordError) return null
      throw error
    }
  }
}
