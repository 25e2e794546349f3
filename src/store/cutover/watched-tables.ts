// The tables that a move watches, and what it logs about them. Their names are the same on both engines.
import { CARRIED_TABLE_NAMES, carriedTable } from './carried-tables.ts'
import type { Changed } from './contract.ts'

/** Tables that refuse writes while a move has closed the database. */
export const GUARDED_TABLES = [
  'user',
  'session',
  'signing_key',
  'document',
  'staged_export',
  'export',
  'export_element',
  'replacement',
  'rest_call',
  ...CARRIED_TABLE_NAMES,
] as const

/**
 * Tables whose changes are logged, with the column that identifies the changed row. Workspace tables are missing
 * because every change to a workspace changes the revision of its user.
 */
export const NOTED_TABLES = [
  { table: 'user', key: 'id' },
  { table: 'session', key: 'id' },
  { table: 'signing_key', key: 'kid' },
  { table: 'rest_call', key: 'day' },
  ...CARRIED_TABLE_NAMES.map((table) => ({ table, key: carriedTable(table).key })),
] as const

/** A logged change. */
export interface NotedChange {
  /** The table. */
  readonly kind: string
  /** The value of the column that identifies the changed row. */
  readonly key: string
}

export function toChanged(noted: readonly NotedChange[]): Changed {
  const keysOf = (kind: string) => noted.filter((change) => change.kind === kind).map(({ key }) => key)
  return {
    users: keysOf('user').map(Number),
    sessions: keysOf('session'),
    hasKeys: keysOf('signing_key').length > 0,
    callDays: keysOf('rest_call'),
    rows: CARRIED_TABLE_NAMES.flatMap((table) => keysOf(table).map((key) => ({ table, key }))),
  }
}
