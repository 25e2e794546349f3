// Stores the audit log in PostgreSQL.
import {
  AUDIT_WRITER,
  type AuditVerbs,
  dayOfBatch,
  type NewAuditEntry,
  REMOVED_NAME_MS,
  type StoredAuditEntry,
} from '../../audit-contract.ts'
import { hashedEmail, IS_CLEAR_EMAIL, isClearEmail } from '../../hashed-email.ts'
import { dayOf } from '../../rest-call-contract.ts'
import { type Connection, columns, type Statement, statements } from '../connection.ts'
import type { Pool } from '../engine/pool.ts'
import { advanceWriter } from './batch-writers.ts'

const SALT: Statement = { name: 'auditSalt', text: 'select salt from workspace_gateway.audit_salt' }
const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint'
const SQL = statements({
  // Writers of clear emails share this row lock, and removals of users take it alone. So an entry is either stored before
  // the removal, which hashes it, or its writer finds the removed name.
  shareAuditSalt: `${SALT.text} for share`,
  lockAuditSalt: `${SALT.text} for no key update`,
  forgetRemovedNames: `delete from workspace_gateway.removed_name where removed_at < ${NOW} - ${REMOVED_NAME_MS}`,
  rememberRemovedNames: `insert into workspace_gateway.removed_name (who, removed_at) select who, ${NOW} from unnest($1::text[]) as asked (who)
    on conflict (who) do update set removed_at = excluded.removed_at`,
  removedNames: `select who from workspace_gateway.removed_name where who = any($1::text[]) and removed_at >= ${NOW} - ${REMOVED_NAME_MS}`,
  auditEntries: `select id, at, kind, result, who, network, detail, count from workspace_gateway.audit_entry
    where id > $1 and ($2::bigint is null or at >= $2) and ($3::bigint is null or at < $3)
      and ($4::text is null or kind = $4) and ($5::text[] is null or who = any($5))
    order by id limit $6`,
  addAuditEntries: `insert into workspace_gateway.audit_entry (at, kind, result, who, network, detail, count)
    select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[])`,
  removeAuditEntries: `with old as (
      select id from workspace_gateway.audit_entry where at < $1 order by at limit $2 for update skip locked),
    writers as (
      delete from workspace_gateway.rest_call_writer where writer in (
        select writer from workspace_gateway.rest_call_writer
        where day < $3 and starts_with(writer, '${AUDIT_WRITER}') limit $2 for update skip locked))
    delete from workspace_gateway.audit_entry where id in (select id from old) returning id`,
  // The table refuses updates, so an entry is deleted and inserted again under its id.
  hashAuditNames: `with named as (
      select id from workspace_gateway.audit_entry where who = any($1::text[]) and ${IS_CLEAR_EMAIL}
      order by id for update),
    taken as (
      delete from workspace_gateway.audit_entry where id in (select id from named)
      returning id, at, kind, result, who, network, detail, count)
    insert into workspace_gateway.audit_entry (id, at, kind, result, who, network, detail, count)
    overriding system value
    select t.id, t.at, t.kind, t.result, asked.hash, t.network, t.detail, t.count
    from taken t join unnest($1::text[], $2::text[]) as asked (email, hash) on asked.email = t.who`,
})

/**
 * Replaces the emails by their hashes in all entries that name them in clear, and remembers the hashes for entries that
 * are still to be written. Runs in a transaction, as its last step, because other writers of the audit log wait for the
 * lock until the transaction ends.
 */
export async function hashInAudit(connection: Connection, emails: readonly string[]): Promise<void> {
  const [row] = await connection.query<{ salt: string }>(SQL.lockAuditSalt)
  const named = [...new Set(emails)]
  const hashes = named.map((email) => hashedEmail(email, row?.salt ?? ''))
  await connection.query(SQL.forgetRemovedNames)
  await connection.query(SQL.rememberRemovedNames, [hashes])
  await connection.query(SQL.hashAuditNames, [named, hashes])
}

async function add(connection: Connection, entries: readonly NewAuditEntry[]): Promise<void> {
  await connection.query(
    SQL.addAuditEntries,
    columns(entries, ['at', 'kind', 'result', 'who', 'network', 'detail', 'count']),
  )
}

/**
 * Adds entries that name emails in clear. The transaction has written before: so a move refuses the write before this
 * takes a row lock that others wait for. An email that was removed while its entry waited is written as its hash.
 */
async function addInClear(connection: Connection, entries: readonly NewAuditEntry[]): Promise<void> {
  const [row] = await connection.query<{ salt: string }>(SQL.shareAuditSalt)
  const hashOf = (who: string) => hashedEmail(who, row?.salt ?? '')
  const clear = entries.map(({ who }) => who).filter(isClearEmail)
  const found = await connection.query<{ who: string }>(SQL.removedNames, [clear.map(hashOf)])
  const removed = new Set(found.map(({ who }) => who))
  const nameOf = (who: string) => (isClearEmail(who) && removed.has(hashOf(who)) ? hashOf(who) : who)
  await add(
    connection,
    entries.map((entry) => ({ ...entry, who: nameOf(entry.who) })),
  )
}

export function createAuditLog(pool: Pool): AuditVerbs {
  return {
    auditSalt: () =>
      pool.repeatable(async (connection) => (await connection.query<{ salt: string }>(SALT))[0]?.salt ?? ''),
    auditEntries: (filter, after, limit) =>
      pool.repeatable((connection) =>
        connection.query<StoredAuditEntry & object>(SQL.auditEntries, [
          after,
          filter.from,
          filter.to,
          filter.kind,
          filter.who,
          limit,
        ]),
      ),
    addAuditEntries: (batch) =>
      pool.transaction(async (connection) => {
        const { writer, sequence, entries } = batch
        if (!(await advanceWriter(connection, AUDIT_WRITER + writer, sequence, dayOfBatch(batch)))) return
        await (entries.some(({ who }) => isClearEmail(who)) ? addInClear : add)(connection, entries)
      }),
    removeAuditEntries: (before, limit) =>
      pool.write(
        async (connection) => (await connection.query(SQL.removeAuditEntries, [before, limit, dayOf(before)])).length,
      ),
  }
}
