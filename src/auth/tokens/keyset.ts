// The keys that access tokens are signed with: kept in the database, shared by every gateway on it.
import type { JWK } from 'jose'
import { batchPerTurn } from '../../store/batch-per-turn.ts'
import type { Store } from '../../store/contract.ts'
import type { StoredSigningKey } from '../../store/signing-key-contract.ts'
import type { Audit } from '../audit/audit-event.ts'
import { type KeyCipher, KeyUnreadableError } from './key-cipher.ts'
import { createSigningKey, importSigningKey, type SigningKey } from './signing-key.ts'
import { DEFAULT_TOKEN_ALGORITHM, type TokenAlgorithm } from './token-algorithms.ts'

/** How old this process's copy of the keys may be while the database answers; a key that was added or removed elsewhere counts after that. */
export const KEYS_MAX_AGE_MS = 1_000
/** Between two reads for names of keys that are not in the copy: anybody can make such names up. */
const UNKNOWN_KEY_PAUSE_MS = 100
/** Where an older copy may verify tokens, the keys are read this often, so that an outage may last for nearly all of that age. */
const LOOKS = 10
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = KEYS_MAX_AGE_MS / 2

export interface KeysetOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly cipher: KeyCipher
  /** What is signed with from now on; null for whatever the newest key is of. */
  readonly algorithm: TokenAlgorithm | null
  readonly audit: Audit
  /** Tokens may be verified with a copy of this age, as their sessions may be used; null for no older one than anything else. */
  readonly sessionCheckMs: number | null
  /** What the process keeps running: the feed ends with it. */
  readonly running: AsyncDisposableStack
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
  const { clock, cipher, algorithm, audit, sessionCheckMs, running, onUnreadable } = options
  const verifyingMaxAgeMs = Math.max(KEYS_MAX_AGE_MS, sessionCheckMs ?? 0)
  const imported = new Map<string, SigningKey>()
  const unreadable = new Set<string>()
  const storedKeys = batchPerTurn<null, readonly StoredSigningKey[]>(async (questions) => {
    const stored = await store.signingKeys()
    return questions.map(() => stored)
  }, setImmediate)
  let keys: readonly SigningKey[] = []
  /** By both clocks: one stands still while the machine sleeps, the other one can be set back. */
  let readAt = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }
  let adding: Promise<void> | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<readonly SigningKey[]> | null = null

  async function read(): Promise<readonly SigningKey[]> {
    const asked = { monotonic: performance.now(), wall: clock() }
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

  function isYoungerThan(maxAgeMs: number): boolean {
    return Math.abs(clock() - readAt.wall) < maxAgeMs && performance.now() - readAt.monotonic < maxAgeMs
  }

  async function noOlderThan(maxAgeMs: number): Promise<readonly SigningKey[]> {
    return isYoungerThan(maxAgeMs) ? keys : read()
  }

  /** A read that begins after it was asked for: soon, and one for all who ask until then. */
  function look(): Promise<readonly SigningKey[]> {
    looking ??= pause(lookedAt + UNKNOWN_KEY_PAUSE_MS - performance.now()).then(() => {
      looking = null
      lookedAt = performance.now()
      return read()
    })
    return looking
  }

  /** While the database does not answer the keys grow old, and nothing else happens. */
  function keepFresh(maxAgeMs: number): void {
    const pauseMs = Math.min(Math.max(maxAgeMs / LOOKS, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)
    let timer: NodeJS.Timeout | undefined
    let isClosed = false
    function next(): void {
      if (!isClosed) timer = setTimeout(() => read().then(next, next), pauseMs).unref()
    }
    next()
    running.defer(() => {
      isClosed = true
      clearTimeout(timer)
    })
  }

  function newestInForce(): SigningKey | undefined {
    const now = clock()
    // None but later ones: made by a clock that is ahead of this one.
    return keys.find(({ createdAt }) => createdAt <= now) ?? keys.at(-1)
  }

  for (const stored of await store.signingKeys()) await importSigningKey(stored, cipher)
  const [newest] = await read()
  if (!newest || (algorithm !== null && newest.algorithm !== algorithm)) await add(newest)
  if (sessionCheckMs !== null) keepFresh(sessionCheckMs)

  return {
    async signingKey() {
      // All keys were deleted: sign-ins must not wait for a restart.
      if ((await noOlderThan(KEYS_MAX_AGE_MS)).length === 0) await addFirst()
      const key = newestInForce()
      if (!key) throw new Error('the database has no signing key that can be read')
      return key
    },
    async keyOf(kid) {
      const withKid = (key: SigningKey) => key.kid === kid
      return (await noOlderThan(verifyingMaxAgeMs)).find(withKid) ?? (await look()).find(withKid) ?? null
    },
    isCurrent: (kid) => isYoungerThan(verifyingMaxAgeMs) && imported.has(kid),
    publicKeys: async () => ({ keys: (await noOlderThan(verifyingMaxAgeMs)).map((key) => key.publicJwk) }),
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)))
}
