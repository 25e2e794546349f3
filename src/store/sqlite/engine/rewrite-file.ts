// Rewrites a whole SQLite file, which leaves out its unused space and what was removed from it.
import type { Database } from 'better-sqlite3'
import { StoreUnavailableError } from '../../contract.ts'
import { sqliteCode } from './faults/sqlite-errors.ts'

const ROOM =
  'it needs as much room as its content in the temporary folder (set TMPDIR to use another one), and as much again beside the database'
/**
 * Messages by error code, for the disk of the database or of the temporary folder. SQLite has one code for a used-up
 * quota and for a disk that fails. A failed write leaves the database as it was, and the next one tells.
 */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['SQLITE_FULL', `there is no room to rewrite the database: ${ROOM}`],
  ['SQLITE_IOERR_GETTEMPPATH', `there is no room to rewrite the database: ${ROOM}`],
  ['SQLITE_IOERR_WRITE', `the database could not be rewritten: a quota is used up, or a disk fails; ${ROOM}`],
])

/**
 * SQLite first copies the content into a temporary database. For that database alone the writer's temporary storage is
 * a file, because a large database does not fit into memory.
 */
export function rewriteFile(writer: Database): void {
  writer.pragma('temp_store = FILE')
  try {
    writer.exec('vacuum')
  } catch (error) {
    const refusal = REFUSALS.get(sqliteCode(error))
    throw refusal === undefined ? error : new StoreUnavailableError(refusal, { cause: error })
  } finally {
    writer.pragma('temp_store = MEMORY')
  }
}
