// Stores the outbox of mails in PostgreSQL and leases mails to gateways.
import type { CodeVerbs, OutboxMail } from '../../sign-in/code-contract.ts'
import { columns, statements } from '../connection.ts'
import type { Pool } from '../engine/pool.ts'

const SQL = statements({
  expireMails: 'delete from workspace_gateway.outbox where expires_at <= $1',
  // Rows that another gateway is leasing are skipped.
  leaseMails: `update workspace_gateway.outbox set leased_by = $1, due_at = $2, attempts = attempts + 1
    where id in (select id from workspace_gateway.outbox where due_at <= $3 order by due_at, id limit $4 for update skip locked)
    returning id, email, network, agent, kid, asked_at as "askedAt", expires_at as "expiresAt", attempts`,
  settleMails: `with asked as (
      select * from unnest($2::text[], $3::bigint[], $4::boolean[]) as a (id, due_at, is_given_up)
    ), removed as (
      delete from workspace_gateway.outbox where leased_by = $1 and id in (select id from asked where due_at is null)
      returning id
    ), unmailed as (
      update workspace_gateway.pending_sign_in set is_mailed = false
      where id in (select id from removed) and id in (select id from asked where is_given_up))
    update workspace_gateway.outbox o set due_at = asked.due_at from asked
    where o.id = asked.id and o.leased_by = $1 and asked.due_at is not null`,
})

/** No verb checks that the database is active: the database refuses writes itself. */
export function createOutbox(pool: Pool): Pick<CodeVerbs, 'leaseMails' | 'settleMails'> {
  return {
    leaseMails: ({ owner, leaseMs, limit }, now) =>
      pool.write(async (connection) => {
        await connection.query(SQL.expireMails, [now])
        return connection.query<OutboxMail & object>(SQL.leaseMails, [owner, now + leaseMs, now, limit])
      }),
    settleMails: (owner, settled) =>
      pool.repeatableWrite(async (connection) => {
        await connection.query(SQL.settleMails, [owner, ...columns(settled, ['id', 'dueAt', 'isGivenUp'])])
      }),
  }
}
