// Keys that are fetched one by one, as PEM under the key's own address: AWS load balancers publish theirs so.
import { createPublicKey, type KeyObject } from 'node:crypto'
import type { CryptoKey } from 'jose'
import { importSPKI } from 'jose/key/import'
import { LRUCache } from 'lru-cache'
import type { KeySource, KeySourceOptions } from './key-source.ts'

/** What a key may be called: it becomes part of an address. */
const KID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/
const MAX_KEYS = 16
/** Within `refetchMs`. Past that, a request for an unknown key is answered that there is none. */
const MAX_FETCHES = 2

/**
 * `load` answers the PEM of a key by its name. Sign-ins that need the same key wait for the same fetch. There are at most `MAX_FETCHES` of them
 * in `refetchMs`.
 */
export function createPemSource(
  load: (kid: string) => Promise<string>,
  { refetchMs, report }: KeySourceOptions,
): KeySource {
  const keys = new LRUCache<string, Promise<CryptoKey>>({ max: MAX_KEYS })
  let fetches: readonly number[] = []

  function mayFetch(): boolean {
    const now = performance.now()
    fetches = fetches.filter((at) => now - at < refetchMs)
    if (fetches.length >= MAX_FETCHES) return false
    fetches = [...fetches, now]
    return true
  }

  async function fetchKey(kid: string, alg: string): Promise<CryptoKey> {
    const pem = await load(kid)
    requirePublicKey(pem)
    return importSPKI(pem, alg)
  }

  return {
    async keyFor({ kid, alg }) {
      if (kid === undefined || alg === undefined || !KID.test(kid)) return null
      const known = keys.get(kid)
      if (!known && !mayFetch()) return null
      const key = known ?? fetchKey(kid, alg)
      keys.set(kid, key)
      try {
        return await key
      } catch (error) {
        if (keys.peek(kid) === key) keys.delete(kid)
        if (!known) report(error)
        return null
      }
    },
  }
}

/** A private key would be read as its public half. */
function requirePublicKey(pem: string): KeyObject {
  if (!pem.includes('-----BEGIN PUBLIC KEY-----')) throw new Error('the key is not a public key in PEM')
  return createPublicKey(pem)
}
