// Issues and verifies probe tokens, which prove that the caller can read the database: they are signed with a key that
// is stored there. The probe endpoint shows such a caller how the gateway sees the request.
import { JOSEError } from 'jose/errors'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { createKeyLookup } from './key-lookup.ts'
import type { Keyset } from './keyset.ts'
import type { SigningKey } from './signing-key.ts'
import { TOKEN_ALGORITHM_NAMES } from './token-algorithms.ts'

/** No other token has this type, so neither kind of token is accepted as the other (RFC 8725 section 3.11). */
const TYPE = 'probe+jwt'
const TTL_SECONDS = 120
const MAX_LENGTH = 4_096

export function issueProbeToken({ kid, algorithm, privateKey }: SigningKey, now: number): Promise<string> {
  const expiresAt = Math.floor(now / 1_000) + TTL_SECONDS
  return new SignJWT()
    .setProtectedHeader({ alg: algorithm, typ: TYPE, kid })
    .setExpirationTime(expiresAt)
    .sign(privateKey)
}

export async function isProbeToken(token: string, keyset: Keyset, now: number): Promise<boolean> {
  if (token.length > MAX_LENGTH) return false
  try {
    await jwtVerify(token, createKeyLookup(keyset), {
      algorithms: [...TOKEN_ALGORITHM_NAMES],
      typ: TYPE,
      requiredClaims: ['exp'],
      currentDate: new Date(now),
    })
    return true
  } catch (error) {
    if (error instanceof JOSEError) return false
    throw error
  }
}
