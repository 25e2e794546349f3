// Whether a pooler in between lets connections share a server: then nothing that a session is told stays with it.
import { StoreUnavailableError } from '../../contract.ts'
import type { Connection } from '../connection.ts'
import type { Pool } from './pool.ts'

// Not prepared under a name: such a pooler would answer for another server. Processes of two servers may have the same number.
const SERVER = `select pg_backend_pid() || ' of ' || pg_postmaster_start_time() as server`

/**
 * Whether the server of `connection` answers another one of `pool` too while both are open, or changes meanwhile. False where that
 * other one cannot be had. It is certain only where it is true: a pooler with much to do may give each a server of its own.
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
