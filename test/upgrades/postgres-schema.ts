// Lists the parts of the gateway's PostgreSQL schema: columns, indexes, constraints, functions and triggers.
import { execute } from '../support/execute.ts'

const PARTS = `
  select 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' '
    || coalesce(column_default, '') || ' ' || coalesce(collation_name, '') as part
    from information_schema.columns where table_schema = 'workspace_gateway'
  union all select indexdef from pg_indexes where schemaname = 'workspace_gateway'
  union all select conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'workspace_gateway'::regnamespace
  union all select pg_get_functiondef(oid) from pg_proc where pronamespace = 'workspace_gateway'::regnamespace
  union all select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'workspace_gateway'::regnamespace and not t.tgisinternal`

export async function postgresSchema(url: string): Promise<readonly string[]> {
  return (await execute(url, PARTS))
    .map(({ part }) => String(part).replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' '))
    .toSorted()
}
