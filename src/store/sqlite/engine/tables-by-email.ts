// What is stored under an email without being part of a workspace: sessions, and whatever else signing in needs.
import type { Database } from 'better-sqlite3'

/** Part of workspaces: these go with the user. */
const WORKSPACE_TABLES = ['user', 'staged_user']

/** Every other table with a column `email`, so that none is forgotten when one is added. */
export function tablesByEmail(database: Database): readonly string[] {
  return database
    .prepare<string[], string>(
      `select m.name from sqlite_master m join pragma_table_info(m.name) c on c.name = 'email'
       where m.type = 'table' and m.name not in (${WORKSPACE_TABLES.map(() => '?').join(', ')}) order by m.name`,
    )
    .pluck()
    .all(...WORKSPACE_TABLES)
}
