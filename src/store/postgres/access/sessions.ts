// Stores sessions in PostgreSQL.
import {
  CLOCKS_DIFFER_MS,
  EXPIRED_SESSIONS_PER_CALL,
  type LiveSession,
  type NewSession,
  type OwnedSession,
  type RefreshableSession,
  type SessionVerbs,
} from '../../session-contract.ts'
import { columns, statements } from '../connection.ts'
import { decide, HAS_MOVED } from '../engine/decide.ts'
import type { Pool } from '../engine/pool.ts'
import { coalesce } from '../engine/statement-batcher.ts'

/** From this fraction of the session limit on, sessions added concurrently could exceed the limit. */
const NEARLY_FULL = 1 / 2

interface Expiring {
  readonly idleExpiresAt: number
  readonly expiresAt: number
}

const EXPIRY = 'idle_expires_at as "idleExpiresAt", expires_at as "expiresAt"'

/** The columns of a whole session. */
export const SESSION = `id, email, encode(refresh_hash, 'hex') as "refreshHash", created_at as "createdAt",
  last_used_at as "lastUsedAt", ${EXPIRY}, user_agent as "userAgent", network, client`
export type SessionRow = Omit<NewSession, 'refreshHash'> & { readonly refreshHash: string }

export function toSession(row: SessionRow): NewSession {
  const { id, email, refreshHash, createdAt, lastUsedAt, idleExpiresAt, expiresAt, userAgent, network, client } = row
  const hash = Buffer.from(refreshHash, 'hex')
  return { id, email, refreshHash: hash, createdAt, lastUsedAt, idleExpiresAt, expiresAt, userAgent, network, client }
}

/** Values from the arrays that `sessionColumns` returns, `$1` to `$10`. */
export const SESSION_VALUES = `(id, email, refresh_hash, created_at, last_used_at, idle_expires_at, expires_at, user_agent, network, client)
  select * from unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[],
    $9::text[], $10::text[])`

const SQL = statements({
  liveSessions: `select s.id, s.email, s.client, u.id as "userId", coalesce(u.revision, 0) as revision,
      coalesce(u.stamp, '') as "stateVersion", ${EXPIRY}, ${HAS_MOVED}
    from workspace_gateway.session s left join workspace_gateway.user u on u.email = s.email where s.id = any($1::text[])`,
  refreshableSessions: `select encode(refresh_hash, 'hex') as hash, id, email, last_used_at as "lastUsedAt", ${EXPIRY}, ${HAS_MOVED}
    from workspace_gateway.session where refresh_hash = any($1::bytea[])`,
  sessionsOf: `select ${SESSION}, ${HAS_MOVED} from workspace_gateway.session
    where email = $1 and idle_expires_at > $2 and expires_at > $2 order by created_at desc, id desc limit $3`,
  // `on conflict do nothing` makes the statement idempotent: when a move refuses the next statement, both are retried.
  // Returns the number of open sessions of each user.
  addSessions: `with added as (insert into workspace_gateway.session ${SESSION_VALUES} on conflict (id) do nothing)
    select asked.email, asked.added + (
        select count(*) from workspace_gateway.session s where s.email = asked.email and s.idle_expires_at > $11) as count
      from (select email, count(*) as added from unnest($2::text[]) as email group by email) asked
      where $12::boolean`,
  // Concurrent calls rank the same sessions, and rows that are being ended or used are locked and skipped. So no session
  // is ended twice, not too many are ended, and no call waits. Sessions with a last use in the future are ended first:
  // the clock was set back, and a session opened now would always rank as the idlest.
  endIdlestSessions: `with ranked as (
      select id, row_number() over (
          partition by email order by last_used_at > $2 + ${CLOCKS_DIFFER_MS}, last_used_at desc, id desc) as place
      from workspace_gateway.session where email = any($1::text[]) and idle_expires_at > $2
    ), beyond as (
      select id from workspace_gateway.session where id in (select id from ranked where place > $3)
      for update skip locked
    )
    delete from workspace_gateway.session where id in (select id from beyond) returning id, email`,
  extendSessions: `update workspace_gateway.session s set idle_expires_at = greatest(s.idle_expires_at, asked.idle_expires_at),
      last_used_at = greatest(s.last_used_at, asked.last_used_at)
    from (select id, max(idle_expires_at) as idle_expires_at, max(last_used_at) as last_used_at
      from unnest($1::text[], $2::bigint[], $3::bigint[]) as a (id, idle_expires_at, last_used_at) group by id) asked
    where s.id = asked.id returning s.id`,
  // Skips rows that another transaction is removing.
  dropExpiredSessions: `with expired as (
      select id from workspace_gateway.session where idle_expires_at <= $1
      order by idle_expires_at limit $2 for update skip locked
    ) delete from workspace_gateway.session where id in (select id from expired) returning id`,
  revokeSessions: `delete from workspace_gateway.session
    where refresh_hash = any($1::bytea[]) and idle_expires_at > $2 and expires_at > $2
    returning encode(refresh_hash, 'hex') as hash, id, email`,
  revokeSessionsById: `delete from workspace_gateway.session s using unnest($1::text[], $2::text[]) as asked (id, email)
    where s.id = asked.id and s.email = asked.email and s.idle_expires_at > $3 and s.expires_at > $3
    returning s.id, s.email`,
  revokeSessionsOf: `with ended as (delete from workspace_gateway.session where email = $1 returning idle_expires_at, expires_at)
    select count(*) as count from ended where idle_expires_at > $2 and expires_at > $2`,
  sessionsAfter: `select ${SESSION} from workspace_gateway.session where id > $1 order by id limit $2`,
})

