// Lists the tables that store rows by email outside the workspace: sessions, and everything else that sign-in needs.
import type { Database } from 'better-sqlite3'

/** Tables of the workspace itself; their rows are removed together with the user. */
const WORKSPACE_TABLES = ['user', 'staged_user']

/** Finds every other table with a column `email`, so that a new table is covered automatically. */
export function tablesByEmail(database: Database): readonly string[] {
  return database
    .prepare<string[], string>(
      `select m.name from sqlite_master m join pragma_table_info(m.name) c on c.name = 'email'
       where m.type = 'table' and m.name not in (${WORKSPACE_TABLES.map(() => '?').join(', ')}) order by m.name`,
    )
    .pluck()
    .all(...WORKSPACE_TABLES)
}
