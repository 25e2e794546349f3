// The part of the store contract that covers sessions.
import type { Awaitable } from './awaitable.ts'

export interface NewSession {
  readonly id: string
  readonly email: string
  /** Lookup key of the refresh token: the six bytes of time that the token begins with, then a SHA-256 hash. */
  readonly refreshHash: Uint8Array
  /** Milliseconds since the epoch, like every time in this contract. */
  readonly createdAt: number
  /** Coarse: it changes only together with the idle expiry. */
  readonly lastUsedAt: number
  readonly idleExpiresAt: number
  readonly expiresAt: number
  /** The beginning of the login request's `User-Agent`; empty without one. */
  readonly userAgent: string
  /** The /24 or /64 network that the login came from; empty if the client's address is not known. */
  readonly network: string
  /** The registered client that signed the user in; empty without one. */
  readonly client: string
}

/** An open session, with the revision of its user's workspace from the same read. */
export interface LiveSession {
  readonly id: string
  readonly email: string
  /** Null while no workspace is stored for the email. */
  readonly userId: number | null
  /** Grows with every change to the user's workspace; 0 without a workspace. */
  readonly revision: number
  /**
   * A random token that every change replaces, so that it identifies one state for good. A revision does not: after a
   * restore of an older copy, or a failover to a standby that lacks the last commits, the same revision can name other
   * contents. Empty without a workspace.
   */
  readonly stateVersion: string
  /** The registered client that opened the session; empty without one. */
  readonly client: string
}

/** The session a refresh token belongs to. */
export interface RefreshableSession {
  readonly id: string
  readonly email: string
  readonly lastUsedAt: number
  readonly idleExpiresAt: number
  readonly expiresAt: number
}

/** A session and the email it belongs to. */
export interface OwnedSession {
  readonly id: string
  readonly email: string
}

export interface SessionExtension {
  readonly id: string
  readonly lastUsedAt: number
  readonly idleExpiresAt: number
}

/**
 * Maximum difference between the clocks of gateways, in milliseconds. A time further in the future than this was
 * written before a clock was set back.
 */
export const CLOCKS_DIFFER_MS = 60_000

/** Maximum number of rows that one call of `dropExpiredSessions` removes, so that it holds its locks only briefly. */
export const EXPIRED_SESSIONS_PER_CALL = 500

export interface SessionVerbs {
  /** The session with each id, in the order given; null for one that is unknown, revoked or expired at `now`. */
  readonly liveSessions: (ids: readonly string[], now: number) => Awaitable<readonly (LiveSession | null)[]>
  /** The session of each refresh token, by its hash; null for one that is unknown, revoked or expired at `now`. */
  readonly refreshableSessions: (
    refreshHashes: readonly Uint8Array[],
    now: number,
  ) => Awaitable<readonly (RefreshableSession | null)[]>
  /** The sessions of an email that are open at `now`, newest first, at most `limit`. */
  readonly sessionsOf: (email: string, now: number, limit: number) => Awaitable<readonly NewSession[]>

  /**
   * Adds all sessions or, when it throws, none. If a user would then have more than `maxPerUser` open sessions, the
   * least recently used ones end; the method returns those. Without `maxPerUser` there is no limit. A session whose id
   * is stored already stays as it is.
   */
  readonly addSessions: (sessions: readonly NewSession[], maxPerUser?: number) => Awaitable<readonly OwnedSession[]>
  /**
   * Moves the idle expiry and the last use forward, never back. False for a session that no longer exists. Idempotent.
   */
  readonly extendSessions: (extensions: readonly SessionExtension[]) => Awaitable<readonly boolean[]>
  /**
   * Ends the session of each refresh token, and returns it with its email; null for one that is unknown, already ended
   * or expired at `now`.
   */
  readonly revokeSessions: (
    refreshHashes: readonly Uint8Array[],
    now: number,
  ) => Awaitable<readonly (OwnedSession | null)[]>
  /**
   * Ends each session if it belongs to the given email. False for one that belongs to another email, or is unknown,
   * already ended or expired at `now`.
   */
  readonly revokeSessionsById: (sessions: readonly OwnedSession[], now: number) => Awaitable<readonly boolean[]>
  /** Ends every session of an email. Returns how many of them were open at `now`. */
  readonly revokeSessionsOf: (email: string, now: number) => Awaitable<number>

  /** Removes some of the sessions that expired before `now`, in one short step. True when none are left. Idempotent. */
  readonly dropExpiredSessions: (now: number) => Awaitable<boolean>
  /** At most `limit` sessions that follow `id` ('' for the first) in order of id, expired ones included. */
  readonly sessionsAfter: (id: string, limit: number) => Awaitable<readonly NewSession[]>
}
