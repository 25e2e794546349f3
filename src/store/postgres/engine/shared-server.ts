// Detects a pooler that lets connections share a server: then session state is not kept.
import { StoreUnavailableError } from '../../contract.ts'
import type { Connection } from '../connection.ts'
import type { Pool } from './pool.ts'

// Sent unnamed, because such a pooler could run a prepared statement on another server. Two servers may have processes
// with the same number, so the start time is included.
const SERVER = `select pg_backend_pid() || ' of ' || pg_postmaster_start_time() as server`

/**
 * Whether another connection of `pool` gets the same server as `connection` while both are open, or the server changes
 * meanwhile. False when no other connection is available. Only true is certain: a busy pooler may give each connection
 * a server of its own.
 */
export async function isServerShared(connection: Connection, pool: Pool): Promise<boolean> {
  const before = await serverOf(connection)
  const other = await pool.once(serverOf).catch(ignoreUnavailable)
  return other === before || (await serverOf(connection)) !== before
}

async function serverOf(connection: Connection): Promise<string> {
  return String((await connection.script(SERVER))[0]?.server)
}

function ignoreUnavailable(error: unknown): null {
  if (error instanceof StoreUnavailableError) return null
  throw error
}
