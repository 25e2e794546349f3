// Stores the ledger of REST calls in PostgreSQL.
import { AUDIT_WRITER } from '../../audit-contract.ts'
import { type KnownClient, type RestCalls, type RestCallVerbs, withinBounds } from '../../rest-call-contract.ts'
import { columns, statements } from '../connection.ts'
import type { Pool } from '../engine/pool.ts'
import { advanceWriter } from './batch-writers.ts'

const SQL = statements({
  /** Serializes the batches: the number of clients per day stays exact, and no two batches wait for each other's rows. */
  lockRestCalls: `select pg_advisory_xact_lock(${0x57_53_47_4c})`,
  restCallClients: 'select distinct day, client from workspace_gateway.rest_call where day = any($1::text[])',
  addRestCalls: `insert into workspace_gateway.rest_call as c (day, route, client, count, last_seen)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])
    on conflict (day, route, client) do update
    set count = c.count + excluded.count, last_seen = greatest(c.last_seen, excluded.last_seen)`,
  restCallDays: 'select distinct day from workspace_gateway.rest_call where day > $1 order by day limit $2',
  restCallsOf: `select day, route, client, count, last_seen as "lastSeen" from workspace_gateway.rest_call
    where day = any($1::text[]) order by day, route, client`,
  removeRestCalls: `with old as (
      select day, route, client from workspace_gateway.rest_call where day < $1 order by day limit $2 for update skip locked),
    writers as (
      delete from workspace_gateway.rest_call_writer where writer in (
        select writer from workspace_gateway.rest_call_writer
        where day < $1 and not starts_with(writer, '${AUDIT_WRITER}') limit $2 for update skip locked))
    delete from workspace_gateway.rest_call where (day, route, client) in (select day, route, client from old) returning 1`,
})

export function createRestCalls(pool: Pool): RestCallVerbs {
  return {
    addRestCalls: ({ writer, sequence, calls }) =>
      pool.transaction(async (connection) => {
        const days = [...new Set(calls.map(({ day }) => day))].sort()
        await connection.query(SQL.lockRestCalls)
        if (!(await advanceWriter(connection, writer, sequence, days.at(-1) ?? ''))) return
        const rows = withinBounds(calls, await connection.query<KnownClient & object>(SQL.restCallClients, [days]))
        await connection.query(SQL.addRestCalls, restCallColumns(rows))
      }),
    restCallDays: (after, limit) =>
      pool.repeatable(async (connection) =>
        (await connection.query<{ readonly day: string }>(SQL.restCallDays, [after, limit])).map(({ day }) => day),
      ),
    restCallsOf: (days) =>
      pool.repeatable((connection) => connection.query<RestCalls & object>(SQL.restCallsOf, [[...new Set(days)]])),
    removeRestCalls: (before, limit) =>
      pool.write(async (connection) => (await connection.query(SQL.removeRestCalls, [before, limit])).length),
  }
}

/** One array per column, in the order of the table's columns. */
export function restCallColumns(calls: readonly RestCalls[]): readonly unknown[] {
  return columns(calls, ['day', 'route', 'client', 'count', 'lastSeen'])
}
