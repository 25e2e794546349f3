// Measures and reclaims table space in PostgreSQL. The server reuses the space of removed rows by itself.
import { StoreFaultError, StoreUnavailableError } from '../contract.ts'
import type { Space, WorkspaceEdits } from '../workspace-edits.ts'
import { type Connection, statements } from './connection.ts'
import { isLockRefused } from './engine/faults/pg-errors.ts'
import type { Pool } from './engine/pool.ts'
import { rewriteTable } from './rewrite-table.ts'

type SpaceVerbs = Pick<WorkspaceEdits, 'space' | 'reclaimSpace' | 'rewrite' | 'flushRemovals'>

const SQL = statements({
  tablesToVacuum: `select quote_ident(relname) as name from pg_class
    where relnamespace = 'workspace_gateway'::regnamespace and relkind = 'r' order by relname`,
  /**
   * The first table that `vacuum` would skip, with nothing but a warning, because the role may not vacuum it. The privilege
   * `maintain` came with PostgreSQL 17.
   */
  tableThatVacuumSkips: `select quote_ident(relname) as name from pg_class join pg_database on datname = current_database()
    where relnamespace = 'workspace_gateway'::regnamespace and relkind = 'r' and not pg_has_role(datdba, 'usage')
      and not case when current_setting('server_version_num')::int < 170000 then pg_has_role(relowner, 'usage')
        else has_table_privilege(pg_class.oid, 'maintain') end
    order by relname limit 1`,
  schemaSize: `select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint as "byteLength" from pg_class
    where relnamespace = 'workspace_gateway'::regnamespace and relkind in ('r', 'p')`,
})

export function createSpace(pool: Pool): SpaceVerbs {
  async function space(): Promise<Space> {
    const [size] = await pool.repeatable((connection) => connection.query<{ byteLength: number }>(SQL.schemaSize))
    return { byteLength: size?.byteLength ?? 0, unusedBytes: 0, reclaimableBytes: 0 }
  }

  async function eachTable(change: (connection: Connection, table: string) => Promise<unknown>): Promise<void> {
    // A dedicated connection without a statement timeout.
    const connection = await pool.dedicated()
    try {
      for (const { name } of await connection.query<{ name: string }>(SQL.tablesToVacuum)) {
        await change(connection, `workspace_gateway.${name}`).catch((error: unknown) => {
          throw isLockRefused(error) ? inUse(name, error) : error
        })
      }
    } finally {
      connection.close()
    }
  }

  async function rewrite(connection: Connection, table: string): Promise<void> {
    // All later statements, also those of gateways, queue behind a session that waits for an exclusive table lock, for
    // example while a dump reads the table. Behind a pooler the setting would apply to other clients.
    if (!connection.isPooled()) await connection.script(`set lock_timeout = ${pool.patienceMs}`)
    await rewriteTable(connection, table)
  }

  return {
    space,
    async reclaimSpace() {
      const [skipped] = await pool.repeatable((connection) =>
        connection.query<{ name: string }>(SQL.tableThatVacuumSkips),
      )
      if (skipped) throw new StoreFaultError(`only the owner of the table ${skipped.name} can vacuum it`)
      await eachTable((connection, table) => connection.script(`vacuum ${table}`))
      return space()
    },
    rewrite: () => eachTable(rewrite),
    // Nothing is erased here: only a rewrite of the tables would, and reads would wait for it.
    flushRemovals: () => 'flushed' as const,
  }
}

function inUse(table: string, cause: unknown): StoreUnavailableError {
  return new StoreUnavailableError(
    `the table ${table} is in use, for example by a dump or a backup: run it again when that has ended. The tables before it, in the order of their names, are done`,
    { cause },
  )
}
