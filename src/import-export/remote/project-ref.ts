// Reads the id and the reference (the `r` of GET /exports) of another server's projects.
import { RecordError } from '../format/envelope.ts'
import { createRecordReader, type RecordFields } from '../format/read-record.ts'
import { documentLine } from '../format/write-record.ts'

/** A placeholder: a project's record must have an email. */
const SOMEBODY = 'somebody@example.com'

export interface RemoteProject {
  readonly id: string
  readonly ref: string
}

/** Takes a project's JSON text. Null for a project without a reference. */
export function createRefReader(fields: RecordFields): (projectText: string) => string | null {
  const readProject = createProjectReader(fields)
  return (text) => readProject(text)?.ref ?? null
}

/** Takes a project's JSON text. Null for a project without an id or without a reference. */
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
