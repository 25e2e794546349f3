// Spreads the large tables over native hash partitions, as an operator does on a database that is still empty.
import { execute } from './postgres.ts'

const TABLES = ['document', 'export', 'export_element']
const PARTITIONS = 4

export async function partitionByUser(url: string): Promise<void> {
  for (const table of TABLES) {
    const name = `workspace_gateway.${table}`
    const triggers = await execute(
      url,
      `select pg_get_triggerdef(oid) as definition from pg_trigger where tgrelid = '${name}'::regclass and not tgisinternal`,
    )
    const partitions = Array.from(
      { length: PARTITIONS },
      (_, remainder) =>
        `create table ${name}_${remainder} partition of ${name} for values with (modulus ${PARTITIONS}, remainder ${remainder})`,
    )
    await execute(
      url,
      [
        'begin',
        `create table ${name}_all (like ${name} including all) partition by hash (user_id)`,
        `drop table ${name}`,
        `alter table ${name}_all rename to ${table}`,
        ...partitions,
        ...triggers.map(({ definition }) => String(definition)),
        'commit',
      ].join(';\n'),
    )
  }
}
