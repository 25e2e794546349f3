// For reads that decide who may sign in, whether there is a row or not: they ask whether another database has taken over.
import type { Connection, Statement } from '../connection.ts'
import { assertActive } from '../engine/faults/pg-errors.ts'

const WHETHER_MOVED: Statement = {
  name: 'whetherMoved',
  text: `select (select phase = 'moved' from workspace_gateway.move) as "isRetired"`,
}

/** Throws `StoreMovedError` once another database has taken over. */
export async function requireActive(connection: Connection): Promise<void> {
  assertActive((await connection.query(WHETHER_MOVED))[0]?.isRetired)
}
