// Writes the rows of every table of the gateway's PostgreSQL schema, and the values of its sequences, as SQL.
import { execute } from '../support/execute.ts'

const TABLES = `
  select c.relname as name,
    string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns,
    string_agg(format('quote_nullable(%I::text)', a.attname), ', ' order by a.attnum) as quoted
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = 'workspace_gateway'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  group by c.oid order by c.relname`

export async function postgresRows(url: string): Promise<string> {
  // Only rows are inserted: no trigger may run.
  const lines = ['set session_replication_role = replica;']
  for (const { name, columns, quoted } of await execute(url, TABLES)) {
    const table = `workspace_gateway."${name}"`
    lines.push(`delete from ${table};`)
    for (const { row } of await execute(url, `select concat_ws(', ', ${quoted}) as row from ${table}`)) {
      lines.push(`insert into ${table} (${columns}) overriding system value values (${row});`)
    }
  }
  const sequences = `select schemaname, sequencename, last_value from pg_sequences where last_value is not null`
  for (const { schemaname, sequencename, last_value: value } of await execute(url, sequences)) {
    lines.push(`select setval('${schemaname}.${sequencename}', ${value});`)
  }
  return [...lines, 'set session_replication_role = default;'].join('\n')
}
