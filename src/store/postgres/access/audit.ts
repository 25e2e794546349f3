// The audit log in PostgreSQL.
import type { AuditVerbs, StoredAuditEntry } from '../../audit-contract.ts'
import type { Statement } from '../connection.ts'
import type { Pool } from '../engine/pool.ts'

const SALT: Statement = { name: 'auditSalt', text: 'select salt from workspace_gateway.audit_salt' }
const ENTRIES: Statement = {
  name: 'auditEntries',
  text: `select id, at, kind, result, who, network, detail, count from workspace_gateway.audit_entry
    where id > $1 and ($2::bigint is null or at >= $2) and ($3::bigint is null or at < $3)
      and ($4::text is null or kind = $4) and ($5::text[] is null or who = any($5))
    order by id limit $6`,
}
const ADD: Statement = {
  name: 'addAuditEntries',
  text: `insert into workspace_gateway.audit_entry (at, kind, result, who, network, detail, count)
    select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[])`,
}
const REMOVE: Statement = {
  name: 'removeAuditEntries',
  text: `with old as (
      select id from workspace_gateway.audit_entry where at < $1 order by at limit $2 for update skip locked)
    delete from workspace_gateway.audit_entry where id in (select id from old) returning id`,
}

export function createAuditLog(pool: Pool): AuditVerbs {
  return {
    auditSalt: () =>
      pool.repeatable(async (connection) => (await connection.query<{ salt: string }>(SALT))[0]?.salt ?? ''),
    auditEntries: (filter, after, limit) =>
      pool.repeatable((connection) =>
        connection.query<StoredAuditEntry & object>(ENTRIES, [
          after,
          filter.from,
          filter.to,
          filter.kind,
          filter.who,
          limit,
        ]),
      ),
    addAuditEntries: (entries) =>
      pool.once(async (connection) => {
        await connection.query(ADD, [
          entries.map(({ at }) => at),
          entries.map(({ kind }) => kind),
          entries.map(({ result }) => result),
          entries.map(({ who }) => who),
          entries.map(({ network }) => network),
          entries.map(({ detail }) => detail),
          entries.map(({ count }) => count),
        ])
      }),
    removeAuditEntries: (before, limit) =>
      pool.once(async (connection) => (await connection.query(REMOVE, [before, limit])).length),
  }
}
