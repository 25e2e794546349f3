// Keys that are fetched one by one, as PEM under the key's own address: AWS load balancers publish theirs so.
import { createPublicKey } from 'node:crypto'
import type { CryptoKey } from 'jose'
import { importSPKI } from 'jose/key/import'
import { LRUCache } from 'lru-cache'
import { NotThereError } from './fetch-text.ts'
import { createFreshness } from './freshness.ts'
import type { KeySource, KeySourceOptions } from './key-source.ts'

/** What a key may be called: it becomes part of an address. */
const KID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/
const MAX_KEYS = 16
/** Within `refetchMs`. Past that, a request for an unknown key is answered that there is none. */
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
 * in `refetchMs`, besides those of keys that are known and old.
 */
export function createPemSource(
  load: (kid: string) => Promise<string>,
  { refetchMs, report }: KeySourceOptions,
): KeySource {
  const keys = new LRUCache<string, Known>({ max: MAX_KEYS })
  let fetches: readonly number[] = []

  function mayFetch(): boolean {
    const now = performance.now()
    fetches = fetches.filter((at) => now - at < refetchMs)
    if (fetches.length >= MAX_FETCHES) return false
    fetches = [...fetches, now]
    return true
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

  function fetchNew(kid: string): Known | null {
    if (!mayFetch()) return null
    const known = keep(kid, loadPublicKey(kid))
    // Whoever waits for it reports it.
    known.pem.catch(() => keys.delete(kid))
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

  async function importKey(pem: Promise<string>, alg: string): Promise<CryptoKey | null> {
    try {
      return await importSPKI(await pem, alg)
    } catch (error) {
      report(error)
      return null
    }
  }

  return {
    async keyFor({ kid, alg }) {
      if (kid === undefined || alg === undefined || !KID.test(kid)) return null
      await keys.get(kid)?.refresh()
      const known = keys.get(kid) ?? fetchNew(kid)
      if (!known) return null
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
