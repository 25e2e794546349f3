// Rewrites the file of a table, which leaves out the removed rows.
import { StoreFaultError } from '../contract.ts'
import type { Connection, Statement } from './connection.ts'

/** The file node changes with every rewrite. */
const FILE: Statement = {
  name: 'fileOfTable',
  text: 'select pg_relation_filenode($1::text::regclass)::text as file',
}

/**
 * Rewrites `table`, a schema-qualified and quoted name, with `vacuum full`. Throws `StoreFaultError` when the role does
 * not own the table.
 */
export async function rewriteTable(connection: Connection, table: string): Promise<void> {
  const before = await fileOf(connection, table)
  await connection.script(`vacuum full ${table}`)
  // For a role that is not the owner, the server only warns that it has skipped the table.
  if ((await fileOf(connection, table)) === before) {
    throw new StoreFaultError(`only the owner of the table ${table} can rewrite it`)
  }
}

async function fileOf(connection: Connection, table: string): Promise<string | undefined> {
  const [row] = await connection.query<{ readonly file: string }>(FILE, [table])
  return row?.file
}
