// Makes a request that has already begun wait for a turn before work that may take as long as several short requests.
import type { Caller } from '../../auth/caller.ts'
import { GatewayError } from '../../errors.ts'
import { type Admission, MAX_QUOTA } from './admission.ts'
import type { OwnerOf } from './request-owner.ts'

/** One shared error: under overload, capturing a stack for each would cost as much as the refusal. */
export const OVERLOADED = new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })

/**
 * Takes `places` of a turn; a short request takes one. More places than a turn has count as the whole turn. Returns
 * null when they are free now. Otherwise resolves when they are, and rejects with `UNAVAILABLE` under overload.
 */
export type TakeTurn = (caller: Caller, places: number) => Promise<void> | null

export function createTakeTurn({ tryBegin, wait }: Pick<Admission, 'tryBegin' | 'wait'>, ownerOf: OwnerOf): TakeTurn {
  return (caller, places) => {
    const arrival = { places: Math.min(places, MAX_QUOTA), isFirstOfConnection: false }
    if (tryBegin(arrival)) return null
    return wait(ownerOf(caller), arrival).then((outcome) => {
      if (outcome !== 'begins') throw OVERLOADED
    })
  }
}
