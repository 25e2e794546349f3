// Reads that decide who is asking: refused once another database has taken over.
import type { Connection, Statement } from '../connection.ts'
import { assertActive } from './faults/pg-errors.ts'

/** A column, once for all rows: whether another database has taken over. */
export const HAS_MOVED = `(select phase = 'moved' from workspace_gateway.move) as "isRetired"`

const WHETHER_MOVED: Statement = { name: 'whetherMoved', text: `select ${HAS_MOVED}` }

/** Throws `StoreMovedError` once another database has taken over: for reads that answer whether there is a row or not. */
export async function requireActive(connection: Connection): Promise<void> {
  assertActive((await connection.query(WHETHER_MOVED))[0]?.isRetired)
}

/**
 * Throws once another database has taken over: every row says so, and where one is missing it is asked. (A join would
 * answer both at once, and cost every lookup three times as much more.)
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
