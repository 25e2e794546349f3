// A key source that fetches each key as PEM from a URL of its own, as AWS load balancers publish them.
import { createPublicKey } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { CryptoKey } from 'jose'
import { importSPKI } from 'jose/key/import'
import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../../../errors.ts'
import { NotThereError } from './fetch-text.ts'
import { createFreshness } from './freshness.ts'
import type { KeySource, KeySourceOptions } from './key-source.ts'

/** Allowed key names. They are restricted because the name becomes part of a URL. */
const KID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/
const MAX_KEYS = 16
/**
 * Fetches of unknown keys within `refetchMs`. As many more may wait for the next interval; beyond that they are
 * `UNAVAILABLE`.
 */
const MAX_FETCHES = 2

interface Known {
  readonly pem: Promise<string>
  /** Await this before the key is used. */
  readonly refresh: () => Promise<void>
  /** Imported key by algorithm; null if the key does not fit the algorithm, since a token may name any. */
  readonly imported: Map<string, Promise<CryptoKey | null>>
}

/**
 * `load` returns the PEM of a key by its name. Sign-ins that need the same key share one fetch. At most `MAX_FETCHES`
 * unknown keys are fetched within `refetchMs`; reloads of known keys do not count. A key that does not exist is not
 * fetched again within that time.
 */
export function createPemSource(
  load: (kid: string) => Promise<string>,
  { refetchMs, report }: KeySourceOptions,
): KeySource {
  const keys = new LRUCache<string, Known>({ max: MAX_KEYS })
  const missing = new LRUCache<string, true>({ max: MAX_KEYS, ttl: refetchMs })
  /** Start times of the last fetches. Some may be in the future. */
  let fetches: readonly number[] = []

  /** Milliseconds that one more fetch has to wait. Throws `UNAVAILABLE` if too many wait already. */
  function takeFetch(): number {
    const now = performance.now()
    const at = Math.max(now, (fetches.at(-MAX_FETCHES) ?? Number.NEGATIVE_INFINITY) + refetchMs)
    if (at - now > refetchMs) throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: Math.ceil(refetchMs / 1_000) })
    fetches = [...fetches, at].slice(-MAX_FETCHES)
    return at - now
  }

  async function loadPublicKey(kid: string): Promise<string> {
    const pem = await load(kid)
    requirePublicKey(pem)
    return pem
  }

  function keep(kid: string, pem: Promise<string>): Known {
    const known = { pem, refresh: createFreshness(() => reload(kid)), imported: new Map() }
    keys.set(kid, known)
    return known
  }

  function fetchNew(kid: string): Known {
    const known = keep(
      kid,
      delay(takeFetch()).then(() => loadPublicKey(kid)),
    )
    // The sign-in that awaits the key reports the error.
    known.pem.catch((error) => {
      keys.delete(kid)
      if (error instanceof NotThereError) missing.set(kid, true)
    })
    return known
  }

  /** Keeps the key while the issuer cannot be reached, and drops it when the issuer has no such key any more. */
  async function reload(kid: string): Promise<void> {
    try {
      keep(kid, Promise.resolve(await loadPublicKey(kid)))
    } catch (error) {
      if (error instanceof NotThereError) keys.delete(kid)
      report(error)
    }
  }

  /** Null if the issuer has no key of that name, or if the key is for another algorithm. */
  async function importKey(fetching: Promise<string>, alg: string): Promise<CryptoKey | null> {
    try {
      const pem = await fetching
      return await importSPKI(pem, alg).catch(reportNoKey)
    } catch (error) {
      if (error instanceof NotThereError) return reportNoKey(error)
      throw error
    }
  }

  function reportNoKey(error: unknown): null {
    report(error)
    return null
  }

  return {
    async keyFor({ kid, alg }) {
      if (kid === undefined || alg === undefined || !KID.test(kid)) return null
      await keys.get(kid)?.refresh()
      if (missing.has(kid)) return null
      const known = keys.get(kid) ?? fetchNew(kid)
      const key = known.imported.get(alg) ?? importKey(known.pem, alg)
      known.imported.set(alg, key)
      return key
    },
  }
}

/** Refuses private keys: createPublicKey would silently take the public half. */
function requirePublicKey(pem: string): void {
  if (!pem.includes('-----BEGIN PUBLIC KEY-----')) throw new Error('the key is not a public key in PEM')
  createPublicKey(pem)
}
