// Sessions: opens, refreshes, lists and ends them, and finds the session that an access token names.
import { batchPerTurn, type Schedule } from '../store/batch-per-turn.ts'
import { type Store, StoreReadOnlyError, StoreUnavailableError } from '../store/contract.ts'
import type { LiveSession, NewSession, OwnedSession, RefreshableSession } from '../store/session-contract.ts'
import type { Audit } from './audit/audit-event.ts'
import type { Caller } from './caller.ts'
import { coarseNetworkOf } from './coarse-network.ts'
import { createRecentSessions } from './recent-sessions.ts'
import { createTimeOrderedIds } from './time-ordered-ids.ts'
import type { AccessTokens } from './tokens/access-token.ts'
import { createRefreshToken, readRefreshToken } from './tokens/refresh-token.ts'
import { refusedAccessToken, refusedRefreshToken } from './tokens/refused-token.ts'

/**
 * A refresh updates the idle expiry and the time of last use only once this fraction of the idle lifetime has passed
 * since the last update, so that most refreshes write nothing. A session may therefore end this much early, but never
 * late.
 */
const IDLE_PRECISION = 1 / 100
/** Stored length of a `User-Agent` in UTF-16 units. The header itself may be as long as all headers together. */
const MAX_USER_AGENT_LENGTH = 200
/** Maximum number of sessions in a list: the newest ones. */
const MAX_LISTED = 1_000

export interface SessionOptions {
  readonly refreshIdleTtlSeconds: number
  readonly refreshAbsoluteTtlSeconds: number
  /** Maximum number of open sessions per user. One more ends the least recently used one. */
  readonly sessionsPerUser: number
  /** Milliseconds that a session may be used without another lookup; null to look it up for every request. */
  readonly sessionCheckMs: number | null
  /** Says when the sessions of access tokens are looked up, unless `sessionCheckMs` bounds their age. */
  readonly scheduleLookups: Schedule
  readonly audit: Audit
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Background work besides requests, disposed of before the store. */
  readonly running: AsyncDisposableStack
}

export interface TokenPair {
  /** A JWT, valid for `accessTokenTtlSeconds`, and not longer than its session is open. */
  readonly accessToken: string
  /** Opaque. Valid until the session ends: by a logout, `refreshIdleTtlSeconds` unused, or `refreshAbsoluteTtlSeconds`. */
  readonly refreshToken: string
}

/** A session as its user sees it; times in milliseconds since the epoch. */
export type OpenSession = Omit<NewSession, 'refreshHash'>

export interface Sessions {
  /**
   * Opens a session for a canonical email, on behalf of a registered client if one is named. Durable when it resolves.
   */
  readonly open: (email: string, caller: Caller, client?: string) => Promise<TokenPair>
  /** Issues a new access token. Throws `INVALID_TOKEN`. Concurrent calls with the same token all succeed. */
  readonly refresh: (refreshToken: string) => Promise<{ readonly accessToken: string }>
  /** Ends the session of a refresh token. Durable when it resolves. Throws `INVALID_TOKEN`. */
  readonly close: (refreshToken: string, caller: Caller) => Promise<void>
  /** The session that an access token names, at most `sessionCheckMs` old. Throws `INVALID_TOKEN`. */
  readonly viewer: (accessToken: string) => Promise<LiveSession>
  /** The open sessions of an email, newest first, at most a thousand. */
  readonly listOf: (email: string) => Promise<readonly OpenSession[]>
  /** Ends a session of this email by id; false if there is none, or it has ended already. Durable when it resolves. */
  readonly revoke: (session: OwnedSession, caller: Caller) => Promise<boolean>
  /** Ends all sessions of an email and returns how many were open. Durable when it resolves. */
  readonly revokeAllOf: (email: string, caller: Caller) => Promise<number>
}

