// Stores registered clients in PostgreSQL.
import { type ClientRow, type ClientVerbs, toClient } from '../../sign-in/client-contract.ts'
import { statements } from '../connection.ts'
import { requireActive } from '../engine/decide.ts'
import type { Pool } from '../engine/pool.ts'

const CLIENT = `name, secret_hash as "secretHash", domains, scopes, per_minute as "perMinute", created_at as "createdAt"`

const SQL = statements({
  addClient: `insert into workspace_gateway.client (name, secret_hash, domains, scopes, per_minute, created_at)
    values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning name`,
  clients: `select ${CLIENT} from workspace_gateway.client order by name`,
  clientByName: `select ${CLIENT} from workspace_gateway.client where name = $1`,
  removeClient: 'delete from workspace_gateway.client where name = $1 returning name',
})

/** Reads check that the database is active. Writes need not: the database refuses them itself. */
export function createClients(pool: Pool): ClientVerbs {
  return {
    addClient: ({ name, secretHash, domains, scopes, perMinute, createdAt }) =>
      pool.affects(SQL.addClient, [name, secretHash, domains.join(','), scopes.join(','), perMinute, createdAt]),
    clients: () =>
      pool.repeatable(async (connection) => {
        await requireActive(connection)
        return (await connection.query<ClientRow>(SQL.clients)).map(toClient)
      }),
    clientByName: (name) =>
      pool.repeatable(async (connection) => {
        await requireActive(connection)
        const [row] = await connection.query<ClientRow>(SQL.clientByName, [name])
        return row ? toClient(row) : null
      }),
    removeClient: (name) => pool.affects(SQL.removeClient, [name]),
  }
}
