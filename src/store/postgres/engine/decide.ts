// Runs the reads that authenticate callers. They are refused once another database has taken over.
import type { Connection, Statement } from '../connection.ts'
import { assertActive } from './faults/pg-errors.ts'

/** A column, evaluated once per statement: whether another database has taken over. */
export const HAS_MOVED = `(select phase = 'moved' from workspace_gateway.move) as "isRetired"`

const WHETHER_MOVED: Statement = { name: 'whetherMoved', text: `select ${HAS_MOVED}` }

/** Throws `StoreMovedError` once another database has taken over. For reads without the `HAS_MOVED` column. */
export async function requireActive(connection: Connection): Promise<void> {
  assertActive((await connection.query(WHETHER_MOVED))[0]?.isRetired)
}

/**
 * Runs a statement that selects `HAS_MOVED`. Throws `StoreMovedError` once another database has taken over. When the
 * statement returns fewer rows than expected, it asks separately. (A join would need one statement only, but it makes
 * every lookup three times as expensive.)
 */
export async function decide<R extends object>(
  connection: Connection,
  statement: Statement,
  values: readonly unknown[],
  expected: number,
): Promise<readonly R[]> {
  const rows = await connection.query<R & { readonly isRetired: string }>(statement, values)
  assertActive(rows[0]?.isRetired)
  if (rows.length < expected) await requireActive(connection)
  return rows
}
