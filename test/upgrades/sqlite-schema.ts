// Lists the tables, indexes and triggers of an SQLite database, no matter who created it, without comments and with
// normalized white space.
import Database from 'better-sqlite3'

export function sqliteSchema(file: string): readonly string[] {
  const database = new Database(file, { readonly: true })
  const all = database.prepare<[], string>('select sql from sqlite_master where sql is not null').pluck().all()
  database.close()
  return all.map((sql) => sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ')).toSorted()
}
