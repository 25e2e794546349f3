// Maps SQLite's errors to those of the contract: the fault policy of this engine, for reads and writes alike.
import SqliteDatabase from 'better-sqlite3'
import { StoreFullError, StoreUnavailableError } from '../../../contract.ts'

/** `unavailable`: it may recover by itself. `fatal`: the state on disk is unknown, and only a restart recovers. */
type Consequence = 'unavailable' | 'fatal'

export type SqliteFault = 'busy' | 'full' | 'readOnly' | 'unopened' | 'corrupt' | 'io'

interface FaultRow {
  /** Pattern of the extended result code. The first row that matches decides. */
  readonly code: RegExp
  readonly fault: SqliteFault
  readonly consequence: Consequence
  /** For the log and for operators. */
  readonly message: string
}

const FAULTS: readonly FaultRow[] = [
  {
    code: /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/,
    fault: 'busy',
    consequence: 'unavailable',
    message: 'another process holds the database locked',
  },
  {
    // The WAL index (-shm) has to grow too, and has an error code of its own.
    code: /^SQLITE_(?:FULL|IOERR_SHMSIZE)/,
    fault: 'full',
    consequence: 'unavailable',
    message: 'the disk of the database is full',
  },
  {
    code: /^SQLITE_READONLY/,
    fault: 'readOnly',
    consequence: 'unavailable',
    message: 'the database cannot be written to',
  },
  {
    // While the database is served, only a snapshot opens files: there are too many open ones, or a right was taken away.
    code: /^SQLITE_CANTOPEN/,
    fault: 'unopened',
    consequence: 'unavailable',
    message: 'a file of the database cannot be opened',
  },
  {
    code: /^SQLITE_(?:CORRUPT|NOTADB)/,
    fault: 'corrupt',
    consequence: 'fatal',
    message: 'the database is damaged',
  },
  { code: /^SQLITE_IOERR/, fault: 'io', consequence: 'fatal', message: 'the disk of the database failed' },
]

export function sqliteCode(error: unknown): string {
  return error instanceof SqliteDatabase.SqliteError ? error.code : ''
}

/** Null for an error that is not a fault of the database: a constraint violation, or a bug in this program. */
export function faultOf(error: unknown): SqliteFault | null {
  return rowOf(error)?.fault ?? null
}

/**
 * Whether an error of opening a database is a fault of its disk or its contents. Otherwise the path leads to no database.
 */
export function isFaultOnOpen(error: unknown): boolean {
  const fault = faultOf(error)
  return fault !== null && fault !== 'unopened' && sqliteCode(error) !== 'SQLITE_NOTADB'
}

export function isBusy(error: unknown): boolean {
  return faultOf(error) === 'busy'
}

export function isFatal(error: unknown): boolean {
  return rowOf(error)?.consequence === 'fatal'
}

/** Returns a `StoreUnavailableError` if the database may recover by itself, else the error unchanged. */
export function toStoreError(error: unknown): unknown {
  const row = rowOf(error)
  if (row?.fault === 'full') return new StoreFullError(error)
  return row?.consequence === 'unavailable' ? new StoreUnavailableError(row.message, { cause: error }) : error
}

function rowOf(error: unknown): FaultRow | undefined {
  const code = sqliteCode(error)
  return FAULTS.find((row) => row.code.test(code))
}
