// Issues and verifies access tokens, which are JWTs in the profile of RFC 9068, but without its `client_id`.
import { randomUUID } from 'node:crypto'
import { JOSEError } from 'jose/errors'
import { jwtVerify } from 'jose/jwt/verify'
import type { Awaitable } from '../../store/awaitable.ts'
import { createKeyLookup } from './key-lookup.ts'
import type { Keyset } from './keyset.ts'
import type { SigningKey } from './signing-key.ts'
import { TOKEN_ALGORITHM_NAMES, TOKEN_ALGORITHMS } from './token-algorithms.ts'

const TYPE = 'at+jwt'
const REQUIRED_CLAIMS = ['exp', 'iat', 'sub', 'sid', 'jti']
/** A longer token is refused without a look at its signature. */
export const MAX_TOKEN_LENGTH = 4_096
/** By so much the clock of another gateway may be ahead. The iat of a token is rounded down to whole seconds. */
const MAX_AHEAD_MS = 60_000
/** Characters at the end of a signature that serve as its key: 18 bytes, enough to be unique. */
const SIGNATURE_END = 24
/** Maximum number of cached tokens, some 700 bytes each. */
const MAX_KNOWN = 65_536

export interface AccessTokenOptions {
  readonly issuer: string
  readonly audience: string
  readonly ttlSeconds: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /**
   * Called with each valid token, seen for the first time, that was issued by a clock more than a minute ahead of this
   * one: another gateway's, or that of this one before it was set back.
   */
  readonly onIssuedAhead?: ((aheadMs: number) => void) | undefined
  /** Maximum number of cached tokens, instead of 65,536. */
  readonly maxKnown?: number
}

export interface AccessTokenClaims {
  readonly sessionId: string
  readonly email: string
}

export interface AccessTokens {
  readonly issue: (claims: AccessTokenClaims) => Promise<string>
  /**
   * Null unless the text is a valid, unexpired access token of this gateway. Does not check the session. Synchronous
   * for a token that this process issued or verified before, if its key is known to exist: only the key and the expiry
   * are checked again.
   */
  readonly verify: (token: string) => Awaitable<AccessTokenClaims | null>
  /**
   * The email of a token that this process issued or verified before, even if it is no longer valid; null for any
   * other.
   */
  readonly emailOf: (token: string) => string | null
}

interface KnownToken extends AccessTokenClaims {
  readonly token: string
  readonly kid: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export function createAccessTokens(keyset: Keyset, options: AccessTokenOptions): AccessTokens {
  const { issuer, audience, ttlSeconds, clock, onIssuedAhead, maxKnown = MAX_KNOWN } = options
  const keyOf = createKeyLookup(keyset)
  // A cache by signature in two generations: a token that is not used while the younger one fills is evicted with the
  // older one.
  let younger = new Map<string, KnownToken>()
  let older = new Map<string, KnownToken>()

  function remember(known: KnownToken): KnownToken {
    if (younger.size >= maxKnown / 2) {
      older = younger
      younger = new Map()
    }
    younger.set(signatureOf(known.token), known)
    return known
  }

  function recall(token: string): KnownToken | undefined {
    const signature = signatureOf(token)
    const found = younger.get(signature)
    if (found) return found.token === token ? found : undefined
    const aged = older.get(signature)
    return aged?.token === token ? remember(aged) : undefined
  }

  function forget(token: string): void {
    younger.delete(signatureOf(token))
    older.delete(signatureOf(token))
  }

  async function verifyAgain(token: string, claims: KnownToken): Promise<AccessTokenClaims | null> {
    if (await keyset.keyOf(claims.kid)) return claims
    forget(token)
    return null
  }

  async function verifySignature(token: string): Promise<AccessTokenClaims | null> {
    if (token.length > MAX_TOKEN_LENGTH || !isCanonicallySpelled(token)) return null
    try {
      const now = clock()
      const { payload, protectedHeader } = await jwtVerify(token, keyOf, {
        algorithms: [...TOKEN_ALGORITHM_NAMES],
        typ: TYPE,
        issuer,
        audience,
        requiredClaims: REQUIRED_CLAIMS,
        currentDate: new Date(now),
      })
      const { sid, sub, iat, exp } = payload
      const { kid } = protectedHeader
      if (typeof sid !== 'string' || typeof sub !== 'string' || exp === undefined || kid === undefined) return null
      const aheadMs = Number(iat) * 1_000 - now
      if (aheadMs > MAX_AHEAD_MS) onIssuedAhead?.(aheadMs)
      return remember({ token, sessionId: sid, email: sub, kid, expiresAt: exp * 1_000 })
    } catch (error) {
      if (error instanceof JOSEError) return null
      throw error
    }
  }

  let header = { kid: '', part: '' }

  function headerPart({ kid, algorithm }: SigningKey): string {
    if (header.kid !== kid) header = { kid, part: toPart({ alg: algorithm, typ: TYPE, kid }) }
    return header.part
  }

  return {
    async issue({ sessionId, email }) {
      const key = await keyset.signingKey()
      const { kid, algorithm, privateKey } = key
      const iat = Math.floor(clock() / 1_000)
      const exp = iat + ttlSeconds
      const payload = { sid: sessionId, iss: issuer, aud: audience, sub: email, jti: randomUUID(), iat, exp }
      const input = `${headerPart(key)}.${toPart(payload)}`
      const signature = TOKEN_ALGORITHMS[algorithm].sign(Buffer.from(input), privateKey)
      const token = `${input}.${signature.toString('base64url')}`
      remember({ token, sessionId, email, kid, expiresAt: exp * 1_000 })
      return token
    },

    verify(token) {
      const known = recall(token)
      if (!known) return verifySignature(token)
      if (clock() >= known.expiresAt) {
        forget(token)
        return null
      }
      return keyset.isCurrent(known.kid) ? known : verifyAgain(token, known)
    },

    emailOf: (token) => recall(token)?.email ?? null,
  }
}

/**
 * The end of the signature, which is the cache key. It is short because the time of a lookup grows with the key's
 * length.
 */
function signatureOf(token: string): string {
  return token.slice(-SIGNATURE_END)
}

/** A part of the compact serialization (RFC 7515 section 3.1). */
function toPart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/**
 * Base64url has spare bits, and decoders tolerate foreign characters, so one token has several spellings.
 * Only the issued spelling is accepted (RFC 7515 section 2: no padding, no other characters).
 */
function isCanonicallySpelled(token: string): boolean {
  const parts = token.split('.')
  return parts.length === 3 && parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
}
