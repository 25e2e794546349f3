// A set of keys (RFC 7517 section 5) that is loaded when it is needed, and again when it is old or lacks a key.
import { setTimeout as delay } from 'node:timers/promises'
import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { errors } from 'jose'
import { createLocalJWKSet } from 'jose/jwks/local'
import { createFreshness } from './freshness.ts'
import type { KeySource, KeySourceOptions } from './key-source.ts'

type FindKey = (header: JWSHeaderParameters) => Promise<CryptoKey>

interface Loaded {
  readonly find: FindKey
  /** To be waited for before it is used. */
  readonly refresh: () => Promise<void>
}

/**
 * A sign-in that needs an unknown key waits for the next load, and all wait for the same one: a rotation fails no sign-in, and any
 * number of unknown keys is one load in `refetchMs`. The last set stays while the issuer cannot be reached.
 */
export function createJwksSource(
  load: () => Promise<JSONWebKeySet>,
  { refetchMs, report }: KeySourceOptions,
): KeySource {
  let loaded: Loaded | null = null
  let askedAt = Number.NEGATIVE_INFINITY
  let loading: Promise<void> | null = null

  async function loadOnce(): Promise<void> {
    await delay(Math.max(0, askedAt + refetchMs - performance.now()))
    askedAt = performance.now()
    loaded = { find: keyFinder(await load()), refresh: createFreshness(reload) }
  }

  /** When the first load fails, those who wait for it fail. Later failures leave the set as it is. */
  async function reload(): Promise<void> {
    loading ??= loadOnce().finally(() => {
      loading = null
    })
    try {
      await loading
    } catch (error) {
      if (!loaded) throw error
      report(error)
    }
  }

  return {
    async keyFor(header) {
      await loaded?.refresh()
      const known = loaded && (await keyIn(loaded.find, header))
      if (known) return known
      await reload()
      return loaded && keyIn(loaded.find, header)
    },
  }
}

/** A set of one key without a name, such as a PEM file, is for whatever name a token gives its key. */
function keyFinder(set: JSONWebKeySet): FindKey {
  const find = createLocalJWKSet(set)
  const [only] = set.keys
  if (set.keys.length !== 1 || only?.kid !== undefined) return find
  return ({ kid: _, ...header }) => find(header)
}

async function keyIn(find: FindKey, header: JWSHeaderParameters): Promise<CryptoKey | null> {
  try {
    return await find(header)
  } catch (error) {
    // Also when several fit, which an issuer that names none of its keys must not have.
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}
