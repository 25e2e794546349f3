// The tables that a move copies row by row as plain values, and those that it leaves behind, each with the reason.
import type { Awaitable } from '../awaitable.ts'

type ColumnType = 'text' | 'integer' | 'boolean'

interface CarriedTable {
  /** Name of a column that is unique in the table. */
  readonly key: string
  /** All columns, the key included. */
  readonly columns: Readonly<Record<string, ColumnType>>
  /** Further columns that are unique in combination. */
  readonly alsoUnique?: readonly string[]
  /**
   * Whether a backup contains the table. Pending sign-ins are left out because a restore would make their codes valid
   * again. Writer sequences and removed names are left out because after a restore no process resends a batch or still
   * has audit entries buffered from before.
   */
  readonly isBackedUp: boolean
}

/** Columns that `code_request` and `outbox` share: a request waits for the decision, then its mail waits to be sent. */
const CODE_REQUEST_COLUMNS = {
  id: 'text',
  email: 'text',
  network: 'text',
  agent: 'text',
  kid: 'text',
} as const satisfies CarriedTable['columns']

export const CARRIED_TABLES = {
  client: {
    key: 'name',
    columns: {
      name: 'text',
      secret_hash: 'text',
      domains: 'text',
      scopes: 'text',
      per_minute: 'integer',
      created_at: 'integer',
    },
    isBackedUp: true,
  },
  known_network: {
    key: 'key',
    columns: { key: 'text', address_key: 'text', seen_at: 'integer' },
    isBackedUp: true,
  },
  mail_quota: {
    key: 'key',
    columns: { key: 'text', used: 'integer', ends_at: 'integer' },
    isBackedUp: true,
  },
  code_request: {
    key: 'id',
    columns: {
      ...CODE_REQUEST_COLUMNS,
      code_hash: 'text',
      is_eligible: 'boolean',
      asked_at: 'integer',
    },
    isBackedUp: false,
  },
  pending_sign_in: {
    key: 'id',
    columns: {
      id: 'text',
      email: 'text',
      network: 'text',
      kid: 'text',
      code_hash: 'text',
      is_mailed: 'boolean',
      tries: 'integer',
      expires_at: 'integer',
    },
    alsoUnique: ['email', 'network'],
    isBackedUp: false,
  },
  outbox: {
    key: 'id',
    columns: {
      ...CODE_REQUEST_COLUMNS,
      asked_at: 'integer',
      expires_at: 'integer',
      due_at: 'integer',
      attempts: 'integer',
      leased_by: 'text',
    },
    isBackedUp: false,
  },
  audit_salt: { key: 'one', columns: { one: 'integer', salt: 'text' }, isBackedUp: true },
  audit_entry: {
    key: 'id',
    columns: {
      id: 'integer',
      at: 'integer',
      kind: 'text',
      result: 'text',
      who: 'text',
      network: 'text',
      detail: 'text',
      count: 'integer',
    },
    isBackedUp: true,
  },
  removed_name: { key: 'who', columns: { who: 'text', removed_at: 'integer' }, isBackedUp: false },
  rest_call_writer: {
    key: 'writer',
    columns: { writer: 'text', sequence: 'integer', day: 'text' },
    isBackedUp: false,
  },
} as const satisfies Readonly<Record<string, CarriedTable>>

/** Tables that are neither moved nor backed up, with the reason. A table in neither list has its own `Copy` types. */
export const LEFT_BEHIND: Readonly<Record<string, string>> = {
  schema_version: 'PostgreSQL only: the version of this database, whatever that of the other is',
  move: 'says where this database stands, not the other',
  move_change: 'what the move itself has to catch up with',
  staged_export: 'an import that is under way ends with its database, and is run again',
  staged_user: 'as staged_export',
  staged_document: 'as staged_export',
  replacement: 'as staged_export',
}

export type CarriedTableName = keyof typeof CARRIED_TABLES

export const CARRIED_TABLE_NAMES = Object.keys(CARRIED_TABLES) as readonly CarriedTableName[]

export function carriedTable(name: CarriedTableName): CarriedTable {
  return CARRIED_TABLES[name]
}

/** The columns in the order in which a row has its values. */
export function columnsOf(name: CarriedTableName): readonly string[] {
  return Object.keys(carriedTable(name).columns)
}

export type CarriedValue = string | number | boolean | null

/** The values of a row, in the order of the table's `columns`. */
export type CarriedRow = readonly CarriedValue[]

/** The key of a row; a number is returned as text. */
export function keyOfRow(name: CarriedTableName, row: CarriedRow): string {
  return String(row[columnsOf(name).indexOf(carriedTable(name).key)])
}

export interface CarriedReads {
  /** At most `limit` rows that follow `key` ('' for the first) in order of key. */
  readonly carriedRowsAfter: (name: CarriedTableName, key: string, limit: number) => Awaitable<readonly CarriedRow[]>
  /** The rows with these keys, in no particular order; missing ones are left out. */
  readonly carriedRows: (name: CarriedTableName, keys: readonly string[]) => Awaitable<readonly CarriedRow[]>
}
