// Sessions: what a login opens, what an access token names, what a logout ends.
import { randomUUIDv7 } from 'node:crypto'
import { GatewayError } from '../errors.ts'
import { batchPerTurn } from '../store/batch-per-turn.ts'
import type { LiveSession, NewSession, RefreshableSession, Store } from '../store/contract.ts'
import type { AccessTokens } from './tokens/access-token.ts'
import { createRefreshToken, readRefreshToken } from './tokens/refresh-token.ts'

/**
 * The idle expiry is moved only once this part of the idle lifetime has passed since it was last moved, so that most
 * refreshes write nothing. A session may thus end this much early, never late.
 */
const IDLE_PRECISION = 1 / 100

export interface SessionOptions {
  readonly refreshIdleTtlSeconds: number
  readonly refreshAbsoluteTtlSeconds: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

export interface TokenPair {
  readonly accessToken: string
  readonly refreshToken: string
}

export interface Sessions {
  /** Opens a session for a canonical email; durable when it answers. */
  readonly open: (email: string) => Promise<TokenPair>
  /** A new access token. Throws `INVALID_TOKEN`. Any number may run at once. */
  readonly refresh: (refreshToken: string) => Promise<{ readonly accessToken: string }>
  /** Ends the session; durable when it answers. Throws `INVALID_TOKEN`. */
  readonly close: (refreshToken: string) => Promise<void>
  /** The session an access token names, as it is now. Throws `INVALID_TOKEN`. */
  readonly viewer: (accessToken: string) => Promise<LiveSession>
}

export function createSessions(store: Store, tokens: AccessTokens, options: SessionOptions): Sessions {
  const { clock } = options
  const idleTtlMs = options.refreshIdleTtlSeconds * 1_000
  const absoluteTtlMs = options.refreshAbsoluteTtlSeconds * 1_000
  const liveSession = batchPerTurn<string, LiveSession | null>((ids) => store.liveSessions(ids, clock()), setImmediate)
  const refreshable = batchPerTurn<Uint8Array, RefreshableSession | null>(
    (hashes) => store.refreshableSessions(hashes, clock()),
    setImmediate,
  )
  const add = batchPerTurn<NewSession, NewSession>(async (added) => {
    await store.addSessions(added)
    return added
  }, setImmediate)

  async function keepFromIdling(session: RefreshableSession): Promise<boolean> {
    const idleExpiresAt = Math.min(clock() + idleTtlMs, session.expiresAt)
    if (idleExpiresAt - session.idleExpiresAt < idleTtlMs * IDLE_PRECISION) return true
    const [extended] = await store.extendSessions([{ id: session.id, idleExpiresAt }])
    return extended === true
  }

  return {
    async open(email) {
      const now = clock()
      // In order of time: sessions that are opened together lie together in the database.
      const id = randomUUIDv7()
      const refresh = createRefreshToken(now)
      const expiresAt = now + absoluteTtlMs
      const idleExpiresAt = Math.min(now + idleTtlMs, expiresAt)
      const adding = add({ id, email, refreshHash: refresh.hash, createdAt: now, idleExpiresAt, expiresAt })
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
      const [ended] = hash ? await store.revokeSessions([hash], clock()) : [false]
      if (!ended) throw new GatewayError('INVALID_TOKEN')
    },

    async viewer(accessToken) {
      const verified = tokens.verify(accessToken)
      // Nothing to wait for with a token that is known.
      const claims = verified instanceof Promise ? await verified : verified
      const session = claims && (await liveSession(claims.sessionId))
      if (!session || session.email !== claims.email) throw new GatewayError('INVALID_TOKEN')
      return session
    },
  }
}
