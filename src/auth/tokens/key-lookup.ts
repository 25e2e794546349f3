// Finds the key that verifies a token of this gateway.
import type { CryptoKey } from 'jose'
import { JOSEAlgNotAllowed, JWKSNoMatchingKey } from 'jose/errors'
import type { Keyset } from './keyset.ts'

/** Takes a token's protected header. Allows only the key's own algorithm (RFC 8725 section 3.1). */
type KeyLookup = (header: { readonly kid?: string; readonly alg?: string }) => Promise<CryptoKey>

/** The returned function is an argument of `jwtVerify`. */
export function createKeyLookup(keyset: Pick<Keyset, 'keyOf'>): KeyLookup {
  return async ({ kid, alg }) => {
    const key = kid === undefined ? null : await keyset.keyOf(kid)
    if (!key) throw new JWKSNoMatchingKey()
    if (alg !== key.algorithm) throw new JOSEAlgNotAllowed()
    return key.publicKey
  }
}
