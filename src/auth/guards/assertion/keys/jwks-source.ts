// A set of keys (RFC 7517 section 5) that is loaded when it is needed, and again when it is old or lacks a key.
import { setTimeout as delay } from 'node:timers/promises'
import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { errors } from 'jose'
import { createLocalJWKSet } from 'jose/jwks/local'
import type { KeySource, KeySourceOptions } from './key-source.ts'

/** After this the set is loaded again behind the next sign-in, so that keys the issuer withdrew end. */
const MAX_AGE_MS = 600_000

type FindKey = (header: JWSHeaderParameters) => Promise<CryptoKey>

/**
 * A sign-in that needs an unknown key waits for the next load, and all wait for the same one: a rotation fails no sign-in, and any
 * number of unknown keys is one load in `refetchMs`. The last set stays while the issuer cannot be reached.
 */
export function createJwksSource(
  load: () => Promise<JSONWebKeySet>,
  { refetchMs, report }: KeySourceOptions,
): KeySource {
  let find: FindKey | null = null
  let loadedAt = Number.NEGATIVE_INFINITY
  let loading: Promise<void> | null = null

  async function loadOnce(): Promise<void> {
    await delay(Math.max(0, loadedAt + refetchMs - performance.now()))
    loadedAt = performance.now()
    find = keyFinder(await load())
  }

  /** When the first load fails, those who wait for it fail. Later failures leave the set as it is. */
  async function reload(): Promise<void> {
    loading ??= loadOnce().finally(() => {
      loading = null
    })
    try {
      await loading
    } catch (error) {
      if (!find) throw error
      report(error)
    }
  }

  return {
    async keyFor(header) {
      if (find && performance.now() - loadedAt > MAX_AGE_MS) void reload()
      const known = find && (await keyIn(find, header))
      if (known) return known
      await reload()
      return find && keyIn(find, header)
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
