// The size of the tables in PostgreSQL. The server reuses by itself what removed rows leave.
import type { Space, WorkspaceEdits } from '../workspace-edits.ts'
import type { Statement } from './connection.ts'
import type { Pool } from './engine/pool.ts'

type SpaceVerbs = Pick<WorkspaceEdits, 'space' | 'reclaimSpace' | 'rewrite' | 'flushRemovals'>

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
  async function space(): Promise<Space> {
    const [size] = await pool.repeatable((connection) => connection.query<{ byteLength: number }>(SIZE))
    return { byteLength: size?.byteLength ?? 0, unusedBytes: 0, reclaimableBytes: 0 }
  }

  async function vacuum(command: 'vacuum' | 'vacuum full'): Promise<void> {
    // Without a statement timeout.
    const connection = await pool.dedicated()
    try {
      for (const { name } of await connection.query<{ name: string }>(TABLES)) {
        await connection.script(`${command} workspace_gateway.${name}`)
      }
    } finally {
      connection.close()
    }
  }

  return {
    space,
    async reclaimSpace() {
      await vacuum('vacuum')
      return space()
    },
    rewrite: () => vacuum('vacuum full'),
    // The server overwrites what is removed when it vacuums, which it does by itself.
    flushRemovals: () => 'flushed' as const,
  }
}