export function createSessions(pool: Pool): SessionVerbs {
  const live = coalesce(
    (ids: readonly string[]) =>
      pool.repeatable(async (connection) => {
        const asked = distinct(ids)
        const rows = await decide<LiveSession & Expiring>(connection, SQL.liveSessions, [asked], asked.length)
        const byId = new Map(rows.map((row) => [row.id, row]))
        return ids.map((id) => byId.get(id) ?? null)
      }),
    pool,
  )
  const refreshable = coalesce(
    (hashes: readonly Uint8Array[]) =>
      pool.repeatable(async (connection) => {
        const rows = await decide<RefreshableSession & { hash: string }>(
          connection,
          SQL.refreshableSessions,
          [hashes.map(toBuffer)],
          hashes.length,
        )
        const byHash = new Map(rows.map((row) => [row.hash, row]))
        return hashes.map((hash) => byHash.get(toHex(hash)) ?? null)
      }),
    pool,
  )

  return {
    async liveSessions(ids, now) {
      const found = await live(ids)
      return found.map((row) => {
        if (!row || !isOpen(row, now)) return null
        const { id, email, userId, revision, stateVersion, client } = row
        return { id, email, userId, revision, stateVersion, client }
      })
    },
    async refreshableSessions(hashes, now) {
      const found = await refreshable(hashes)
      return found.map((row) =>
        row && isOpen(row, now)
          ? {
              id: row.id,
              email: row.email,
              lastUsedAt: row.lastUsedAt,
              idleExpiresAt: row.idleExpiresAt,
              expiresAt: row.expiresAt,
            }
          : null,
      )
    },
    sessionsOf: (email, now, limit) =>
      pool.repeatable(async (connection) => {
        const rows = await decide<SessionRow>(connection, SQL.sessionsOf, [email, now, limit], 1)
        return rows.map(toSession)
      }),
    addSessions: (sessions, maxPerUser) =>
      pool.write(async (connection) => {
        if (sessions.length === 0) return []
        const now = Math.max(...sessions.map(({ createdAt }) => createdAt))
        const counts = await connection.query<{ email: string; count: number }>(SQL.addSessions, [
          ...sessionColumns(sessions),
          now,
          maxPerUser !== undefined,
        ])
        if (maxPerUser === undefined) return []
        // Concurrent calls do not see each other's uncommitted sessions. A call that comes near the limit looks again
        // after its own sessions are committed, so the last call to look sees all of them.
        const full = counts.filter(({ count }) => count > maxPerUser * NEARLY_FULL).map(({ email }) => email)
        const asked = [full, now, maxPerUser]
        return full.length === 0 ? [] : connection.query<OwnedSession & object>(SQL.endIdlestSessions, asked)
      }),
    extendSessions: (extensions) =>
      pool.repeatableWrite(async (connection) => {
        const values = columns(extensions, ['id', 'idleExpiresAt', 'lastUsedAt'])
        const rows = await connection.query<{ id: string }>(SQL.extendSessions, values)
        const extended = new Set(rows.map(({ id }) => id))
        return extensions.map(({ id }) => extended.has(id))
      }),
    revokeSessions: (hashes, now) =>
      pool.write(async (connection) => {
        const rows = await connection.query<OwnedSession & { hash: string }>(SQL.revokeSessions, [
          hashes.map(toBuffer),
          now,
        ])
        const ended = new Map(rows.map(({ hash, id, email }) => [hash, { id, email }]))
        return hashes.map((hash) => {
          const found = ended.get(toHex(hash)) ?? null
          // The same token may occur twice in the batch: only the first occurrence ends the session.
          ended.delete(toHex(hash))
          return found
        })
      }),
    revokeSessionsById: (asked, now) =>
      pool.write(async (connection) => {
        const values = [...columns(asked, ['id', 'email']), now]
        const rows = await connection.query<OwnedSession & object>(SQL.revokeSessionsById, values)
        const owners = new Map(rows.map(({ id, email }) => [id, email]))
        return asked.map(({ id, email }) => owners.get(id) === email && owners.delete(id))
      }),
    revokeSessionsOf: (email, now) =>
      pool.write(
        async (connection) =>
          (await connection.query<{ count: number }>(SQL.revokeSessionsOf, [email, now]))[0]?.count ?? 0,
      ),
    dropExpiredSessions: (now) =>
      pool.repeatableWrite(async (connection) => {
        const dropped = await connection.query(SQL.dropExpiredSessions, [now, EXPIRED_SESSIONS_PER_CALL])
        return dropped.length < EXPIRED_SESSIONS_PER_CALL
      }),
    sessionsAfter: (id, limit) =>
      pool.repeatable(async (connection) =>
        (await connection.query<SessionRow>(SQL.sessionsAfter, [id, limit])).map(toSession),
      ),
  }
}

export function sessionColumns(sessions: readonly NewSession[]): readonly unknown[] {
  const rows = sessions.map((session) => ({ ...session, refreshHash: toBuffer(session.refreshHash) }))
  const times = ['createdAt', 'lastUsedAt', 'idleExpiresAt', 'expiresAt'] as const
  return columns(rows, ['id', 'email', 'refreshHash', ...times, 'userAgent', 'network', 'client'])
}

function isOpen({ idleExpiresAt, expiresAt }: Expiring, now: number): boolean {
  return idleExpiresAt > now && expiresAt > now
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)]
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function toHex(bytes: Uint8Array): string {
  return toBuffer(bytes).toString('hex')
}
