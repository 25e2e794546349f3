// Keeps the last batch number of each writing process in SQLite, so that a resent batch is not added twice.
import type { Database } from 'better-sqlite3'

/**
 * Run it within the transaction that adds the batch. Returns whether the batch is newer than the last one of its
 * writer; if so, records it as the last.
 */
export function createAdvanceWriter(database: Database): (writer: string, sequence: number, day: string) => boolean {
  const advance = database.prepare<[string, number, string]>(
    `insert into rest_call_writer (writer, sequence, day) values (?, ?, ?)
     on conflict (writer) do update set sequence = excluded.sequence, day = excluded.day
     where sequence < excluded.sequence`,
  )
  return (writer, sequence, day) => advance.run(writer, sequence, day).changes > 0
}
