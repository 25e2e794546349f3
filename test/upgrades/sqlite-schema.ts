// What an SQLite database is made of, whoever made it: every table, index and trigger, without comments and white space.
import Database from 'better-sqlite3'

export function sqliteSchema(file: string): readonly string[] {
  const database = new Database(file, { readonly: true })
  const all = database.prepare<[], string>('select sql from sqlite_master where sql is not null').pluck().all()
  database.close()
  return all.map((sql) => sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ')).toSorted()
}
