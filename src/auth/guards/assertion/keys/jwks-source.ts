// A key source that loads a JWK Set (RFC 7517 section 5) on first use, and again when it is old or lacks a key.
import { setTimeout as delay } from 'node:timers/promises'
import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { errors } from 'jose'
import { createLocalJWKSet } from 'jose/jwks/local'
import { createFreshness } from './freshness.ts'
import type { KeySource, KeySourceOptions } from './key-source.ts'

/** jose's errors for a header that no key of the set fits. */
const NO_KEY = [errors.JWKSNoMatchingKey, errors.JOSENotSupported]

type FindKey = (header: JWSHeaderParameters) => Promise<CryptoKey>

interface Loaded {
  readonly find: FindKey
  /** Await this before the set is used. */
  readonly refresh: () => Promise<void>
}

/**
 * Sign-ins that need an unknown key wait for the next load, which they share. So a key rotation fails no sign-in, and
 * any number of unknown keys causes one load per `refetchMs`. The last set stays in use while the issuer cannot be
 * reached.
 */
export function createJwksSource(
  load: () => Promise<JSONWebKeySet>,
  { refetchMs, report }: KeySourceOptions,
): KeySource {
  let loaded: Loaded | null = null
  let askedAt = Number.NEGATIVE_INFINITY
  let loading: Promise<void> | null = null
  /** Whether the issuer is being asked: a key that it publishes from now on may be missing in its answer. */
  let isAsking = false

  async function loadOnce(): Promise<void> {
    await delay(Math.max(0, askedAt + refetchMs - performance.now()))
    askedAt = performance.now()
    isAsking = true
    loaded = { find: keyFinder(await load()), refresh: createFreshness(reload) }
  }

  /** Callers share the load until it ends. A failure leaves the set as it is. */
  function loadNext(): Promise<void> {
    loading ??= loadOnce().finally(() => {
      loading = null
      isAsking = false
    })
    return loading
  }

  async function reload(): Promise<void> {
    try {
      await loadNext()
    } catch (error) {
      report(error)
    }
  }

  /** Rejects if the issuer cannot be reached: then nobody knows whether the key exists. */
  async function keyOfNextLoad(header: JWSHeaderParameters): Promise<CryptoKey | null> {
    await loadNext()
    return loaded && keyIn(loaded.find, header)
  }

  /** Null also for a fault of the set, which the issuer may have mended: the next load tells. */
  async function knownKey(header: JWSHeaderParameters): Promise<CryptoKey | null> {
    return loaded && keyIn(loaded.find, header).catch(() => null)
  }

  return {
    async keyFor(header) {
      await loaded?.refresh()
      const known = await knownKey(header)
      if (known) return known
      const mayBeLate = isAsking
      const found = await keyOfNextLoad(header)
      return found === null && mayBeLate ? keyOfNextLoad(header) : found
    },
  }
}

/** A set of a single key without a name, such as a PEM file, matches any key name in a token. */
function keyFinder(set: JSONWebKeySet): FindKey {
  const find = createLocalJWKSet(set)
  const [only] = set.keys
  if (set.keys.length !== 1 || only?.kid !== undefined) return find
  return ({ kid: _, ...header }) => find(header)
}

/**
 * Several keys that match a token without a key name are none: with several keys, the name is required (OpenID Connect
 * Core 1.0 section 10.1). Several of one name (RFC 7517 section 4.5), or a key that cannot be used, such as a private
 * one, are a fault of the issuer. jose's error for it would be taken for one of the token.
 */
async function keyIn(find: FindKey, header: JWSHeaderParameters): Promise<CryptoKey | null> {
  try {
    return await find(header)
  } catch (error) {
    if (NO_KEY.some((type) => error instanceof type)) return null
    if (error instanceof errors.JWKSMultipleMatchingKeys) {
      if (header.kid === undefined) return null
      throw new Error('the issuer has several keys of the same name (kid)', { cause: error })
    }
    throw new Error('the key of the issuer cannot be used', { cause: error })
  }
}
