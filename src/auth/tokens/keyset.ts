// The keys that access tokens are signed with: kept in the database, shared by every gateway on it.
import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { CryptoKey, JWK } from 'jose'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { exportJWK } from 'jose/key/export'
import { generateKeyPair } from 'jose/key/generate/keypair'
import { importJWK } from 'jose/key/import'
import { batchPerTurn } from '../../store/batch-per-turn.ts'
import type { Store, StoredSigningKey } from '../../store/contract.ts'

/** RFC 8037: Ed25519 under the JOSE name EdDSA. The only algorithm that is ever issued or accepted. */
export const ALGORITHM = 'EdDSA'

/** How old this process's copy of the keys may be; a key that was added or removed elsewhere counts after that. */
const MAX_AGE_MS = 1_000

export interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly publicKey: CryptoKey
  readonly publicJwk: JWK
}

export interface Keyset {
  /** The newest key: the one that signs. */
  readonly signingKey: () => Promise<SigningKey>
  /** The key of this name, null when there is none (any more). */
  readonly keyOf: (kid: string) => Promise<SigningKey | null>
  /** Whether the key is known to be there without asking the database. */
  readonly isCurrent: (kid: string) => boolean
  /** Public keys of all, newest first: a JWK Set (RFC 7517 section 5). */
  readonly publicKeys: () => Promise<{ readonly keys: readonly JWK[] }>
}

/** Makes the first key when the database has none. */
export async function openKeyset(store: Store, clock: () => number): Promise<Keyset> {
  const imported = new Map<string, SigningKey>()
  const storedKeys = batchPerTurn<null, readonly StoredSigningKey[]>(async (questions) => {
    const stored = await store.signingKeys()
    return questions.map(() => stored)
  }, setImmediate)
  let keys: readonly SigningKey[] = []
  let readAt = Number.NEGATIVE_INFINITY

  async function read(): Promise<readonly SigningKey[]> {
    const asked = clock()
    const stored = await storedKeys(null)
    keys = await Promise.all(stored.map(async (key) => imported.get(key.kid) ?? importSigningKey(key)))
    readAt = asked
    imported.clear()
    for (const key of keys) imported.set(key.kid, key)
    return keys
  }

  function isRecent(): boolean {
    return Math.abs(clock() - readAt) < MAX_AGE_MS
  }

  async function recent(): Promise<readonly SigningKey[]> {
    return isRecent() ? keys : read()
  }

  if ((await read()).length === 0) {
    await store.addSigningKey(await createSigningKey(clock()), null)
    await read()
  }

  return {
    async signingKey() {
      const [newest] = await recent()
      if (!newest) throw new Error('the database has no signing key any more')
      return newest
    },
    async keyOf(kid) {
      const withKid = (key: SigningKey) => key.kid === kid
      return (await recent()).find(withKid) ?? (await read()).find(withKid) ?? null
    },
    isCurrent: (kid) => isRecent() && imported.has(kid),
    publicKeys: async () => ({ keys: (await recent()).map((key) => key.publicJwk) }),
  }
}

/** A new Ed25519 key pair, named by its thumbprint (RFC 7638). */
export async function createSigningKey(now: number): Promise<StoredSigningKey> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
  const jwk = await exportJWK(privateKey)
  return { kid: await calculateJwkThumbprint(jwk), privateJwk: JSON.stringify(jwk), createdAt: now }
}

async function importSigningKey(stored: StoredSigningKey): Promise<SigningKey> {
  const privateJwk = JSON.parse(stored.privateJwk) as JWK & JsonWebKey
  const { d: _private, ...publicPart } = privateJwk
  const publicJwk: JWK = { ...publicPart, kid: stored.kid, alg: ALGORITHM, use: 'sig' }
  return {
    kid: stored.kid,
    privateKey: createPrivateKey({ key: privateJwk, format: 'jwk' }),
    publicKey: (await importJWK(publicPart, ALGORITHM)) as CryptoKey,
    publicJwk,
  }
}
