// The size of the tables in PostgreSQL. The server reuses by itself what removed rows leave.
import type { WorkspaceEdits } from '../workspace-edits.ts'
import type { Statement } from './connection.ts'
import type { Pool } from './engine/pool.ts'

type SpaceVerbs = Pick<WorkspaceEdits, 'reclaimSpace' | 'flushRemovals'>

const TABLES: Statement = {
  name: 'tablesToVacuum',
  text: `select quote_ident(relname) as name from pg_class
    where relnamespace = 'workspace_gateway'::regnamespace and relkind = 'r' order by relname`,
}
const SIZE: Statement = {
  name: 'schemaSize',
  text: `select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint as "byteLength" from pg_class
    where relnamespace = 'workspace_gateway'::regnamespace and relkind in ('r', 'p')`,
}

export function createSpace(pool: Pool): SpaceVerbs {
  async function vacuum(): Promise<number> {
    // Without a statement timeout; others read and write meanwhile.
    const connection = await pool.dedicated()
    try {
      const tables = await connection.query<{ name: string }>(TABLES)
      for (const { name } of tables) await connection.script(`vacuum workspace_gateway.${name}`)
      const [size] = await connection.query<{ byteLength: number }>(SIZE)
      return size?.byteLength ?? 0
    } finally {
      connection.close()
    }
  }
  return {
    reclaimSpace: async () => ({ byteLength: await vacuum(), reclaimableBytes: 0 }),
    async flushRemovals() {
      await vacuum()
      return true
    },
  }
}
