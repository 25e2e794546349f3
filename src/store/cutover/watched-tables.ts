// The tables whose rows a move watches, by the names they have in either database.

import { CARRIED_TABLE_NAMES, carriedTable } from './carried-tables.ts'

/** Nobody writes to these while a move has closed the database. */
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

/** What a change is noted under. Whatever changes of a user's workspace changes the user's revision. */
export const NOTED_TABLES = [
  { table: 'user', key: 'id' },
  { table: 'session', key: 'id' },
  { table: 'signing_key', key: 'kid' },
  { table: 'rest_call', key: 'day' },
  ...CARRIED_TABLE_NAMES.map((table) => ({ table, key: carriedTable(table).key })),
] as const
