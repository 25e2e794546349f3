// Stores sessions in SQLite.
import type { Database } from 'better-sqlite3'
import {
  CLOCKS_DIFFER_MS,
  EXPIRED_SESSIONS_PER_CALL,
  type LiveSession,
  type NewSession,
  type OwnedSession,
  type RefreshableSession,
  type SessionVerbs,
} from '../../session-contract.ts'
import { cacheUntilCommit } from '../engine/data-version-cache.ts'
import type { GroupCommit } from '../engine/group-commit.ts'
import type { ReadTransaction } from '../engine/read-transaction.ts'

/** All columns of a session, named like the fields of `NewSession`. */
export const SESSION = `id, email, refresh_hash as refreshHash, created_at as createdAt, last_used_at as lastUsedAt,
  idle_expires_at as idleExpiresAt, expires_at as expiresAt, user_agent as userAgent, network, client`

export const SESSION_VALUES = `(id, email, refresh_hash, created_at, last_used_at, idle_expires_at, expires_at, user_agent,
  network, client) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

export type SessionValues = [string, string, Uint8Array, number, number, number, number, string, string, string]

export function sessionValues(session: NewSession): SessionValues {
  const { id, email, refreshHash, createdAt, lastUsedAt, idleExpiresAt, expiresAt, userAgent, network, client } =
    session
  return [id, email, refreshHash, createdAt, lastUsedAt, idleExpiresAt, expiresAt, userAgent, network, client]
}

export function createSessions(
  reader: Database,
  turn: ReadTransaction,
  writer: Database,
  commits: GroupCommit,
): SessionVerbs {
  const session = reader.prepare<[string], LiveSession & { readonly endsAt: number }>(
    `select id, email, client, min(idle_expires_at, expires_at) as endsAt,
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
  commits.onWrite(sessionsById.clear)
  const refreshable = reader.prepare<[Uint8Array, number, number], RefreshableSession>(
    `select id, email, last_used_at as lastUsedAt, idle_expires_at as idleExpiresAt, expires_at as expiresAt
     from session where refresh_hash = ? and idle_expires_at > ? and expires_at > ?`,
  )
  const sessionsOf = reader.prepare<[string, number, number, number], NewSession>(
    `select ${SESSION} from session where email = +? and idle_expires_at > +? and expires_at > +?
     order by created_at desc, id desc limit +?`,
  )
  const add = writer.prepare<SessionValues>(`insert into session ${SESSION_VALUES} on conflict (id) do nothing`)
  const dropExpired = writer.prepare<[now: number, limit: number]>(
    `delete from session where id in
       (select id from session where idle_expires_at <= +? order by idle_expires_at limit +?)`,
  )
  const openCount = writer
    .prepare<[string, number], number>('select count(*) from session where email = ? and idle_expires_at > ?')
    .pluck()
  const endIdlest = writer.prepare<[string, number, number, number], OwnedSession>(
    `delete from session where id in
       (select id from session where email = +? and idle_expires_at > +?
        order by last_used_at <= +?, last_used_at, id limit +?)
     returning id, email`,
  )
  const extend = writer.prepare<[number, number, string]>(
    `update session set idle_expires_at = max(idle_expires_at, ?), last_used_at = max(last_used_at, ?) where id = ?`,
  )
  const revoke = writer.prepare<[Uint8Array, number, number], OwnedSession>(
    'delete from session where refresh_hash = ? and idle_expires_at > ? and expires_at > ? returning id, email',
  )
  const revokeById = writer.prepare<[string, string, number, number]>(
    'delete from session where id = ? and email = ? and idle_expires_at > ? and expires_at > ?',
  )
  const revokeOf = writer
    .prepare<[string, number, number], 0 | 1>(
      'delete from session where email = ? returning idle_expires_at > ? and expires_at > ?',
    )
    .pluck()

  const sessionsAfter = reader.prepare<[string, number], NewSession>(
    `select ${SESSION} from session where id > +? order by id limit +?`,
  )

  /**
   * Ends the least recently used sessions of a user who has too many. A login rarely finds any; counting reads only the
   * index. Sessions last used in the future go first: the clock was set back since, and otherwise every new session
   * would count as the least recently used.
   */
  function endBeyond(maxPerUser: number, { email, createdAt }: NewSession): readonly OwnedSession[] {
    const excess = (openCount.get(email, createdAt) ?? 0) - maxPerUser
    return excess > 0 ? endIdlest.all(email, createdAt, createdAt + CLOCKS_DIFFER_MS, excess) : []
  }

  return {
    liveSessions(ids, now) {
      return turn.readNow(() => sessionsById.read(ids, (found) => (found && found.endsAt > now ? found.live : null)))
    },
    refreshableSessions(hashes, now) {
      return turn.decide(() => hashes.map((hash) => refreshable.get(hash, now, now) ?? null))
    },
    sessionsOf(email, now, limit) {
      return turn.decide(() => sessionsOf.all(email, now, now, limit))
    },
    addSessions: (sessions, maxPerUser = Number.POSITIVE_INFINITY) =>
      commits.add(() => {
        const ended: OwnedSession[] = []
        for (const session of sessions) {
          add.run(...sessionValues(session))
          if (maxPerUser < Number.POSITIVE_INFINITY) ended.push(...endBeyond(maxPerUser, session))
        }
        sessionsById.evict(ended.map(({ id }) => id))
        return ended
      }),
    extendSessions: (extensions) =>
      commits.write(() =>
        extensions.map(({ id, lastUsedAt, idleExpiresAt }) => extend.run(idleExpiresAt, lastUsedAt, id).changes > 0),
      ),
    revokeSessions: (hashes, now) => commits.write(() => hashes.map((hash) => revoke.get(hash, now, now) ?? null)),
    revokeSessionsById: (asked, now) =>
      commits.write(() => asked.map(({ id, email }) => revokeById.run(id, email, now, now).changes > 0)),
    revokeSessionsOf: (email, now) =>
      commits.write(() => revokeOf.all(email, now, now).filter((wasOpen) => wasOpen === 1).length),
    // They may stay cached: `liveSessions` refuses an expired session whether it is cached or not.
    dropExpiredSessions: (now) =>
      commits.add(() => dropExpired.run(now, EXPIRED_SESSIONS_PER_CALL).changes < EXPIRED_SESSIONS_PER_CALL),
    sessionsAfter(id, limit) {
      return turn.readNow(() => sessionsAfter.all(id, limit))
    },
  }
}
