// Sessions and signing keys in SQLite.
import type { Database } from 'better-sqlite3'
import {
  EXPIRED_SESSIONS_PER_CALL,
  type LiveSession,
  type NewSession,
  type RefreshableSession,
  type SessionVerbs,
  type StoredSigningKey,
} from '../contract.ts'
import { cacheUntilCommit } from './engine/data-version-cache.ts'
import type { GroupCommit } from './engine/group-commit.ts'
import type { ReadTransaction } from './engine/read-transaction.ts'

/** Expired sessions removed by the way, for each one added. */
const PURGED_PER_SESSION = 10

export function createSessions(
  reader: Database,
  turn: ReadTransaction,
  writer: Database,
  commits: GroupCommit,
): SessionVerbs {
  const session = reader.prepare<[string], LiveSession & { readonly endsAt: number }>(
    `select id, email, min(idle_expires_at, expires_at) as endsAt,
       (select id from user u where u.email = s.email) as userId,
       coalesce((select revision from user u where u.email = s.email), 0) as revision,
       coalesce((select stamp from user u where u.email = s.email), '') as stateVersion
     from session s where id = ?`,
  )
  const sessionsById = cacheUntilCommit(reader, writer, turn.assertActive, (id) => {
    const found = session.get(id)
    if (!found) return undefined
    const { endsAt, ...live } = found
    return { live, endsAt }
  })
  commits.onWrite(sessionsById.forget)
  const refreshable = reader.prepare<[Uint8Array, number, number], RefreshableSession>(
    `select id, email, idle_expires_at as idleExpiresAt, expires_at as expiresAt
     from session where refresh_hash = ? and idle_expires_at > ? and expires_at > ?`,
  )
  const keys = reader.prepare<[], StoredSigningKey>(
    'select kid, private_jwk as privateJwk, created_at as createdAt from signing_key order by created_at desc, kid',
  )
  const add = writer.prepare<[string, string, Uint8Array, number, number, number]>(
    `insert into session (id, email, refresh_hash, created_at, idle_expires_at, expires_at) values (?, ?, ?, ?, ?, ?)`,
  )
  const purge = writer.prepare<[now: number, limit: number]>(
    `delete from session where id in
       (select id from session where idle_expires_at <= ? order by idle_expires_at limit ?)`,
  )
  const extend = writer.prepare<[number, string]>(
    'update session set idle_expires_at = max(idle_expires_at, ?) where id = ?',
  )
  const revoke = writer.prepare<[Uint8Array, number, number]>(
    'delete from session where refresh_hash = ? and idle_expires_at > ? and expires_at > ?',
  )
  const addFirstKey = writer.prepare<[string, string, number]>(
    `insert into signing_key (kid, private_jwk, created_at)
     select ?, ?, ? where not exists (select 1 from signing_key)`,
  )

  const sessionsAfter = reader.prepare<[string, number], NewSession>(
    `select id, email, refresh_hash as refreshHash, created_at as createdAt, idle_expires_at as idleExpiresAt,
       expires_at as expiresAt from session where id > ? order by id limit ?`,
  )

  return {
    liveSessions(ids, now) {
      turn.refresh()
      return turn.read(() => sessionsById.read(ids, (found) => (found && found.endsAt > now ? found.live : null)))
    },
    refreshableSessions(hashes, now) {
      return turn.decide(() => hashes.map((hash) => refreshable.get(hash, now, now) ?? null))
    },
    signingKeys() {
      return turn.decide(() => keys.all())
    },
    // Expired ones that go by the way are refused for their time, remembered or not.
    addSessions: (sessions: readonly NewSession[]) =>
      commits.add(() => {
        let mayHaveExpired = true
        for (const session of sessions) {
          if (mayHaveExpired)
            mayHaveExpired = purge.run(session.createdAt, PURGED_PER_SESSION).changes === PURGED_PER_SESSION
          add.run(
            session.id,
            session.email,
            session.refreshHash,
            session.createdAt,
            session.idleExpiresAt,
            session.expiresAt,
          )
        }
      }),
    extendSessions: (extensions) =>
      commits.write(() => extensions.map(({ id, idleExpiresAt }) => extend.run(idleExpiresAt, id).changes > 0)),
    revokeSessions: (hashes, now) => commits.write(() => hashes.map((hash) => revoke.run(hash, now, now).changes > 0)),
    dropExpiredSessions: (now) =>
      commits.add(() => purge.run(now, EXPIRED_SESSIONS_PER_CALL).changes < EXPIRED_SESSIONS_PER_CALL),
    addFirstSigningKey: (key) =>
      commits.write(() => {
        addFirstKey.run(key.kid, key.privateJwk, key.createdAt)
      }),
    sessionsAfter(id, limit) {
      turn.refresh()
      return turn.read(() => sessionsAfter.all(id, limit))
    },
  }
}
