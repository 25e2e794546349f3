// Refresh tokens: opaque to clients, made of a time and 256 random bits. The gateway stores only a hash.
import { hash, randomBytes } from 'node:crypto'

const PREFIX = 'wgr_'
const TIME_BYTES = 6
const RANDOM_BYTES = 32
/** The time is optional: tokens without one were issued until 2026-11-21, and live for at most 90 days. */
const SPELLING = /^wgr_(?<time>[A-Za-z0-9_-]{8})?[A-Za-z0-9_-]{43}$/

export interface RefreshToken {
  /** Sent to the client once, never stored. */
  readonly token: string
  /** The hash that is stored. */
  readonly hash: Uint8Array
}

/** `now` in milliseconds since the epoch. */
export function createRefreshToken(now: number): RefreshToken {
  const bytes = randomBytes(TIME_BYTES + RANDOM_BYTES)
  bytes.writeUIntBE(now, 0, TIME_BYTES)
  const token = PREFIX + bytes.toString('base64url')
  return { token, hash: hashOf(token, bytes.subarray(0, TIME_BYTES)) }
}

/** The stored hash of a token; null if the text cannot be a refresh token. */
export function readRefreshToken(token: string): Uint8Array | null {
  const spelled = SPELLING.exec(token)
  return spelled && hashOf(token, Buffer.from(spelled.groups?.time ?? '', 'base64url'))
}

/** Whether the text begins like a refresh token, well formed or not. */
export function isLikeRefreshToken(text: string): boolean {
  return text.startsWith(PREFIX)
}

/**
 * The token's time, followed by its SHA-256. Hashes alone are scattered over the index, so that a commit of many logins
 * would write one page for each.
 */
function hashOf(token: string, time: Uint8Array): Uint8Array {
  return Buffer.concat([time, hash('sha256', token, 'buffer')])
}
