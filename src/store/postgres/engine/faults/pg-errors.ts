// What the driver throws, in the words of the contract.
import { DatabaseError } from 'pg'
import { StoreFaultError, StoreSessionLostError, StoreUnavailableError } from '../../../contract.ts'
import { CLOSED_MESSAGE, MOVED_MESSAGE, StoreClosedError, StoreMovedError } from '../../../cutover/contract.ts'

/** What the triggers of a move refuse writes with; nothing else uses this class. */
export const SQLSTATE_CLOSED = 'WG001'
export const SQLSTATE_MOVED = 'WG002'

/** SQLSTATE classes and codes after which the same connection is of no more use. */
const CONNECTION_LOST = /^(?:08|57P|25006|25P0[1-4])/
/** … and those that say "later": resources, timeouts, locks. */
const LATER = /^(?:53|57014|55P03|40001|40P01|58)/
/** lock_not_available, and deadlock_detected, which the server says to one of those who wait for each other. */
const LOCK_REFUSED = /^(?:55P03|40P01)$/
const DISK_FULL = '53100'
/** insufficient_privilege */
const RIGHT_MISSING = '42501'
/** A limit of a statement, or of the server: only where it is refused tells which. */
const LIMIT_EXCEEDED = '54000'
const NUMBERS_USED_UP = /^GetNew(?:Transaction|MultiXact)Id$/
/** A prepared statement that is not there, or there already: each session prepares its own, once. */
const SESSION_LOST = /^(?:26000|42P05)$/
/** Rolled back for certain, by no fault of the statement. */
const ROLLED_BACK = /^(?:40001|40P01)$/
const NOT_UNIQUE = '23505'
/** Another transaction gave a user the email that was free a moment ago. Seen again, it is taken. */
const EMAIL_OF_USER = 'user_email_key'

/** SQLSTATE classes of what a server that goes down says beside its answer, and of warnings. */
const GOING_DOWN = '57'
const WARNING = '01'
/** Where the server waits for a standby. All that it warns of is of one class: only this tells what the warning is about. */
const STANDBY_WAIT = 'SyncRepWaitForLSN'

interface Notice {
  readonly code?: string | undefined
  readonly routine?: string | undefined
}

/** The connection is gone: what was under way on it has an unknown outcome. */
export class ConnectionLostError extends StoreUnavailableError {}

/** The server found no room, for a table or for what a statement puts on disk meanwhile. */
export class DiskFullError extends StoreUnavailableError {}

export function sessionLost(cause?: unknown): StoreSessionLostError {
  return new StoreSessionLostError(
    'a pooler between the gateway and the database gives each transaction another server',
    { cause },
  )
}

/** Of a boolean as the driver gives it: throws once another database has taken over. */
export function assertActive(isRetired: unknown): void {
  if (isRetired === 't') throw new StoreMovedError(MOVED_MESSAGE)
}

/** A `StoreUnavailableError` where the database may work again by itself, a `StoreFaultError` where a right is missing, else the error as it is. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreUnavailableError) return error
  if (!(error instanceof DatabaseError)) {
    return new ConnectionLostError('the connection to the database was lost', { cause: error })
  }
  const code = error.code ?? ''
  if (code === SQLSTATE_CLOSED) return new StoreClosedError(CLOSED_MESSAGE, { cause: error })
  if (code === SQLSTATE_MOVED) return new StoreMovedError(MOVED_MESSAGE, { cause: error })
  if (CONNECTION_LOST.test(code))
    return new ConnectionLostError(`the database ended the connection: ${error.message}`, { cause: error })
  if (SESSION_LOST.test(code)) return sessionLost(error)
  if (code === DISK_FULL) return new DiskFullError('the disk of the database is full', { cause: error })
  if (code === RIGHT_MISSING) {
    return new StoreFaultError(`the role of the database URL may not do this: ${error.message}`, { cause: error })
  }
  if (code === LIMIT_EXCEEDED && NUMBERS_USED_UP.test(error.routine ?? '')) {
    return new StoreUnavailableError('the database accepts no writes until it is vacuumed', { cause: error })
  }
  if (isEmailTaken(error)) {
    return new StoreUnavailableError('a user came into being, or was renamed, at the same moment', { cause: error })
  }
  if (LATER.test(code))
    return new StoreUnavailableError(`the database cannot answer now: ${error.message}`, { cause: error })
  return error
}

/** Whether the server says that a commit it reports as done may be lost with it. A warning that names no place may be that one. */
export function leavesCommitOpen({ code = '', routine = STANDBY_WAIT }: Notice): boolean {
  return code.startsWith(GOING_DOWN) || (code.startsWith(WARNING) && routine === STANDBY_WAIT)
}

export function isRolledBack(error: unknown): boolean {
  if (!(error instanceof Error && error.cause instanceof DatabaseError)) return false
  return ROLLED_BACK.test(error.cause.code ?? '') || isEmailTaken(error.cause)
}

function isEmailTaken({ code, constraint }: DatabaseError): boolean {
  return code === NOT_UNIQUE && constraint === EMAIL_OF_USER
}

/** What the server said that a right is missing, as the driver throws it or as `toStoreError` answers it. */
export function isRightMissing(error: unknown): boolean {
  return sqlState(error instanceof StoreFaultError ? error.cause : error) === RIGHT_MISSING
}

/** Of what `toStoreError` answers: a lock was waited for as long as `lock_timeout` allows, or by two for each other. */
export function isLockRefused(error: unknown): error is StoreUnavailableError {
  return error instanceof StoreUnavailableError && LOCK_REFUSED.test(sqlState(error.cause))
}

export function sqlState(error: unknown): string {
  return error instanceof DatabaseError ? (error.code ?? '') : ''
}
