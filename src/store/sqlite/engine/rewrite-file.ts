// Rewrites a whole SQLite file, which leaves out its unused space and what was removed from it.
import type { Database } from 'better-sqlite3'
import { StoreUnavailableError } from '../../contract.ts'
import { sqliteCode } from './faults/sqlite-errors.ts'

/** Error codes if the disk of the database or of the temporary folder is full, or if there is no temporary folder. */
const NO_ROOM = new Set(['SQLITE_FULL', 'SQLITE_IOERR_GETTEMPPATH'])

/**
 * SQLite first copies the content into a temporary database. For that database alone the writer's temporary storage is
 * a file, because a large database does not fit into memory.
 */
export function rewriteFile(writer: Database): void {
  writer.pragma('temp_store = FILE')
  try {
    writer.exec('vacuum')
  } catch (error) {
    if (!NO_ROOM.has(sqliteCode(error))) throw error
    throw new StoreUnavailableError(
      'there is no room to rewrite the database: it needs as much room as its content in the temporary folder (set TMPDIR to use another one), and as much again beside the database',
      { cause: error },
    )
  } finally {
    writer.pragma('temp_store = MEMORY')
  }
}
