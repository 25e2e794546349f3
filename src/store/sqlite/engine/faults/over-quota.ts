// Tells a used-up quota from a disk that fails: SQLite reports both as a failed write, and the driver passes on no errno.
import { rmSync } from 'node:fs'
import { hasNoRoom } from '../../../../errors.ts'
import { writeBeside } from '../files/write-beside.ts'
import { sqliteCode } from './sqlite-errors.ts'

/** More than the write that failed may have left of the quota. */
const PROBE_BYTES = 1_048_576

/** Whether `error` is a failed write to the database at `path` because its quota is used up. Writes a file beside it. */
export function isOverQuota(error: unknown, path: string): boolean {
  if (sqliteCode(error) !== 'SQLITE_IOERR_WRITE') return false
  const probe = `${path}-quota-${process.pid}`
  try {
    writeBeside(probe, Buffer.alloc(PROBE_BYTES))
    return false
  } catch (refusal) {
    return hasNoRoom(refusal)
  } finally {
    rmSync(probe, { force: true })
  }
}
