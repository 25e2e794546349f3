// Turns the errors of opening a database into sentences that tell the operator what to fix.
import { hasNoRoom, reasonOf } from '../../../../errors.ts'
import { memberOf } from '../../../../member-of.ts'
import { StoreFaultError, StoreNoRoomError, StoreNotWritableError, StoreOpenError } from '../../../contract.ts'
import { faultOf, isFaultOnOpen, sqliteCode } from '../faults/sqlite-errors.ts'
import { toFaultError } from '../faults/startup-check.ts'

const NOT_WRITABLE = new Set<unknown>(['EROFS', 'EACCES', 'EPERM'])

/** For an error of opening the file itself. An error that is none of the path's stays unchanged. */
export function toPathError(error: unknown, path: string): unknown {
  if (error instanceof StoreFaultError || isFaultOnOpen(error)) return error
  const code: unknown = memberOf(error, 'code')
  if (NOT_WRITABLE.has(code)) return notWritable(path, error)
  if (hasNoRoom(error)) return noRoom(path, error)
  return new StoreOpenError(`cannot open ${path}: ${reasonOf(error)}${adviceFor(error)}`, { cause: error })
}

/** A file of another kind cannot be told from a database whose first page was overwritten. */
function adviceFor(error: unknown): string {
  return sqliteCode(error) === 'SQLITE_NOTADB' ? '. If it was one, it is damaged: restore a backup' : ''
}

/** For an error of any step until the database can be used. Other errors stay unchanged. */
export function toOpenError(error: unknown, path: string): unknown {
  const fault = faultOf(error)
  if (fault === 'full') return noRoom(path, error)
  if (fault === 'readOnly') return notWritable(path, error)
  return sqliteCode(error) === 'SQLITE_NOTADB' ? error : toFaultError(error, path)
}

function notWritable(path: string, cause: unknown): StoreNotWritableError {
  const message = `cannot write to ${path}: the disk is read-only, or the permissions are missing: ${reasonOf(cause)}`
  return new StoreNotWritableError(message, { cause })
}

function noRoom(path: string, cause: unknown): StoreNoRoomError {
  return new StoreNoRoomError(`cannot write to ${path}: its disk is full`, { cause })
}
