// One signing key: made, stored as a private JWK, and read back into what signs and verifies.
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { CryptoKey, JWK } from 'jose'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { exportJWK } from 'jose/key/export'
import { importJWK } from 'jose/key/import'
import type { StoredSigningKey } from '../../store/signing-key-contract.ts'
import { type KeyCipher, KeyUnreadableError } from './key-cipher.ts'
import { algorithmOf, TOKEN_ALGORITHMS, type TokenAlgorithm } from './token-algorithms.ts'

export interface SigningKey {
  readonly kid: string
  /** The only algorithm this key is ever used with. */
  readonly algorithm: TokenAlgorithm
  /** From when on it signs, in milliseconds since the epoch. */
  readonly createdAt: number
  readonly privateKey: KeyObject
  readonly publicKey: CryptoKey
  readonly publicJwk: JWK
}

/** A new key pair, named by its thumbprint (RFC 7638), as it is stored. */
export async function createSigningKey(
  algorithm: TokenAlgorithm,
  createdAt: number,
  cipher: KeyCipher,
): Promise<StoredSigningKey> {
  const { privateKey } = await TOKEN_ALGORITHMS[algorithm].generate()
  const jwk = await exportJWK(privateKey)
  const kid = await calculateJwkThumbprint(jwk)
  // One thumbprint in 64 begins with a dash: `keys retire` would take it for an option.
  if (kid.startsWith('-')) return createSigningKey(algorithm, createdAt, cipher)
  return { kid, privateJwk: cipher.seal(kid, JSON.stringify(jwk)), createdAt }
}

/** Throws `KeyUnreadableError`. */
export async function importSigningKey(stored: StoredSigningKey, cipher: KeyCipher): Promise<SigningKey> {
  const text = cipher.open(stored.kid, stored.privateJwk)
  try {
    return await readSigningKey(stored, text)
  } catch {
    // Not as its cause: what is wrong with a JSON text is told by quoting it.
    throw new KeyUnreadableError(stored.kid, 'damaged')
  }
}

async function readSigningKey({ kid, createdAt }: StoredSigningKey, text: string): Promise<SigningKey> {
  const privateJwk = JSON.parse(text) as JsonWebKey
  const algorithm = algorithmOf(privateJwk.kty)
  const privateKey = createPrivateKey({ key: privateJwk, format: 'jwk' })
  // Derived, not picked: whatever members a private key of its kind has, none of them gets out.
  const publicPart = createPublicKey(privateKey).export({ format: 'jwk' }) as JWK
  return {
    kid,
    algorithm,
    createdAt,
    privateKey,
    publicKey: (await importJWK(publicPart, algorithm)) as CryptoKey,
    publicJwk: { ...publicPart, kid, alg: algorithm, use: 'sig' },
  }
}
