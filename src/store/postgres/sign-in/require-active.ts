// For tables that a move does not guard: their writes ask whether another database has taken over.
import type { Connection, Statement } from '../connection.ts'
import { assertActive } from '../engine/faults/pg-errors.ts'
import type { Pool } from '../engine/pool.ts'

const WHETHER_MOVED: Statement = {
  name: 'whetherMoved',
  text: `select (select phase = 'moved' from workspace_gateway.move) as "isRetired"`,
}

/** Throws `StoreMovedError` once another database has taken over. */
export async function requireActive(connection: Connection): Promise<void> {
  assertActive((await connection.query(WHETHER_MOVED))[0]?.isRetired)
}

/** One transaction, on the database that is in charge. */
export function whileActive<T>(pool: Pool, run: (connection: Connection) => Promise<T>): Promise<T> {
  return pool.transaction(async (connection) => {
    await requireActive(connection)
    return run(connection)
  })
}
