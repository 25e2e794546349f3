// The last batch of each process that adds batches, in SQLite: one whose answer was lost is not added twice.
import type { Database } from 'better-sqlite3'

/** Within the transaction that adds the batch: whether it is newer than the last one of its writer, which it is from then on. */
export function createAdvanceWriter(database: Database): (writer: string, sequence: number, day: string) => boolean {
  const advance = database.prepare<[string, number, string]>(
    `insert into rest_call_writer (writer, sequence, day) values (?, ?, ?)
     on conflict (writer) do update set sequence = excluded.sequence, day = excluded.day
     where sequence < excluded.sequence`,
  )
  return (writer, sequence, day) => advance.run(writer, sequence, day).changes > 0
}
