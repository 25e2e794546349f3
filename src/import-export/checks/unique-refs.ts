// Tracks which document of a user claims which reference at a line of the file.
import type { LinePlace } from '../format/lines.ts'
import { createPlaceIndex, type HashOf } from './place-index.ts'

export interface RefClaim {
  readonly email: string
  readonly ref: string
  /** Id of the document that claims it. */
  readonly id: string
}

export interface RefClaims {
  /** False when another document of the user has claimed the reference before. `place` is the line of this claim. */
  readonly claim: (claim: RefClaim, place: LinePlace) => boolean
  /** Whether a document of the user has claimed the reference and still has it. */
  readonly isClaimed: (asked: Pick<RefClaim, 'email' | 'ref'>) => boolean
}

export interface RefClaimsOptions {
  /** Rereads the claim at this place. */
  readonly readClaim: (place: LinePlace) => RefClaim
  /** Whether the document of a claim has been removed since, or has claimed another reference. */
  readonly isVoid?: (claim: RefClaim, place: LinePlace) => boolean
  /** A 32-bit hash. */
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
