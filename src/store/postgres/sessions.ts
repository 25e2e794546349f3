// Sessions and signing keys in PostgreSQL.
import {
  EXPIRED_SESSIONS_PER_CALL,
  type LiveSession,
  type NewSession,
  type RefreshableSession,
  type SessionVerbs,
  type StoredSigningKey,
} from '../contract.ts'
import type { Connection, Statement } from './connection.ts'
import { assertActive } from './engine/pg-errors.ts'
import type { Pool } from './engine/pool.ts'
import { coalesce } from './engine/statement-batcher.ts'

/** Expired sessions removed by the way, for each one added. */
const PURGED_PER_SESSION = 10

interface Expiring {
  readonly idleExpiresAt: number
  readonly expiresAt: number
}

const EXPIRY = 'idle_expires_at as "idleExpiresAt", expires_at as "expiresAt"'

/** A whole session. */
export const SESSION = `id, email, encode(refresh_hash, 'hex') as "refreshHash", created_at as "createdAt", ${EXPIRY}`
export type SessionRow = Omit<NewSession, 'refreshHash'> & { readonly refreshHash: string }

export function toSession(row: SessionRow): NewSession {
  return { ...row, refreshHash: Buffer.from(row.refreshHash, 'hex') }
}

/** Once for all rows: whether another database has taken over. */
const HAS_MOVED = `(select phase = 'moved' from workspace_gateway.move) as "isRetired"`

const LIVE: Statement = {
  name: 'liveSessions',
  text: `select s.id, s.email, u.id as "userId", coalesce(u.revision, 0) as revision,
      coalesce(u.stamp, '') as "stateVersion", ${EXPIRY}, ${HAS_MOVED}
    from workspace_gateway.session s left join workspace_gateway.user u on u.email = s.email where s.id = any($1::text[])`,
}
const REFRESHABLE: Statement = {
  name: 'refreshableSessions',
  text: `select encode(refresh_hash, 'hex') as hash, id, email, ${EXPIRY}, ${HAS_MOVED}
    from workspace_gateway.session where refresh_hash = any($1::bytea[])`,
}
const KEYS: Statement = {
  name: 'signingKeys',
  text: `select kid, private_jwk as "privateJwk", created_at as "createdAt", ${HAS_MOVED}
    from workspace_gateway.signing_key order by created_at desc, kid`,
}
const WHETHER_MOVED: Statement = { name: 'whetherMoved', text: `select ${HAS_MOVED}` }
// Whoever else is removing the same rows is let alone.
const ADD: Statement = {
  name: 'addSessions',
  text: `with expired as (
      select id from workspace_gateway.session where idle_expires_at <= $7
      order by idle_expires_at limit $8 for update skip locked
    ), purged as (delete from workspace_gateway.session where id in (select id from expired))
    insert into workspace_gateway.session (id, email, refresh_hash, created_at, idle_expires_at, expires_at)
    select * from unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[])`,
}
const EXTEND: Statement = {
  name: 'extendSessions',
  text: `update workspace_gateway.session s set idle_expires_at = greatest(s.idle_expires_at, asked.idle_expires_at)
    from (select id, max(idle_expires_at) as idle_expires_at from unnest($1::text[], $2::bigint[]) as a (id, idle_expires_at)
      group by id) asked
    where s.id = asked.id returning s.id`,
}
const REVOKE: Statement = {
  name: 'revokeSessions',
  text: `delete from workspace_gateway.session
    where refresh_hash = any($1::bytea[]) and idle_expires_at > $2 and expires_at > $2
    returning encode(refresh_hash, 'hex') as hash`,
}
const DROP_EXPIRED: Statement = {
  name: 'dropExpiredSessions',
  text: `with expired as (
      select id from workspace_gateway.session where idle_expires_at <= $1
      order by idle_expires_at limit $2 for update skip locked
    ) delete from workspace_gateway.session where id in (select id from expired) returning id`,
}
// One at a time: of two that see none, both would add one.
const LOCK_KEYS: Statement = {
  name: 'lockSigningKeys',
  text: 'lock table workspace_gateway.signing_key in share row exclusive mode',
}
const ADD_FIRST_KEY: Statement = {
  name: 'addFirstSigningKey',
  text: `insert into workspace_gateway.signing_key (kid, private_jwk, created_at)
    select $1, $2, $3::bigint where not exists (select 1 from workspace_gateway.signing_key)`,
}

const SESSIONS_AFTER: Statement = {
  name: 'sessionsAfter',
  text: `select ${SESSION} from workspace_gateway.session where id > $1 order by id limit $2`,
}

