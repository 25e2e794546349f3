// Tokens as this page holds them, and what an access token says of itself.

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

/** As one tab gives them to another: the clock is the same. */
export interface HandedTokens extends Tokens {
  /** When the access token arrived, in milliseconds since the epoch. */
  readonly receivedAt: number
  /**
   * When the person signed in; 0 where nobody did, as for the demo user, or it is not known any more, as after a reload. A tab that was
   * opened before an upgrade may not say it.
   */
  readonly signedInAt: number | undefined
}

export interface HeldToken {
  readonly accessToken: string
  readonly receivedAt: number
  readonly email: string
  /** Milliseconds since the epoch by this machine's clock: counted from when the token arrived, so a clock that is wrong does no harm. */
  readonly endsAt: number
  /** From when on a new one is fetched before the next request. */
  readonly renewAt: number
}

/** A token is renewed this long before it ends, or in the last quarter of its life if that is shorter. */
const RENEW_BEFORE_MS = 30_000

export function holdToken(accessToken: string, receivedAt: number): HeldToken {
  const claims = JSON.parse(decodePart(accessToken.split('.')[1] ?? '')) as Readonly<Record<string, unknown>>
  const statedMs = (Number(claims.exp) - Number(claims.iat)) * 1_000
  // Both are whole seconds, rounded down: up to one of them may have passed already.
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

/** Of two sign-ins the later one. Of two in one moment every tab chooses the same. */
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
