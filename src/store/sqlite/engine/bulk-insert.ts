// Inserts many rows with one statement.
import type { Database } from 'better-sqlite3'

/**
 * Rows per INSERT. Because the table has triggers, SQLite keeps a statement journal of whole pages for an INSERT with
 * explicit row ids, which costs as much as the row itself. A statement of many rows pays that once.
 */
export const ROWS_PER_INSERT = 16

export type RowInsert = (rows: readonly (readonly unknown[])[]) => void

/**
 * `into` names the table and its columns; `row` is the SQL of one row's values. If a row cannot be inserted, it throws,
 * and no row of the same statement (at most `ROWS_PER_INSERT`) is inserted.
 */
export function prepareRowInsert(database: Database, into: string, row: string): RowInsert {
  const insertOf = (rows: number) =>
    database.prepare<unknown[]>(`insert into ${into} values ${Array(rows).fill(row).join(', ')}`)
  const one = insertOf(1)
  const many = insertOf(ROWS_PER_INSERT)
  return (rows) => {
    let at = 0
    for (; at + ROWS_PER_INSERT <= rows.length; at += ROWS_PER_INSERT) {
      many.run(rows.slice(at, at + ROWS_PER_INSERT).flat())
    }
    for (const rest of rows.slice(at)) one.run(rest)
  }
}
