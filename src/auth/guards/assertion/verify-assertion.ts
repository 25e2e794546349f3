// Whose email a signed assertion proves (RFC 7519), and nothing else: every other claim is left to the proxy.
import { type CompactJWSHeaderParameters, errors, type JWTPayload } from 'jose'
import { jwtVerify } from 'jose/jwt/verify'
import { canonicalEmail } from '../../email.ts'
import type { KeySource } from './keys/key-source.ts'
import type { AssertionSettings } from './settings.ts'

/** Longer ones are not looked at. */
const MAX_TOKEN_LENGTH = 16_384

/** Why an assertion is refused: for the client, so in words that tell an attacker nothing they do not know. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** The canonical email. Throws `AssertionError`; or what went wrong with the keys. `now` in milliseconds since the epoch. */
export async function verifyAssertion(
  token: string,
  settings: AssertionSettings,
  keys: KeySource,
  now: number,
): Promise<string> {
  if (token.length > MAX_TOKEN_LENGTH) throw new AssertionError('it is too long')
  const { payload, protectedHeader } = await verifySignature(token, settings, keys, now)
  requireKind(protectedHeader)
  requireAudience(payload, protectedHeader, settings)
  requireAge(payload, settings, now)
  const claimed = payload[settings.emailClaim]
  const email = typeof claimed === 'string' ? canonicalEmail(claimed) : null
  if (email === null) throw new AssertionError('it names no email')
  if (!isVerified(payload.email_verified, settings)) throw new AssertionError('its email is not verified')
  return email
}

/** Keys in the token itself (`jwk`, `jku`, `x5c`, `x5u`) are not looked at; extensions (`crit`) are refused. */
async function verifySignature(token: string, settings: AssertionSettings, keys: KeySource, now: number) {
  try {
    return await jwtVerify(
      token,
      async (header) => {
        const key = await keys.keyFor(header)
        if (key === null) throw new AssertionError('its key is not one of the issuer')
        return key
      },
      {
        algorithms: [...settings.algorithms],
        ...(settings.issuer === null ? {} : { issuer: settings.issuer }),
        ...(settings.audienceIn === 'aud' ? { audience: [...settings.audience] } : {}),
        requiredClaims: ['exp'],
        clockTolerance: settings.leewaySeconds,
        currentDate: new Date(now),
      },
    )
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw new AssertionError('it has expired')
    if (error instanceof errors.JOSEError) throw new AssertionError('it is not valid here')
    throw error
  }
}

/** Access tokens and logout tokens (RFC 9068, RFC 8417) may have the same issuer and audience, and are no assertions. */
function requireKind({ typ }: CompactJWSHeaderParameters): void {
  if (typ !== undefined && typ.toLowerCase() !== 'jwt') throw new AssertionError('it is a token of another kind')
}

function requireAudience(
  { azp }: JWTPayload,
  header: CompactJWSHeaderParameters,
  { audience, audienceIn }: AssertionSettings,
): void {
  const isForUs = (name: unknown) => typeof name === 'string' && audience.includes(name)
  if (audienceIn === 'signer' && !isForUs(header.signer)) throw new AssertionError('it is not valid here')
  // OpenID Connect Core 1.0 section 3.1.3.7: issued to another client, which may have it from its own user.
  if (audienceIn === 'aud' && azp !== undefined && !isForUs(azp)) throw new AssertionError('it is not valid here')
}

function requireAge({ iat }: JWTPayload, { maxAgeSeconds, leewaySeconds }: AssertionSettings, now: number): void {
  const seconds = Math.floor(now / 1_000)
  if (iat !== undefined && iat > seconds + leewaySeconds) throw new AssertionError('it is of the future')
  if (maxAgeSeconds === 0) return
  if (iat === undefined || seconds - iat > maxAgeSeconds + leewaySeconds) throw new AssertionError('it is too old')
}

/** Amazon Cognito writes the boolean as a string. */
function isVerified(claim: unknown, { emailVerified }: AssertionSettings): boolean {
  if (claim === undefined) return emailVerified === 'ifPresent'
  return claim === true || claim === 'true'
}
