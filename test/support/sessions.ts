// Counts the sessions of a gateway in its database file.
import Database from 'better-sqlite3'

export function countSessions(databasePath: string): number {
  const database = new Database(databasePath, { readonly: true })
  const count: unknown = database.prepare('select count(*) from session').pluck().get()
  database.close()
  return Number(count)
}
