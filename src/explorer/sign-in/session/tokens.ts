// Holds tokens and decodes the claims of an access token.

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

/** Tokens as one tab sends them to another. Both tabs share one clock, so absolute times are comparable. */
export interface HandedTokens extends Tokens {
  /** Arrival time of the access token, in milliseconds since the epoch. */
  readonly receivedAt: number
  /**
   * Time of the sign-in, in milliseconds since the epoch. 0 when no person signed in, as for the demo user, or when the
   * time is unknown, as after a reload. Undefined when the sending tab was opened before an upgrade.
   */
  readonly signedInAt: number | undefined
}

export interface HeldToken {
  readonly accessToken: string
  readonly receivedAt: number
  readonly email: string
  /**
   * Expiry in milliseconds since the epoch, by this machine's clock. It is counted from the arrival of the token, so a
   * wrong clock does no harm.
   */
  readonly endsAt: number
  /** From this time on, the token is renewed before the next request. */
  readonly renewAt: number
}

/** A token is renewed this long before it ends, or in the last quarter of its life if that is shorter. */
const RENEW_BEFORE_MS = 30_000

export function holdToken(accessToken: string, receivedAt: number): HeldToken {
  const claims = JSON.parse(decodePart(accessToken.split('.')[1] ?? '')) as Readonly<Record<string, unknown>>
  const statedMs = (Number(claims.exp) - Number(claims.iat)) * 1_000
  // Both claims are whole seconds, rounded down, so up to one second may already have passed.
  const lifetimeMs = Math.max(statedMs - 1_000, statedMs / 2)
  const endsAt = receivedAt + lifetimeMs
  return {
    accessToken,
    receivedAt,
    email: String(claims.sub),
    endsAt,
    renewAt: endsAt - Math.min(RENEW_BEFORE_MS, lifetimeMs / 4),
  }
}

export function emailOf({ accessToken }: Tokens): string {
  return holdToken(accessToken, 0).email
}

/** Whether `one` signed in later than `other`. On equal times the tokens decide, so that every tab chooses the same. */
export function isLater(one: HandedTokens, other: HandedTokens): boolean {
  if (one.signedInAt === undefined || other.signedInAt === undefined) return false
  if (one.signedInAt === other.signedInAt) return one.refreshToken > other.refreshToken
  return one.signedInAt > other.signedInAt
}

function decodePart(part: string): string {
  const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  )
  return new TextDecoder().decode(bytes)
}