/**
 * Throws once another database has taken over: every row says so, and where one is missing it is asked. (A join would
 * answer both at once, and cost every lookup three times as much more.)
 */
async function decide<R extends object>(
  connection: Connection,
  statement: Statement,
  values: readonly unknown[],
  expected: number,
): Promise<readonly R[]> {
  const rows = await connection.query<R & { readonly isRetired: string }>(statement, values)
  assertActive(rows[0]?.isRetired)
  if (rows.length < expected) assertActive((await connection.query(WHETHER_MOVED))[0]?.isRetired)
  return rows
}

export function createSessions(pool: Pool): SessionVerbs {
  const live = coalesce((ids: readonly string[]) =>
    pool.repeatable(async (connection) => {
      const asked = distinct(ids)
      const rows = await decide<LiveSession & Expiring>(connection, LIVE, [asked], asked.length)
      const byId = new Map(rows.map((row) => [row.id, row]))
      return ids.map((id) => byId.get(id) ?? null)
    }),
  )
  const refreshable = coalesce((hashes: readonly Uint8Array[]) =>
    pool.repeatable(async (connection) => {
      const rows = await decide<RefreshableSession & { hash: string }>(
        connection,
        REFRESHABLE,
        [hashes.map(toBuffer)],
        hashes.length,
      )
      const byHash = new Map(rows.map((row) => [row.hash, row]))
      return hashes.map((hash) => byHash.get(toHex(hash)) ?? null)
    }),
  )

  return {
    async liveSessions(ids, now) {
      const found = await live(ids)
      return found.map((row) => {
        if (!row || !isOpen(row, now)) return null
        const { id, email, userId, revision, stateVersion } = row
        return { id, email, userId, revision, stateVersion }
      })
    },
    async refreshableSessions(hashes, now) {
      const found = await refreshable(hashes)
      return found.map((row) =>
        row && isOpen(row, now)
          ? { id: row.id, email: row.email, idleExpiresAt: row.idleExpiresAt, expiresAt: row.expiresAt }
          : null,
      )
    },
    signingKeys: () =>
      pool.repeatable(async (connection) => {
        const rows = await decide<StoredSigningKey>(connection, KEYS, [], 1)
        return rows.map(({ kid, privateJwk, createdAt }) => ({ kid, privateJwk, createdAt }))
      }),
    addSessions: (sessions) =>
      pool.once(async (connection) => {
        if (sessions.length === 0) return
        await connection.query(ADD, [
          ...sessionColumns(sessions),
          Math.max(...sessions.map(({ createdAt }) => createdAt)),
          sessions.length * PURGED_PER_SESSION,
        ])
      }),
    extendSessions: (extensions) =>
      pool.repeatable(async (connection) => {
        const rows = await connection.query<{ id: string }>(EXTEND, [
          extensions.map(({ id }) => id),
          extensions.map(({ idleExpiresAt }) => idleExpiresAt),
        ])
        const extended = new Set(rows.map(({ id }) => id))
        return extensions.map(({ id }) => extended.has(id))
      }),
    revokeSessions: (hashes, now) =>
      pool.once(async (connection) => {
        const rows = await connection.query<{ hash: string }>(REVOKE, [hashes.map(toBuffer), now])
        const ended = new Set(rows.map(({ hash }) => hash))
        // The second question for one token finds it ended.
        return hashes.map((hash) => ended.delete(toHex(hash)))
      }),
    dropExpiredSessions: (now) =>
      pool.repeatable(async (connection) => {
        const dropped = await connection.query(DROP_EXPIRED, [now, EXPIRED_SESSIONS_PER_CALL])
        return dropped.length < EXPIRED_SESSIONS_PER_CALL
      }),
    addFirstSigningKey: (key) =>
      pool.transaction(async (connection) => {
        await connection.query(LOCK_KEYS)
        await connection.query(ADD_FIRST_KEY, [key.kid, key.privateJwk, key.createdAt])
      }),
    sessionsAfter: (id, limit) =>
      pool.repeatable(async (connection) =>
        (await connection.query<SessionRow>(SESSIONS_AFTER, [id, limit])).map(toSession),
      ),
  }
}

export function sessionColumns(sessions: readonly NewSession[]): readonly unknown[] {
  return [
    sessions.map(({ id }) => id),
    sessions.map(({ email }) => email),
    sessions.map(({ refreshHash }) => toBuffer(refreshHash)),
    sessions.map(({ createdAt }) => createdAt),
    sessions.map(({ idleExpiresAt }) => idleExpiresAt),
    sessions.map(({ expiresAt }) => expiresAt),
  ]
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
