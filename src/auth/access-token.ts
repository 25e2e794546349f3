// Access tokens: JWTs in the profile of RFC 9068, issued and verified here and nowhere else.
import { randomUUID } from 'node:crypto'
import { type CryptoKey, errors, jwtVerify, SignJWT } from 'jose'
import type { Awaitable } from '../store/store.ts'
import { ALGORITHM, type Keyset } from './keyset.ts'

const TYPE = 'at+jwt'
const REQUIRED_CLAIMS = ['exp', 'iat', 'sub', 'sid', 'jti']
const MAX_TOKEN_LENGTH = 4_096

export interface AccessTokenOptions {
  readonly issuer: string
  readonly audience: string
  readonly ttlSeconds: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

export interface AccessTokenClaims {
  readonly sessionId: string
  readonly email: string
}

export interface AccessTokens {
  readonly issue: (claims: AccessTokenClaims) => Promise<string>
  /**
   * Null for whatever is not, or no longer, a valid access token of this gateway. Says nothing of the session.
   * There at once for a token that was verified before: its signature stays good, its key and its time are checked.
   */
  readonly verify: (token: string) => Awaitable<AccessTokenClaims | null>
}

/** Verified tokens that are remembered, some 700 bytes each. */
const MAX_VERIFIED = 20_000

interface VerifiedToken extends AccessTokenClaims {
  readonly kid: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export function createAccessTokens(keyset: Keyset, options: AccessTokenOptions): AccessTokens {
  const { issuer, audience, ttlSeconds, clock } = options
  const verified = new Map<string, VerifiedToken>()

  function remember(token: string, claims: VerifiedToken): VerifiedToken {
    verified.set(token, claims)
    if (verified.size > MAX_VERIFIED) {
      const [oldest] = verified.keys()
      if (oldest !== undefined) verified.delete(oldest)
    }
    return claims
  }

  async function verifyAgain(token: string, claims: VerifiedToken): Promise<AccessTokenClaims | null> {
    if (await keyset.keyOf(claims.kid)) return claims
    verified.delete(token)
    return null
  }

  async function verifySignature(token: string): Promise<AccessTokenClaims | null> {
    if (token.length > MAX_TOKEN_LENGTH || !isCanonicallySpelled(token)) return null
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keyOf, {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer,
        audience,
        requiredClaims: REQUIRED_CLAIMS,
        currentDate: new Date(clock()),
      })
      const { sid, sub, exp } = payload
      const { kid } = protectedHeader
      if (typeof sid !== 'string' || typeof sub !== 'string' || exp === undefined || kid === undefined) return null
      return remember(token, { sessionId: sid, email: sub, kid, expiresAt: exp * 1_000 })
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }

  async function keyOf({ kid }: { readonly kid?: string }): Promise<CryptoKey> {
    const key = kid === undefined ? null : await keyset.keyOf(kid)
    if (!key) throw new errors.JWKSNoMatchingKey()
    return key.publicKey
  }

  return {
    async issue({ sessionId, email }) {
      const { kid, privateKey } = await keyset.signingKey()
      const issuedAt = Math.floor(clock() / 1_000)
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(email)
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ttlSeconds)
        .sign(privateKey)
    },

    verify(token) {
      const known = verified.get(token)
      if (!known) return verifySignature(token)
      if (clock() >= known.expiresAt) {
        verified.delete(token)
        return null
      }
      return keyset.isCurrent(known.kid) ? known : verifyAgain(token, known)
    },
  }
}

/**
 * Base64url has spare bits and decoders tolerate foreign characters, so one token can be spelled in several ways.
 * Only the spelling that was issued is accepted (RFC 7515 section 2: no padding, no other characters).
 */
function isCanonicallySpelled(token: string): boolean {
  const parts = token.split('.')
  return parts.length === 3 && parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
}
