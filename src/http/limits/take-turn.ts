// Work of a request that has begun, and may take as long as several short requests: done when there is room for it in a turn.
import type { Caller } from '../../auth/caller.ts'
import { GatewayError } from '../../errors.ts'
import { type Admission, MAX_QUOTA } from './admission.ts'
import type { OwnerOf } from './request-owner.ts'

/** One for all: with more requests than can be answered, each stack would cost as much as the refusal. */
export const OVERLOADED = new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })

/**
 * `places` of a turn, of which a short request takes one; of more than a turn has, all. Null when they are free; else resolves when they are, and rejects with `UNAVAILABLE`
 * under overload.
 */
export type TakeTurn = (caller: Caller, places: number) => Promise<void> | null

export function createTakeTurn({ isFree, wait }: Pick<Admission, 'isFree' | 'wait'>, ownerOf: OwnerOf): TakeTurn {
  return (caller, places) => {
    const arrival = { places: Math.min(places, MAX_QUOTA), isFirstOfConnection: false }
    if (isFree(arrival)) return null
    return wait(ownerOf(caller), arrival).then((cameTo) => {
      if (cameTo !== 'begins') throw OVERLOADED
    })
  }
}
