// The store's part about sessions.
import type { Awaitable } from './awaitable.ts'

export interface NewSession {
  readonly id: string
  readonly email: string
  /** What the refresh token is found by: SHA-256, behind the six bytes of its time that the token has in front. */
  readonly refreshHash: Uint8Array
  /** Milliseconds since the epoch, as every time of this contract. */
  readonly createdAt: number
  /** Coarse: moved together with the idle expiry. */
  readonly lastUsedAt: number
  readonly idleExpiresAt: number
  readonly expiresAt: number
  /** Of the login: the start of its `User-Agent`, empty without one. */
  readonly userAgent: string
  /** Of the login: /24 or /64 of the client's address, empty when it is not known. */
  readonly network: string
  /** The registered client that signed the user in, empty without one. */
  readonly client: string
}

/** A session that is open, and at which revision its user's workspace stood in the same read. */
export interface LiveSession {
  readonly id: string
  readonly email: string
  /** Null while no workspace is stored for the email. */
  readonly userId: number | null
  /** Grows with every change to anything of the user; 0 without a workspace. */
  readonly revision: number
  /**
   * Random, another one with every change: names one state for good, where a revision comes again, for other contents, when
   * an older copy of the database is put back or a standby without the last commits takes over. Empty without a workspace.
   */
  readonly stateVersion: string
  /** The registered client that opened the session, empty without one. */
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

/** A session and whose it is. */
export interface OwnedSession {
  readonly id: string
  readonly email: string
}

export interface SessionExtension {
  readonly id: string
  readonly lastUsedAt: number
  readonly idleExpiresAt: number
}

/** The clocks of gateways are apart by so many milliseconds at most: what is of a later time was written before a clock was set back. */
export const CLOCKS_DIFFER_MS = 60_000

/** Rows that one call of `dropExpiredSessions` removes at most, so that it holds its locks only briefly. */
export const EXPIRED_SESSIONS_PER_CALL = 500

export interface SessionVerbs {
  /** One answer per session id, in the order given; null for a session that is unknown, revoked or expired at `now`. */
  readonly liveSessions: (ids: readonly string[], now: number) => Awaitable<readonly (LiveSession | null)[]>
  /** The session of each refresh token, by its hash; null for one that is unknown, revoked or expired at `now`. */
  readonly refreshableSessions: (
    refreshHashes: readonly Uint8Array[],
    now: number,
  ) => Awaitable<readonly (RefreshableSession | null)[]>
  /** The sessions of an email that are open at `now`, newest first, at most `limit`. */
  readonly sessionsOf: (email: string, now: number, limit: number) => Awaitable<readonly NewSession[]>

  /**
   * Adds all or, when it throws, none. No user of them has more than `maxPerUser` open sessions when it answers: those that
   * were used longest ago end, and are answered. Without `maxPerUser` there is no limit. One whose id is there already stays as it is.
   */
  readonly addSessions: (sessions: readonly NewSession[], maxPerUser?: number) => Awaitable<readonly OwnedSession[]>
  /** Moves the idle expiry and the time of the last use, never back; false for a session that is no longer there. Idempotent. */
  readonly extendSessions: (extensions: readonly SessionExtension[]) => Awaitable<readonly boolean[]>
  /**
   * Ends the session of each refresh token, and answers whose it was; null for one that is unknown, already ended or
   * expired at `now`.
   */
  readonly revokeSessions: (
    refreshHashes: readonly Uint8Array[],
    now: number,
  ) => Awaitable<readonly (OwnedSession | null)[]>
  /** Ends each session if it is of that email; false for one that is not, or is unknown, already ended or expired at `now`. */
  readonly revokeSessionsById: (sessions: readonly OwnedSession[], now: number) => Awaitable<readonly boolean[]>
  /** Ends every session of an email; answers how many of them were open at `now`. */
  readonly revokeSessionsOf: (email: string, now: number) => Awaitable<number>

  /** Removes a part of the sessions that expired before `now`, in one short step; true when none are left. Idempotent. */
  readonly dropExpiredSessions: (now: number) => Awaitable<boolean>
  /** Sessions in order of id, those after `id` ('' for the first), at most `limit`; expired ones too. */
  readonly sessionsAfter: (id: string, limit: number) => Awaitable<readonly NewSession[]>
}
