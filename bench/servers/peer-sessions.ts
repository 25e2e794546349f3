// Implements sign-in for a peer, with jose and better-sqlite3 as their documentation shows: one durable commit per
// login.
import { randomBytes, randomUUID } from 'node:crypto'
import Database from 'better-sqlite3'
import { importJWK, type JWK, SignJWT } from 'jose'
import { readRefreshToken } from '../../src/auth/tokens/refresh-token.ts'

export interface TokenPair {
  readonly accessToken: string
  readonly refreshToken: string
}

export interface PeerSessions {
  /** Resolves when the session is durable. */
  readonly login: (email: string) => Promise<TokenPair>
  /** Null when the refresh token belongs to no live session. */
  readonly refresh: (refreshToken: string) => Promise<{ readonly accessToken: string } | null>
}

const ACCESS_TTL_SECONDS = 86_400
const IDLE_TTL_MS = 14 * 86_400_000
const ABSOLUTE_TTL_MS = 90 * 86_400_000

interface Session {
  readonly id: string
  readonly email: string
}

export async function openPeerSessions(path: string): Promise<PeerSessions> {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  const stored = database
    .prepare<[], { kid: string; private_jwk: string }>('select kid, private_jwk from signing_key')
    .get()
  const key = await importJWK(JSON.parse(stored?.private_jwk ?? '{}') as JWK, 'EdDSA')
  const add = database.prepare<[string, string, Uint8Array | null, number, number, number]>(
    'insert into session (id, email, refresh_hash, created_at, idle_expires_at, expires_at) values (?, ?, ?, ?, ?, ?)',
  )
  const find = database.prepare<[Uint8Array | null, number, number], Session>(
    'select id, email from session where refresh_hash = ? and idle_expires_at > ? and expires_at > ?',
  )

  function issue({ id, email }: Session): Promise<string> {
    const issuedAt = Math.floor(Date.now() / 1_000)
    return new SignJWT({ sid: id })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: stored?.kid ?? '' })
      .setIssuer('workspace-gateway')
      .setAudience('workspace-gateway')
      .setSubject(email)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ACCESS_TTL_SECONDS)
      .sign(key)
  }

  return {
    async login(email) {
      const id = randomUUID()
      const refreshToken = `wgr_${randomBytes(32).toString('base64url')}`
      const now = Date.now()
      add.run(id, email, readRefreshToken(refreshToken), now, now + IDLE_TTL_MS, now + ABSOLUTE_TTL_MS)
      return { accessToken: await issue({ id, email }), refreshToken }
    },
    async refresh(refreshToken) {
      const now = Date.now()
      const session = find.get(readRefreshToken(refreshToken), now, now)
      return session ? { accessToken: await issue(session) } : null
    },
  }
}
