// The store's part about the keys that access tokens are signed with.
import type { Awaitable } from './awaitable.ts'

export interface StoredSigningKey {
  readonly kid: string
  /** The private key as a JWK (RFC 7517), JSON text, or that text encrypted: the store does not look into it. */
  readonly privateJwk: string
  /** From when on it signs, in milliseconds since the epoch; a key may be published before. */
  readonly createdAt: number
}

/** The two verbs that take texts out of the files throw `TracesLeftError` when that could not be done: the rest of them is. */
export interface SigningKeyVerbs {
  /** Every signing key, newest first. */
  readonly signingKeys: () => Awaitable<readonly StoredSigningKey[]>
  /**
   * Keeps the key only while the newest one is still `newestKid` (null: while there is none), so that gateways that start
   * together agree; false when it was not kept.
   */
  readonly addSigningKey: (key: StoredSigningKey, newestKid: string | null) => Awaitable<boolean>
  /** False for one that is not there. What is removed is gone from the database's files too. */
  readonly removeSigningKey: (kid: string) => Awaitable<boolean>
  /** Puts other texts in the place of keys that are there; the old texts are gone from the database's files. Idempotent. */
  readonly rewriteSigningKeys: (keys: readonly Pick<StoredSigningKey, 'kid' | 'privateJwk'>[]) => Awaitable<void>
}
