// Creates a signing key, stores it as a private JWK, and imports it again to sign and verify.
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
  /** The only algorithm that this key is used with. */
  readonly algorithm: TokenAlgorithm
  /** When the key begins to sign, in milliseconds since the epoch. */
  readonly createdAt: number
  readonly privateKey: KeyObject
  readonly publicKey: CryptoKey
  readonly publicJwk: JWK
}

/** A new key pair, named by its thumbprint (RFC 7638), in the form in which it is stored. */
export async function createSigningKey(
  algorithm: TokenAlgorithm,
  createdAt: number,
  cipher: KeyCipher,
): Promise<StoredSigningKey> {
  const { privateKey } = await TOKEN_ALGORITHMS[algorithm].generate()
  const jwk = await exportJWK(privateKey)
  const kid = await calculateJwkThumbprint(jwk)
  // One thumbprint in 64 begins with a dash, and `keys retire` would parse it as an option.
  if (kid.startsWith('-')) return createSigningKey(algorithm, createdAt, cipher)
  return { kid, privateJwk: cipher.seal(kid, JSON.stringify(jwk)), createdAt }
}

/** Throws `KeyUnreadableError`. */
export async function importSigningKey(stored: StoredSigningKey, cipher: KeyCipher): Promise<SigningKey> {
  const text = cipher.open(stored.kid, stored.privateJwk)
  try {
    return await readSigningKey(stored, text)
  } catch {
    // The error is not passed on as `cause`: a JSON syntax error quotes the text, which is a private key.
    throw new KeyUnreadableError(stored.kid, 'damaged')
  }
}

async function readSigningKey({ kid, createdAt }: StoredSigningKey, text: string): Promise<SigningKey> {
  const privateJwk = JSON.parse(text) as JsonWebKey
  const algorithm = algorithmOf(privateJwk.kty)
  const privateKey = createPrivateKey({ key: privateJwk, format: 'jwk' })
  // Derived from the private key, not picked from its members, so that no private member can get out, whatever the key
  // type.
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
