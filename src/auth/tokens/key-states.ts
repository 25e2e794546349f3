// Tells the state of each signing key in its life cycle: published, signing, still verifying, or spent.
import { KEYS_MAX_AGE_MS } from './keyset.ts'

/** Maximum difference between the clocks of the gateways and of the operator's machine. */
const CLOCK_SKEW_MS = 60_000

/**
 * `next`: published, but does not sign yet. `signing`: signs new tokens. `verifying`: another key signs, but tokens
 * signed by this one may still be in use. `spent`: no token signed by this key can still be valid.
 */
export type KeyState = 'next' | 'signing' | 'verifying' | 'spent'

export interface KeyStanding {
  readonly state: KeyState
  /** When the last token of a `verifying` key expires, in milliseconds since the epoch; null in other states. */
  readonly neededUntil: number | null
}

/** Takes keys newest first, and returns one standing per key in the same order. */
export function standingsOf(
  keys: readonly { readonly createdAt: number }[],
  { now, accessTokenTtlSeconds }: { readonly now: number; readonly accessTokenTtlSeconds: number },
): readonly KeyStanding[] {
  const inForce = keys.findIndex(({ createdAt }) => createdAt <= now)
  const signing = inForce === -1 ? keys.length - 1 : inForce
  return keys.map((_, index) => {
    if (index < signing) return { state: 'next', neededUntil: null }
    if (index === signing) return { state: 'signing', neededUntil: null }
    const takenOverAt = keys[index - 1]?.createdAt ?? now
    const neededUntil = takenOverAt + KEYS_MAX_AGE_MS + accessTokenTtlSeconds * 1_000 + CLOCK_SKEW_MS
    return now < neededUntil ? { state: 'verifying', neededUntil } : { state: 'spent', neededUntil: null }
  })
}
