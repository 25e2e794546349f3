// Verifies a signed assertion (RFC 7519) and returns the email that it proves. The proxy is responsible for all other
// claims.
import { type CompactJWSHeaderParameters, errors, type JWTPayload } from 'jose'
import { decodeJwt } from 'jose/jwt/decode'
import { jwtVerify } from 'jose/jwt/verify'
import { vouchedEmail } from '../../email.ts'
import type { KeySource } from './keys/key-source.ts'
import type { AssertionSettings } from './settings.ts'

/** Longer tokens are refused without parsing. */
const MAX_TOKEN_LENGTH = 16_384

/** An assertion is refused. The message goes to the client, so it tells an attacker nothing new. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/**
 * Returns the canonical email. Throws `AssertionError`, or the error of loading keys. `now` in milliseconds since the
 * epoch.
 */
export async function verifyAssertion(
  token: string,
  settings: AssertionSettings,
  keys: KeySource,
  now: number,
): Promise<string> {
  if (token.length > MAX_TOKEN_LENGTH) throw new AssertionError(`it is longer than ${MAX_TOKEN_LENGTH} characters`)
  const { payload, protectedHeader } = await verifySignature(token, settings, keys, now)
  requireAudience(payload, protectedHeader, settings)
  requireAge(payload, settings, now)
  const claimed = payload[settings.emailClaim]
  const email = typeof claimed === 'string' ? vouchedEmail(claimed) : null
  if (email === null) throw new AssertionError(`it has no valid email address in the claim ${settings.emailClaim}`)
  if (!isVerified(payload.email_verified, settings)) throw new AssertionError('its email is not verified')
  return email
}

/** Ignores keys in the token itself (`jwk`, `jku`, `x5c`, `x5u`) and refuses extensions (`crit`). */
async function verifySignature(token: string, settings: AssertionSettings, keys: KeySource, now: number) {
  try {
    return await jwtVerify(
      token,
      async (header) => {
        // First what needs no key, so that no sign-in waits for a fetch that cannot help it.
        requireKind(header)
        requireIssuer(decodeJwt(token), settings)
        const key = await keys.keyFor(header)
        if (key === null) throw new AssertionError('it is not signed with a key of its issuer')
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
    if (error instanceof errors.JWTClaimValidationFailed)
      throw new AssertionError(`its claim ${error.claim} is missing or not accepted`)
    if (error instanceof errors.JOSEError)
      throw new AssertionError('its signature is not valid, its algorithm is not accepted, or it is malformed')
    throw error
  }
}

/** Refuses access tokens and logout tokens (RFC 9068, RFC 8417), which may have the same issuer and audience. */
function requireKind({ typ }: CompactJWSHeaderParameters): void {
  if (typ === undefined || (typeof typ === 'string' && typ.toLowerCase() === 'jwt')) return
  throw new AssertionError('it is not an identity token: its typ is not JWT')
}

/** Only saves a fetch of keys: it reads claims that are not verified yet. `jwtVerify` checks the issuer again. */
function requireIssuer({ iss }: JWTPayload, { issuer }: AssertionSettings): void {
  if (issuer !== null && iss !== issuer) throw new AssertionError('its claim iss is missing or not accepted')
}

function requireAudience(
  { azp }: JWTPayload,
  header: CompactJWSHeaderParameters,
  { audience, audienceIn }: AssertionSettings,
): void {
  const isForUs = (name: unknown) => typeof name === 'string' && audience.includes(name)
  if (audienceIn === 'signer' && !isForUs(header.signer))
    throw new AssertionError('its signer is not in assertion-audience')
  // OpenID Connect Core 1.0 section 3.1.3.7: the token was issued to another client, which may have got it from one of
  // its own users.
  if (audienceIn === 'aud' && azp !== undefined && !isForUs(azp))
    throw new AssertionError('its claim azp is not in assertion-audience')
}

function requireAge({ iat }: JWTPayload, { maxAgeSeconds, leewaySeconds }: AssertionSettings, now: number): void {
  const seconds = Math.floor(now / 1_000)
  if (iat !== undefined && iat > seconds + leewaySeconds)
    throw new AssertionError('it was issued in the future: check the clocks')
  if (maxAgeSeconds === 0) return
  if (iat === undefined || seconds - iat > maxAgeSeconds + leewaySeconds) throw new AssertionError('it is too old')
}

/** Also accepts the string `true`, because Amazon Cognito writes the boolean as a string. */
function isVerified(claim: unknown, { emailVerified }: AssertionSettings): boolean {
  if (claim === undefined) return emailVerified === 'ifPresent'
  return claim === true || claim === 'true'
}
