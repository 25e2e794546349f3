// A table's file written anew, without the rows that were removed.
import { StoreFaultError } from '../contract.ts'
import type { Connection, Statement } from './connection.ts'

/** Another one each time that the table is written anew. */
const FILE: Statement = {
  name: 'fileOfTable',
  text: 'select pg_relation_filenode($1::text::regclass)::text as file',
}

/** `table` in the quotes that it needs, with its schema. Throws `StoreFaultError` where this role may not. */
export async function rewriteTable(connection: Connection, table: string): Promise<void> {
  const before = await fileOf(connection, table)
  await connection.script(`vacuum full ${table}`)
  // For others than the owner the server only warns that it has left the table out.
  if ((await fileOf(connection, table)) === before) {
    throw new StoreFaultError(`only the owner of the table ${table} can have it written anew`)
  }
}

async function fileOf(connection: Connection, table: string): Promise<string | undefined> {
  const [row] = await connection.query<{ readonly file: string }>(FILE, [table])
  return row?.file
}
