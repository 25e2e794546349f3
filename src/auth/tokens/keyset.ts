// The keys that sign access tokens: stored in the database, and shared by all gateways that use it.
import type { JWK } from 'jose'
import { batchPerTurn } from '../../store/batch-per-turn.ts'
import type { Store } from '../../store/contract.ts'
import type { StoredSigningKey } from '../../store/signing-key-contract.ts'
import { ageMs, NEVER, now } from '../age.ts'
import type { Audit } from '../audit/audit-event.ts'
import { repeatInBackground } from '../repeat-in-background.ts'
import { type KeyCipher, KeyUnreadableError } from './key-cipher.ts'
import { createSigningKey, importSigningKey, type SigningKey } from './signing-key.ts'
import { DEFAULT_TOKEN_ALGORITHM, type TokenAlgorithm } from './token-algorithms.ts'

/**
 * Maximum age of this process's copy of the keys while the database answers. A key that was added or removed elsewhere
 * takes effect after that time.
 */
export const KEYS_MAX_AGE_MS = 1_000
/** Minimum time between two reads that unknown key names cause, because anybody can make up such names. */
const UNKNOWN_KEY_PAUSE_MS = 100
/**
 * Reads within the maximum age, if an older copy may verify tokens. With several, the copy survives an outage of nearly
 * that age.
 */
const LOOKS = 10
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = KEYS_MAX_AGE_MS / 2

export interface KeysetOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly cipher: KeyCipher
  /** Algorithm to sign with from now on; null for the algorithm of the newest key. */
  readonly algorithm: TokenAlgorithm | null
  readonly audit: Audit
  /** Maximum age of a copy that verifies tokens, the same as for sessions; null for `KEYS_MAX_AGE_MS`. */
  readonly sessionCheckMs: number | null
  /** Background work of the process. Disposing it stops the background reads. */
  readonly running: AsyncDisposableStack
  /**
   * Called once for each key that was added later and cannot be read. It is left out, and its tokens are refused here.
   */
  readonly onUnreadable: (error: KeyUnreadableError) => void
}

export interface Keyset {
  /** The key that signs: the newest one whose `createdAt` is not in the future. */
  readonly signingKey: () => Promise<SigningKey>
  /** The key of this name; null if it does not exist, or no longer. */
  readonly keyOf: (kid: string) => Promise<SigningKey | null>
  /** Whether the key is known to exist without asking the database. */
  readonly isCurrent: (kid: string) => boolean
  /** The public keys, newest first, as a JWK Set (RFC 7517 section 5). */
  readonly publicKeys: () => Promise<{ readonly keys: readonly JWK[] }>
}

/**
 * Creates a key if the database has none, or if its newest one is for another algorithm than the option says.
 * Throws `KeyUnreadableError` if one of the keys cannot be read.
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
  /** When the last read began. */
  let readAt = NEVER
  let adding: Promise<void> | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<readonly SigningKey[]> | null = null

  async function read(): Promise<readonly SigningKey[]> {
    const asked = now(clock)
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

  /** If several gateways do this at the same time, one of them adds its key, and all of them use that. */
  async function add(newest: SigningKey | undefined): Promise<void> {
    const createdAt = Math.max(clock(), (newest?.createdAt ?? 0) + 1)
    const key = await createSigningKey(algorithm ?? DEFAULT_TOKEN_ALGORITHM, createdAt, cipher)
    if (await store.addSigningKey(key, newest?.kid ?? null)) {
      audit.record({ kind: 'keyAdded', result: 'done', detail: key.kid })
    }
    await read()
  }

  /** Concurrent callers share one attempt. */
  function addFirst(): Promise<void> {
    adding ??= add(undefined).finally(() => {
      adding = null
    })
    return adding
  }

  function isYoungerThan(maxAgeMs: number): boolean {
    return ageMs(readAt, clock) < maxAgeMs
  }

  async function noOlderThan(maxAgeMs: number): Promise<readonly SigningKey[]> {
    return isYoungerThan(maxAgeMs) ? keys : read()
  }

  /** Reads the keys soon, but at most once per `UNKNOWN_KEY_PAUSE_MS`. All callers until the read begins share it. */
  function look(): Promise<readonly SigningKey[]> {
    looking ??= pause(lookedAt + UNKNOWN_KEY_PAUSE_MS - performance.now()).then(() => {
      looking = null
      lookedAt = performance.now()
      return read()
    })
    return looking
  }

  /** Reads the keys periodically. While the database does not answer, the copy only gets older. */
  function keepFresh(maxAgeMs: number): void {
    repeatInBackground(read, Math.min(Math.max(maxAgeMs / LOOKS, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS), running)
  }

  function newestInForce(): SigningKey | undefined {
    const time = clock()
    // If all keys are from the future, they were made with a clock that is ahead of this one: use the oldest.
    return keys.find(({ createdAt }) => createdAt <= time) ?? keys.at(-1)
  }

  // At the start, a key that cannot be read is an error. `read` would only leave it out.
  for (const stored of await store.signingKeys()) await importSigningKey(stored, cipher)
  const [newest] = await read()
  if (!newest || (algorithm !== null && newest.algorithm !== algorithm)) await add(newest)
  if (sessionCheckMs !== null) keepFresh(sessionCheckMs)

  return {
    async signingKey() {
      // If all keys were deleted, sign-ins must not have to wait for a restart.
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
