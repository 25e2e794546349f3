// The keys that access tokens are signed with: kept in the database, shared by every gateway on it.
import type { JWK } from 'jose'
import { batchPerTurn } from '../../store/batch-per-turn.ts'
import type { Store } from '../../store/contract.ts'
import type { StoredSigningKey } from '../../store/signing-key-contract.ts'
import type { Audit } from '../audit/audit-event.ts'
import { type KeyCipher, KeyUnreadableError } from './key-cipher.ts'
import { createSigningKey, importSigningKey, type SigningKey } from './signing-key.ts'
import { DEFAULT_TOKEN_ALGORITHM, type TokenAlgorithm } from './token-algorithms.ts'

/** How old this process's copy of the keys may be; a key that was added or removed elsewhere counts after that. */
export const KEYS_MAX_AGE_MS = 1_000

export interface KeysetOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly cipher: KeyCipher
  /** What is signed with from now on; null for whatever the newest key is of. */
  readonly algorithm: TokenAlgorithm | null
  readonly audit: Audit
  /** A key that came later cannot be read: it is left out, and tokens of it are refused here. Called once for each. */
  readonly onUnreadable: (error: KeyUnreadableError) => void
}

export interface Keyset {
  /** The newest key whose time has come: the one that signs. */
  readonly signingKey: () => Promise<SigningKey>
  /** The key of this name, null when there is none (any more). */
  readonly keyOf: (kid: string) => Promise<SigningKey | null>
  /** Whether the key is known to be there without asking the database. */
  readonly isCurrent: (kid: string) => boolean
  /** Public keys of all, newest first: a JWK Set (RFC 7517 section 5). */
  readonly publicKeys: () => Promise<{ readonly keys: readonly JWK[] }>
}

/**
 * Makes a key when the database has none, or its newest one is of another algorithm than asked for.
 * Throws `KeyUnreadableError` when one of the keys cannot be read.
 */
export async function openKeyset(store: Store, options: KeysetOptions): Promise<Keyset> {
  const { clock, cipher, algorithm, audit, onUnreadable } = options
  const imported = new Map<string, SigningKey>()
  const unreadable = new Set<string>()
  const storedKeys = batchPerTurn<null, readonly StoredSigningKey[]>(async (questions) => {
    const stored = await store.signingKeys()
    return questions.map(() => stored)
  }, setImmediate)
  let keys: readonly SigningKey[] = []
  let readAt = Number.NEGATIVE_INFINITY
  let adding: Promise<void> | null = null

  async function read(): Promise<readonly SigningKey[]> {
    const asked = clock()
    const stored = await storedKeys(null)
    const found = await Promise.all(stored.map(async (key) => imported.get(key.kid) ?? importReadable(key)))
    keys = found.flatMap((key) => key ?? [])
    readAt = asked
    imported.clear()
    for (const key of keys) imported.set(key.kid, key)
    return keys
  }

  async function importReadable(stored: StoredSigningKey): Promise<SigningKey | null> {
    try {
      return await importSigningKey(stored, cipher)
    } catch (error) {
      if (!(error instanceof KeyUnreadableError)) throw error
      if (!unreadable.has(stored.kid)) onUnreadable(error)
      unreadable.add(stored.kid)
      return null
    }
  }

  /** Of gateways that do this at once, one adds its key, and all go on with that. */
  async function add(newest: SigningKey | undefined): Promise<void> {
    const createdAt = Math.max(clock(), (newest?.createdAt ?? 0) + 1)
    const key = await createSigningKey(algorithm ?? DEFAULT_TOKEN_ALGORITHM, createdAt, cipher)
    if (await store.addSigningKey(key, newest?.kid ?? null)) {
      audit.record({ kind: 'keyAdded', result: 'done', detail: key.kid })
    }
    await read()
  }

  /** Once for all who find that there is none. */
  function addFirst(): Promise<void> {
    adding ??= add(undefined).finally(() => {
      adding = null
    })
    return adding
  }

  function isRecent(): boolean {
    return Math.abs(clock() - readAt) < KEYS_MAX_AGE_MS
  }

  async function recent(): Promise<readonly SigningKey[]> {
    return isRecent() ? keys : read()
  }

  function newestInForce(): SigningKey | undefined {
    const now = clock()
    // None but later ones: made by a clock that is ahead of this one.
    return keys.find(({ createdAt }) => createdAt <= now) ?? keys.at(-1)
  }

  for (const stored of await store.signingKeys()) await importSigningKey(stored, cipher)
  const [newest] = await read()
  if (!newest || (algorithm !== null && newest.algorithm !== algorithm)) await add(newest)

  return {
    async signingKey() {
      // All of them were deleted: whoever signs in must not wait for a restart.
      if ((await recent()).length === 0) await addFirst()
      const key = newestInForce()
      if (!key) throw new Error('the database has no signing key that can be read')
      return key
    },
    async keyOf(kid) {
      const withKid = (key: SigningKey) => key.kid === kid
      return (await recent()).find(withKid) ?? (await read()).find(withKid) ?? null
    },
    isCurrent: (kid) => isRecent() && imported.has(kid),
    publicKeys: async () => ({ keys: (await recent()).map((key) => key.publicJwk) }),
  }
}
