// Which project of a user has which reference at this line of a file.
import type { LinePlace } from '../format/lines.ts'
import { createPlaceIndex, type HashOf } from './place-index.ts'

export interface RefClaim {
  readonly email: string
  readonly ref: string
  /** Of the document that claims it. */
  readonly id: string
}

export interface RefClaims {
  /** False when another document of the user has claimed the reference before. `place` is where this one stands. */
  readonly claim: (claim: RefClaim, place: LinePlace) => boolean
  /** Whether a document of the user has claimed the reference, and still has it. */
  readonly isClaimed: (asked: Pick<RefClaim, 'email' | 'ref'>) => boolean
}

export interface RefClaimsOptions {
  /** Reads again what was claimed with this place. */
  readonly readClaim: (place: LinePlace) => RefClaim
  /** Whether a document that claimed at this place, and not again, has been removed since, or claimed another reference. */
  readonly isVoid?: (claim: RefClaim, place: LinePlace) => boolean
  /** 32 bits. */
  readonly hashOf?: HashOf
}

export function createRefClaims({ readClaim, isVoid = () => false, hashOf }: RefClaimsOptions): RefClaims {
  const named = (claim: RefClaim) => ({ ...claim, name: claim.ref })
  const claims = createPlaceIndex((place) => named(readClaim(place)), hashOf)
  return {
    claim(claim, place) {
      const wanted = named(claim)
      const holder = claims.find(wanted)
      if (!holder) claims.add(wanted, place)
      else if (holder.value.id === claim.id || isVoid(holder.value, holder.place)) {
        claims.replace(holder.entry, wanted, place)
      } else return false
      return true
    },
    isClaimed({ email, ref }) {
      const holder = claims.find({ email, name: ref })
      return holder !== null && !isVoid(holder.value, holder.place)
    },
  }
}
