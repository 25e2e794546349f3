// Access tokens: JWTs in the profile of RFC 9068, issued and verified here and nowhere else.
import { randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
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
  /** Null for whatever is not, or no longer, a valid access token of this gateway. Says nothing of the session. */
  readonly verify: (token: string) => Promise<AccessTokenClaims | null>
}

export function createAccessTokens(keyset: Keyset, options: AccessTokenOptions): AccessTokens {
  const { issuer, audience, ttlSeconds, clock } = options
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

    async verify(token) {
      if (token.length > MAX_TOKEN_LENGTH || !isCanonicallySpelled(token)) return null
      try {
        const { payload } = await jwtVerify(
          token,
          async ({ kid }) => {
            const key = kid === undefined ? null : await keyset.keyOf(kid)
            if (!key) throw new errors.JWKSNoMatchingKey()
            return key.publicKey
          },
          {
            algorithms: [ALGORITHM],
            typ: TYPE,
            issuer,
            audience,
            requiredClaims: REQUIRED_CLAIMS,
            currentDate: new Date(clock()),
          },
        )
        const { sid, sub } = payload
        return typeof sid === 'string' && typeof sub === 'string' ? { sessionId: sid, email: sub } : null
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
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
