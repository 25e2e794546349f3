// The tables that a workspace consists of, including staged rows: for tests that count what is left.
const TABLES = [
  'user',
  'session',
  'document',
  'export',
  'export_element',
  'replacement',
  'staged_user',
  'staged_document',
  'staged_export',
]

/** SQL that returns the number of all rows. `schema` stands before each name. */
export function countSql(schema = ''): string {
  return `select ${TABLES.map((table) => `(select count(*) from ${schema}"${table}")`).join(' + ')} as rows`
}
