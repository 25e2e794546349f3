// Inserts of many rows as one statement.
import type { Database } from 'better-sqlite3'

/**
 * Because of its triggers SQLite keeps a journal of the pages that an INSERT with explicit row ids changes, whole pages,
 * which costs as much as the row itself. A statement of many rows pays that once.
 */
export const ROWS_PER_INSERT = 16

export type RowInsert = (rows: readonly (readonly unknown[])[]) => void

/**
 * `into` names table and columns, `row` is the SQL of one row's values. Throws with none of the last `ROWS_PER_INSERT` rows inserted
 * when one of them cannot be.
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
