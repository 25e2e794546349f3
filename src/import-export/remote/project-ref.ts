// What a project of another server is known by: its id here, and the `r` of GET /exports that it is asked for by.
import { RecordError } from '../format/envelope.ts'
import { createRecordReader, type RecordFields } from '../format/read-record.ts'
import { documentLine } from '../format/write-record.ts'

/** Any address: the record of a project has one. */
const SOMEBODY = 'somebody@example.com'

export interface RemoteProject {
  readonly id: string
  readonly ref: string
}

/** Of a project's JSON text; null for a project that has none. */
export function createRefReader(fields: RecordFields): (projectText: string) => string | null {
  const readProject = createProjectReader(fields)
  return (text) => readProject(text)?.ref ?? null
}

/** Of a project's JSON text; null for a project that lacks an id or a reference. */
export function createProjectReader(fields: RecordFields): (projectText: string) => RemoteProject | null {
  const readRecord = createRecordReader(fields)
  return (text) => {
    try {
      const record = readRecord(documentLine('project', SOMEBODY, text))
      return record.kind === 'project' && record.ref !== null ? { id: record.id, ref: record.ref } : null
    } catch (error) {
      if (error instanceof RecordError) return null
      throw error
    }
  }
}
