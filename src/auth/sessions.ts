// Sessions: what a login opens and keeps of its client, what an access token names, when idle ones end, what a logout ends.
import { GatewayError } from '../errors.ts'
import { batchPerTurn } from '../store/batch-per-turn.ts'
import { type Store, StoreReadOnlyError } from '../store/contract.ts'
import type { LiveSession, NewSession, OwnedSession, RefreshableSession } from '../store/session-contract.ts'
import type { Audit } from './audit/audit-event.ts'
import type { Caller } from './caller.ts'
import { coarseNetworkOf } from './coarse-network.ts'
import { createRecentSessions } from './recent-sessions.ts'
import { createTimeOrderedIds } from './time-ordered-ids.ts'
import type { AccessTokens } from './tokens/access-token.ts'
import { createRefreshToken, readRefreshToken } from './tokens/refresh-token.ts'

/**
 * The idle expiry and the time of the last use are moved only once this part of the idle lifetime has passed since they were
 * last moved, so that most refreshes write nothing. A session may thus end this much early, never late.
 */
const IDLE_PRECISION = 1 / 100
/** Of a `User-Agent`, which may be as long as all headers together, in UTF-16 code units. */
const MAX_USER_AGENT_LENGTH = 200
/** Sessions that a user is shown at most, the newest. */
const MAX_LISTED = 1_000

export interface SessionOptions {
  readonly refreshIdleTtlSeconds: number
  readonly refreshAbsoluteTtlSeconds: number
  /** Open sessions of one user; one more ends the one that was used longest ago. */
  readonly sessionsPerUser: number
  /** For this long a session may be used without being looked up again; null to look up for every request. */
  readonly sessionCheckMs: number | null
  readonly audit: Audit
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** What is kept running besides the requests: disposed of before the store. */
  readonly running: AsyncDisposableStack
}

export interface TokenPair {
  readonly accessToken: string
  readonly refreshToken: string
}

/** A session as its user sees it; times in milliseconds since the epoch. */
export type OpenSession = Omit<NewSession, 'refreshHash'>

export interface Sessions {
  /** Opens a session for a canonical email, of a registered client where one is named; durable when it answers. */
  readonly open: (email: string, caller: Caller, client?: string) => Promise<TokenPair>
  /** A new access token. Throws `INVALID_TOKEN`. Any number may run at once. */
  readonly refresh: (refreshToken: string) => Promise<{ readonly accessToken: string }>
  /** Ends the session; durable when it answers. Throws `INVALID_TOKEN`. */
  readonly close: (refreshToken: string) => Promise<void>
  /** The session an access token names, as it is now. Throws `INVALID_TOKEN`. */
  readonly viewer: (accessToken: string) => Promise<LiveSession>
  /** The open sessions of an email, newest first, a thousand at most. */
  readonly listOf: (email: string) => Promise<readonly OpenSession[]>
  /** Ends a session of this email; false when there is none of that id, or it has ended. Durable when it answers. */
  readonly revoke: (session: OwnedSession) => Promise<boolean>
  /** Ends all sessions of an email; answers how many were open. Durable when it answers. */
  readonly revokeAllOf: (email: string) => Promise<number>
}

export function createSessions(store: Store, tokens: AccessTokens, options: SessionOptions): Sessions {
  const { clock, sessionsPerUser, sessionCheckMs, audit, running } = options
  const nextId = createTimeOrderedIds()
  const idleTtlMs = options.refreshIdleTtlSeconds * 1_000
  const absoluteTtlMs = options.refreshAbsoluteTtlSeconds * 1_000
  const load = (ids: readonly string[]) => store.liveSessions(ids, clock())
  const recent =
    sessionCheckMs === null ? null : createRecentSessions(load, { maxAgeMs: sessionCheckMs, clock, running })
  const liveSession = recent?.find ?? batchPerTurn<string, LiveSession | null>(load, setImmediate)
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
      // The session is as good as it was: it only idles on.
      if (error instanceof StoreReadOnlyError) return true
      throw error
    }
  }

  function recordRevoked(email: string, count: number): void {
    audit.record({ kind: 'sessionsRevoked', result: 'done', email, detail: `${count} ended` })
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
      if (!session || !(await keepFromIdling(session))) throw new GatewayError('INVALID_TOKEN')
      return { accessToken: await tokens.issue({ sessionId: session.id, email: session.email }) }
    },

    async close(refreshToken) {
      const hash = readRefreshToken(refreshToken)
      const [ended] = hash ? await store.revokeSessions([hash], clock()) : [null]
      if (!ended) throw new GatewayError('INVALID_TOKEN')
      recent?.forget([ended])
      audit.record({ kind: 'logout', result: 'done', email: ended.email })
    },

    async viewer(accessToken) {
      const verified = tokens.verify(accessToken)
      // Nothing to wait for with a token that is known.
      const claims = verified instanceof Promise ? await verified : verified
      const session = claims && (await liveSession(claims.sessionId))
      if (!session || session.email !== claims.email) throw new GatewayError('INVALID_TOKEN')
      return session
    },

    listOf: async (email) => store.sessionsOf(email, clock(), MAX_LISTED),
    async revoke(session) {
      const [ended] = await store.revokeSessionsById([session], clock())
      if (ended !== true) return false
      recent?.forget([session])
      recordRevoked(session.email, 1)
      return true
    },
    async revokeAllOf(email) {
      const count = await store.revokeSessionsOf(email, clock())
      recent?.forgetAllOf(email)
      recordRevoked(email, count)
      return count
    },
  }
}

/** As it is shown to its user and in a terminal: without control characters. */
function userAgentOf(caller: Caller): string {
  const start = (caller.header('user-agent') ?? '').slice(0, MAX_USER_AGENT_LENGTH)
  // Node reads headers as Latin-1.
  return start.replace(/[^\x20-\x7e\xa0-\xff]/g, '')
}
