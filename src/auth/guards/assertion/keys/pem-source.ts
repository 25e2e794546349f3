// Keys that are fetched one by one, as PEM under the key's own address: AWS load balancers publish theirs so.
import { createPublicKey } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { CryptoKey } from 'jose'
import { importSPKI } from 'jose/key/import'
import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../../../errors.ts'
import { NotThereError } from './fetch-text.ts'
import { createFreshness } from './freshness.ts'
import type { KeySource, KeySourceOptions } from './key-source.ts'

/** What a key may be called: it becomes part of an address. */
const KID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/
const MAX_KEYS = 16
/** Within `refetchMs`. As many more wait for theirs. Past that, nobody knows whether an unknown key is one of the issuer. */
const MAX_FETCHES = 2

interface Known {
  readonly pem: Promise<string>
  /** To be waited for before it is used. */
  readonly refresh: () => Promise<void>
  /** By algorithm, null where the key is of none such: a token may name another than the issuer means. */
  readonly imported: Map<string, Promise<CryptoKey | null>>
}

/**
 * `load` answers the PEM of a key by its name. Sign-ins that need the same key wait for the same fetch. There are at most `MAX_FETCHES` of them
 * in `refetchMs`, besides those of keys that are known and old. A key that is not there is not looked for again within that time.
 */
export function createPemSource(
  load: (kid: string) => Promise<string>,
  { refetchMs, report }: KeySourceOptions,
): KeySource {
  const keys = new LRUCache<string, Known>({ max: MAX_KEYS })
  const missing = new LRUCache<string, true>({ max: MAX_KEYS, ttl: refetchMs })
  /** When the last ones begin, some of which may wait. */
  let fetches: readonly number[] = []

  /** How long one more has to wait. Throws `UNAVAILABLE`. */
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
    // Whoever waits for it reports it.
    known.pem.catch((error) => {
      keys.delete(kid)
      if (error instanceof NotThereError) missing.set(kid, true)
    })
    return known
  }

  /** A key stays while the issuer cannot be reached, and ends when it has none of that name any more. */
  async function reload(kid: string): Promise<void> {
    try {
      keep(kid, Promise.resolve(await loadPublicKey(kid)))
    } catch (error) {
      if (error instanceof NotThereError) keys.delete(kid)
      report(error)
    }
  }

  /** Null where the issuer has no key of that name, or one of another algorithm. */
  async function importKey(fetching: Promise<string>, alg: string): Promise<CryptoKey | null> {
    try {
      const pem = await fetching
      return await importSPKI(pem, alg).catch(noneBecause)
    } catch (error) {
      if (error instanceof NotThereError) return noneBecause(error)
      throw error
    }
  }

  function noneBecause(error: unknown): null {
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

/** A private key would be read as its public half. */
function requirePublicKey(pem: string): void {
  if (!pem.includes('-----BEGIN PUBLIC KEY-----')) throw new Error('the key is not a public key in PEM')
  createPublicKey(pem)
}
