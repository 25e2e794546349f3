// Remembers the last batch of each writing process in PostgreSQL, so that a retried batch is not added twice.
import type { Connection, Statement } from '../connection.ts'

const ADVANCE: Statement = {
  name: 'advanceWriter',
  text: `insert into workspace_gateway.rest_call_writer as w (writer, sequence, day) values ($1, $2, $3)
    on conflict (writer) do update set sequence = excluded.sequence, day = excluded.day
    where w.sequence < excluded.sequence returning 1`,
}

/**
 * Records `sequence` as the last batch of the writer. True when the batch is newer than the recorded one. Runs in the
 * transaction that adds the batch.
 */
export async function advanceWriter(
  connection: Connection,
  writer: string,
  sequence: number,
  day: string,
): Promise<boolean> {
  return (await connection.query(ADVANCE, [writer, sequence, day])).length > 0
}
