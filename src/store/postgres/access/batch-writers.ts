// The last batch of each process that adds batches, in PostgreSQL: one whose answer was lost is not added twice.
import type { Connection, Statement } from '../connection.ts'

const ADVANCE: Statement = {
  name: 'advanceWriter',
  text: `insert into workspace_gateway.rest_call_writer as w (writer, sequence, day) values ($1, $2, $3)
    on conflict (writer) do update set sequence = excluded.sequence, day = excluded.day
    where w.sequence < excluded.sequence returning 1`,
}

/** Within the transaction that adds the batch: whether it is newer than the last one of its writer, which it is from then on. */
export async function advanceWriter(
  connection: Connection,
  writer: string,
  sequence: number,
  day: string,
): Promise<boolean> {
  return (await connection.query(ADVANCE, [writer, sequence, day])).length > 0
}
