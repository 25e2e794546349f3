// How many exports of a file have no project so far, in little memory: the project may still come.
import type { LinePlace } from '../format/lines.ts'
import { createPlaceIndex, type HashOf, type NamedByUser } from './place-index.ts'

export interface OrphanExports {
  /** An export of this reference, without a project before it. */
  readonly add: (ref: NamedByUser, place: LinePlace) => void
  /** A project of this reference comes. */
  readonly adopt: (ref: NamedByUser) => void
  readonly count: () => number
}

/** `read` reads again which reference the export with this place is of. */
export function createOrphanExports(read: (place: LinePlace) => NamedByUser, hashOf?: HashOf): OrphanExports {
  const refs = createPlaceIndex(read, hashOf)
  /** By the number of the reference's entry. */
  const counts: number[] = []
  let total = 0

  return {
    add(ref, place) {
      const known = refs.find(ref)
      if (!known) refs.add(ref, place)
      const entry = known?.entry ?? counts.length
      counts[entry] = (counts[entry] ?? 0) + 1
      total += 1
    },
    adopt(ref) {
      const known = total > 0 ? refs.find(ref) : null
      if (!known) return
      total -= counts[known.entry] ?? 0
      counts[known.entry] = 0
    },
    count: () => total,
  }
}
