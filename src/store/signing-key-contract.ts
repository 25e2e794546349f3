// The part of the store contract that covers the keys that sign access tokens.
import type { Awaitable } from './awaitable.ts'

export interface StoredSigningKey {
  readonly kid: string
  /** The private key as the JSON text of a JWK (RFC 7517), plain or encrypted. The store does not parse it. */
  readonly privateJwk: string
  /** Time from which the key signs, in milliseconds since the epoch. It may be published earlier. */
  readonly createdAt: number
}

/**
 * `removeSigningKey` and `rewriteSigningKeys` also erase the old key texts from the database files. They throw
 * `TracesLeftError` if only that failed; the row is removed or rewritten even then.
 */
export interface SigningKeyVerbs {
  /** Every signing key, newest first. */
  readonly signingKeys: () => Awaitable<readonly StoredSigningKey[]>
  /**
   * Stores the key only if the newest stored key is still `newestKid` (null: only if there is no key), so that gateways
   * that start at the same time agree on one. False if the key was not stored.
   */
  readonly addSigningKey: (key: StoredSigningKey, newestKid: string | null) => Awaitable<boolean>
  /** False if there is no such key. Also erases the key from the database files. */
  readonly removeSigningKey: (kid: string) => Awaitable<boolean>
  /** Replaces the texts of stored keys, and erases the old texts from the database files. Idempotent. */
  readonly rewriteSigningKeys: (keys: readonly Pick<StoredSigningKey, 'kid' | 'privateJwk'>[]) => Awaitable<void>
}
