// What SQLite throws, in the words of the contract: the fault policy of this engine, used by reads and writes alike.
import SqliteDatabase from 'better-sqlite3'
import { StoreUnavailableError } from '../../../contract.ts'

/** `unavailable`: it may work again by itself. `fatal`: nothing is known about what is on disk, only a fresh start recovers. */
type Consequence = 'unavailable' | 'fatal'

export type SqliteFault = 'busy' | 'full' | 'readOnly' | 'corrupt' | 'io'

interface FaultRow {
  /** Of the extended result code; the first row that fits decides. */
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
    // The index of the write-ahead log has to grow too, and says so in its own way.
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

/** Null for what is no fault of the database: a constraint, a mistake of this program. */
export function faultOf(error: unknown): SqliteFault | null {
  return rowOf(error)?.fault ?? null
}

export function isBusy(error: unknown): boolean {
  return faultOf(error) === 'busy'
}

export function isFatal(error: unknown): boolean {
  return rowOf(error)?.consequence === 'fatal'
}

/** A `StoreUnavailableError` where the database may work again by itself, else the error as it is. */
export function toStoreError(error: unknown): unknown {
  const row = rowOf(error)
  return row?.consequence === 'unavailable' ? new StoreUnavailableError(row.message, { cause: error }) : error
}

function rowOf(error: unknown): FaultRow | undefined {
  const code = sqliteCode(error)
  return FAULTS.find((row) => row.code.test(code))
}
