// Where each signing key stands in its life: published, signing, still verifying, or of no use any more.
import { KEYS_MAX_AGE_MS } from './keyset.ts'

/** How far the clocks of gateways and of the operator's machine may differ. */
const CLOCK_SKEW_MS = 60_000

/**
 * `next`: published, its time to sign has not come. `signing`: signs new tokens. `verifying`: another one has taken over,
 * and tokens of it may still be in use. `spent`: no token of it can be valid any more.
 */
export type KeyState = 'next' | 'signing' | 'verifying' | 'spent'

export interface KeyStanding {
  readonly state: KeyState
  /** When the last token of a `verifying` key has ended, in milliseconds since the epoch; null otherwise. */
  readonly neededUntil: number | null
}

/** One answer per key, in the order given: newest first. */
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