export function createSessions(store: Store, tokens: AccessTokens, options: SessionOptions): Sessions {
  const { clock, sessionsPerUser, sessionCheckMs, scheduleLookups, audit, running } = options
  const nextId = createTimeOrderedIds()
  const idleTtlMs = options.refreshIdleTtlSeconds * 1_000
  const absoluteTtlMs = options.refreshAbsoluteTtlSeconds * 1_000
  const load = (ids: readonly string[]) => store.liveSessions(ids, clock())
  const recent =
    sessionCheckMs === null ? null : createRecentSessions(load, { maxAgeMs: sessionCheckMs, clock, running })
  const liveSession = recent?.find ?? batchPerTurn<string, LiveSession | null>(load, scheduleLookups)
  const refreshable = batchPerTurn<Uint8Array, RefreshableSession | null>(
    (hashes) => store.refreshableSessions(hashes, clock()),
    setImmediate,
  )
  const add = batchPerTurn<NewSession, NewSession>(async (added) => {
    const ended = await store.addSessions(added, sessionsPerUser)
    recent?.forget(ended)
    for (const [email, { length }] of Map.groupBy(ended, (session) => session.email)) {
      audit.record({ kind: 'sessionsCapped', result: 'done', email, detail: `${length} ended` })
    }
    return added
  }, setImmediate)

  async function keepFromIdling(session: RefreshableSession): Promise<boolean> {
    const now = clock()
    const idleExpiresAt = Math.min(now + idleTtlMs, session.expiresAt)
    const precisionMs = idleTtlMs * IDLE_PRECISION
    const isRecent = now - session.lastUsedAt < precisionMs
    if (isRecent && idleExpiresAt - session.idleExpiresAt < precisionMs) return true
    try {
      const [extended] = await store.extendSessions([{ id: session.id, lastUsedAt: now, idleExpiresAt }])
      return extended === true
    } catch (error) {
      // While nothing can be written, the session stays valid, so that reads go on; only its idle time is not reset.
      if (error instanceof StoreReadOnlyError || error instanceof StoreUnavailableError) return true
      throw error
    }
  }

  function recordRevoked(email: string, count: number, { client: { address } }: Caller): void {
    audit.record({ kind: 'sessionsRevoked', result: 'done', email, address, detail: `${count} ended` })
  }

  return {
    async open(email, caller, client = '') {
      const now = clock()
      const id = nextId(now)
      const refresh = createRefreshToken(now)
      const expiresAt = now + absoluteTtlMs
      const adding = add({
        id,
        email,
        refreshHash: refresh.hash,
        createdAt: now,
        lastUsedAt: now,
        idleExpiresAt: Math.min(now + idleTtlMs, expiresAt),
        expiresAt,
        userAgent: userAgentOf(caller),
        network: coarseNetworkOf(caller.client.address),
        client,
      })
      const [accessToken] = await Promise.all([tokens.issue({ sessionId: id, email }), adding])
      return { accessToken, refreshToken: refresh.token }
    },

    async refresh(refreshToken) {
      const hash = readRefreshToken(refreshToken)
      const session = hash && (await refreshable(hash))
      if (!session || !(await keepFromIdling(session))) throw refusedRefreshToken(refreshToken)
      return { accessToken: await tokens.issue({ sessionId: session.id, email: session.email }) }
    },

    async close(refreshToken, { client: { address } }) {
      const hash = readRefreshToken(refreshToken)
      const [ended] = hash ? await store.revokeSessions([hash], clock()) : [null]
      if (!ended) throw refusedRefreshToken(refreshToken)
      recent?.forget([ended])
      audit.record({ kind: 'logout', result: 'done', email: ended.email, address })
    },

    async viewer(accessToken) {
      const verified = tokens.verify(accessToken)
      // Skips the microtask for a cached token.
      const claims = verified instanceof Promise ? await verified : verified
      const session = claims && (await liveSession(claims.sessionId))
      if (!session || session.email !== claims.email) throw refusedAccessToken(accessToken)
      return session
    },

    listOf: async (email) => store.sessionsOf(email, clock(), MAX_LISTED),
    async revoke(session, caller) {
      const [ended] = await store.revokeSessionsById([session], clock())
      if (ended !== true) return false
      recent?.forget([session])
      recordRevoked(session.email, 1, caller)
      return true
    },
    async revokeAllOf(email, caller) {
      const count = await store.revokeSessionsOf(email, clock())
      recent?.forgetAllOf(email)
      recordRevoked(email, count, caller)
      return count
    },
  }
}

/** The `User-Agent` without control characters, because it is shown to the user and in terminals. */
function userAgentOf(caller: Caller): string {
  const start = (caller.header('user-agent') ?? '').slice(0, MAX_USER_AGENT_LENGTH)
  // Node decodes headers as Latin-1.
  return start.replace(/[^\x20-\x7e\xa0-\xff]/g, '')
}
