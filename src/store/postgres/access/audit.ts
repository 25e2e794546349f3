// The audit log in PostgreSQL.
import type { AuditVerbs, StoredAuditEntry } from '../../audit-contract.ts'
import { hashedEmail } from '../../hashed-email.ts'
import type { Connection, Statement } from '../connection.ts'
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

// The table refuses updates: an entry goes and comes again under its id.
const HASH: Statement = {
  name: 'hashAuditNames',
  text: `with named as (
      select id from workspace_gateway.audit_entry where who = any($1::text[]) order by id for update),
    taken as (
      delete from workspace_gateway.audit_entry where id in (select id from named)
      returning id, at, kind, result, who, network, detail, count)
    insert into workspace_gateway.audit_entry (id, at, kind, result, who, network, detail, count)
    overriding system value
    select t.id, t.at, t.kind, t.result, asked.hash, t.network, t.detail, t.count
    from taken t join unnest($1::text[], $2::text[]) as asked (email, hash) on asked.email = t.who`,
}

/** Within a transaction: entries that name one of the emails in clear have its hash instead. */
export async function hashInAudit(connection: Connection, emails: readonly string[]): Promise<void> {
  const [row] = await connection.query<{ salt: string }>(SALT)
  const named = [...new Set(emails)]
  await connection.query(HASH, [named, named.map((email) => hashedEmail(email, row?.salt ?? ''))])
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
