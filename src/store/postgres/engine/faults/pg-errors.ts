// Maps the errors of the driver to the errors of the store contract.
import { DatabaseError } from 'pg'
import { StoreFullError, StoreSessionLostError, StoreUnavailableError } from '../../../contract.ts'
import { CLOSED_MESSAGE, MOVED_MESSAGE, StoreClosedError, StoreMovedError } from '../../../cutover/contract.ts'

/** SQLSTATE codes with which the triggers of a move refuse writes. Nothing else uses this class. */
export const SQLSTATE_CLOSED = 'WG001'
export const SQLSTATE_MOVED = 'WG002'

/** SQLSTATE classes and codes after which the connection is unusable. */
const CONNECTION_LOST = /^(?:08|57P|25006|25P0[1-4])/
/** query_canceled: by the statement timeout, or by an operator. */
const CANCELLED = '57014'
/** SQLSTATE classes and codes after which a retry may succeed: resources, timeouts, locks. */
const LATER = /^(?:53|57014|55P03|40001|40P01|58)/
/** lock_not_available, and deadlock_detected, which the server reports to one of the deadlocked transactions. */
const LOCK_REFUSED = /^(?:55P03|40P01)$/
const DISK_FULL = '53100'
/** invalid_schema_name and undefined_table: as while an older dump is restored over them. */
const TABLE_MISSING = /^(?:3F000|42P01)$/
/** insufficient_privilege: as while restored tables still belong to the role that restores them. */
const RIGHT_MISSING = '42501'
/** A limit of a statement or of the server. Only the name of the refusing routine tells which. */
const LIMIT_EXCEEDED = '54000'
const NUMBERS_USED_UP = /^GetNew(?:Transaction|MultiXact)Id$/
/** A prepared statement is missing or exists already, although each session prepares its own once. */
const SESSION_LOST = /^(?:26000|42P05)$/
/** The transaction was certainly rolled back, without a fault of the statement. */
const ROLLED_BACK = /^(?:40001|40P01)$/
/** SQLSTATE class of a transaction that is read-only, or was ended before its commit. */
const INVALID_STATE = /^25/
const NOT_UNIQUE = '23505'
/** A concurrent transaction gave a user the email or the id that was free before. On a retry it is seen as taken. */
const KEYS_OF_USER: readonly unknown[] = ['user_email_key', 'user_pkey']

export const USER_TAKEN = 'a user was created or renamed at the same moment'

/** SQLSTATE classes of notices from a server that shuts down, and of warnings. */
const GOING_DOWN = '57'
const WARNING = '01'
/** The routine that waits for a standby. All warnings have the same class; only the routine tells the cause. */
const STANDBY_WAIT = 'SyncRepWaitForLSN'

interface Notice {
  readonly code?: string | undefined
  readonly routine?: string | undefined
}

/** The connection is lost: the outcome of the statement in flight is unknown. */
export class ConnectionLostError extends StoreUnavailableError {}

/** The transaction did nothing and has to start over: it could not take its locks in the order that avoids deadlocks. */
export class ConflictError extends StoreUnavailableError {}

export function sessionLost(cause?: unknown): StoreSessionLostError {
  return new StoreSessionLostError(
    'a pooler between the gateway and the database gives each transaction another server connection',
    { cause },
  )
}

/** Takes a boolean as the driver returns it. Throws `StoreMovedError` once another database has taken over. */
export function assertActive(isRetired: unknown): void {
  if (isRetired === 't') throw new StoreMovedError(MOVED_MESSAGE)
}

/**
 * Returns a `StoreUnavailableError` when the database may recover without the gateway, also when a privilege is missing,
 * which may be granted again. Otherwise returns the error unchanged.
 */
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
  if (code === DISK_FULL) return new StoreFullError(error)
  if (code === RIGHT_MISSING) {
    return new StoreUnavailableError(`the role in the database URL lacks a privilege for this: ${error.message}`, {
      cause: error,
    })
  }
  if (code === LIMIT_EXCEEDED && NUMBERS_USED_UP.test(error.routine ?? '')) {
    return new StoreUnavailableError('the database accepts no writes until it is vacuumed', { cause: error })
  }
  if (TABLE_MISSING.test(code)) {
    return new StoreUnavailableError(
      `the tables of the gateway are missing, perhaps while they are restored: ${error.message}`,
      { cause: error },
    )
  }
  if (isUserTaken(error)) {
    return new StoreUnavailableError(USER_TAKEN, { cause: error })
  }
  if (LATER.test(code))
    return new StoreUnavailableError(`the database cannot answer now: ${error.message}`, { cause: error })
  return error
}

/**
 * Whether a notice means that a commit which the server reports as done may be lost with the server. A warning without
 * a routine counts as well.
 */
export function leavesCommitOpen({ code = '', routine = STANDBY_WAIT }: Notice): boolean {
  return code.startsWith(GOING_DOWN) || (code.startsWith(WARNING) && routine === STANDBY_WAIT)
}

/** For the error of a write or a commit: whether it may have happened. */
export function isOutcomeOpen(error: unknown): error is ConnectionLostError {
  return error instanceof ConnectionLostError && !INVALID_STATE.test(sqlState(error.cause))
}

export function isRolledBack(error: unknown): boolean {
  if (error instanceof ConflictError) return true
  if (!(error instanceof Error && error.cause instanceof DatabaseError)) return false
  return ROLLED_BACK.test(error.cause.code ?? '') || isUserTaken(error.cause)
}

function isUserTaken({ code, constraint }: DatabaseError): boolean {
  return code === NOT_UNIQUE && KEYS_OF_USER.includes(constraint)
}

/** Whether the error reports a missing privilege, as the driver throws it or as `toStoreError` returns it. */
export function isRightMissing(error: unknown): boolean {
  return sqlState(error instanceof StoreUnavailableError ? error.cause : error) === RIGHT_MISSING
}

/** For a result of `toStoreError`: whether a lock was refused because of `lock_timeout` or a deadlock. */
export function isLockRefused(error: unknown): error is StoreUnavailableError {
  return error instanceof StoreUnavailableError && LOCK_REFUSED.test(sqlState(error.cause))
}

export function sqlState(error: unknown): string {
  return error instanceof DatabaseError ? (error.code ?? '') : ''
}

/** The server cancelled a statement, and so rolled its transaction back. */
export function isStatementTimeout(error: unknown): boolean {
  if (!(error instanceof StoreUnavailableError) || error instanceof ConnectionLostError) return false
  return error.cause instanceof DatabaseError && error.cause.code === CANCELLED
}
