// Refresh tokens: opaque, 256 random bits, kept by the gateway only as a hash.
import { createHash, randomBytes } from 'node:crypto'

const PREFIX = 'wgr_'
const RANDOM_BYTES = 32
const SPELLING = /^wgr_[A-Za-z0-9_-]{43}$/

export interface RefreshToken {
  /** For the client, once. */
  readonly token: string
  /** For the store. */
  readonly hash: Uint8Array
}

export function createRefreshToken(): RefreshToken {
  const token = PREFIX + randomBytes(RANDOM_BYTES).toString('base64url')
  return { token, hash: hashOf(token) }
}

/** The SHA-256 by which the store knows a token, null for what was never one. */
export function readRefreshToken(token: string): Uint8Array | null {
  return SPELLING.test(token) ? hashOf(token) : null
}

function hashOf(token: string): Uint8Array {
  return createHash('sha256').update(token).digest()
}
