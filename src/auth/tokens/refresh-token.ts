// Refresh tokens: opaque to clients; their time and 256 random bits, of which the gateway keeps only a hash.
import { hash, randomBytes } from 'node:crypto'

const PREFIX = 'wgr_'
const TIME_BYTES = 6
const RANDOM_BYTES = 32
/** Tokens without a time were issued until 2026-11-21, and live for 90 days at most. */
const SPELLING = /^wgr_(?<time>[A-Za-z0-9_-]{8})?[A-Za-z0-9_-]{43}$/

export interface RefreshToken {
  /** For the client, once. */
  readonly token: string
  /** For the store. */
  readonly hash: Uint8Array
}

/** `now` in milliseconds since the epoch. */
export function createRefreshToken(now: number): RefreshToken {
  const bytes = randomBytes(TIME_BYTES + RANDOM_BYTES)
  bytes.writeUIntBE(now, 0, TIME_BYTES)
  const token = PREFIX + bytes.toString('base64url')
  return { token, hash: hashOf(token, bytes.subarray(0, TIME_BYTES)) }
}

/** By what the store knows a token, null for what was never one. */
export function readRefreshToken(token: string): Uint8Array | null {
  const spelled = SPELLING.exec(token)
  return spelled && hashOf(token, Buffer.from(spelled.groups?.time ?? '', 'base64url'))
}

/**
 * The token's time, then its SHA-256: hashes alone lie anywhere in an index, and a commit of many logins would write a page for each.
 */
function hashOf(token: string, time: Uint8Array): Uint8Array {
  return Buffer.concat([time, hash('sha256', token, 'buffer')])
}
