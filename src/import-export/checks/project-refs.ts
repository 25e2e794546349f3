// Tracks which project of a user has which reference at a line of the file, including stored projects.
import { RecordError } from '../format/envelope.ts'
import type { LinePlace } from '../format/lines.ts'
import { createPlaceIndex, type NamedByUser } from './place-index.ts'
import { createRemovedNames } from './removed-names.ts'
import { createRefClaims, type RefClaim } from './unique-refs.ts'

export interface ProjectRefs {
  /**
   * Records that the project has its reference from this line on. `stored` is the id of the stored project with the
   * reference, or null. Throws `RecordError` when another project has the reference.
   */
  readonly claim: (project: RefClaim, place: LinePlace, stored: string | null) => void
  /** Whether a project of the file has the reference. */
  readonly isClaimed: (asked: Pick<RefClaim, 'email' | 'ref'>) => boolean
  /** Whether a stored project still has its stored reference at this line, whose place is `place`. */
  readonly isKept: (stored: NamedByUser, place: LinePlace) => boolean
  /** Records a removal. `name` is the id of a project, or `WHOLE_USER`. */
  readonly remove: (removed: NamedByUser, place: LinePlace) => void
}

export interface ProjectRefsOptions {
  /** Rereads the project line at this place. */
  readonly readProject: (place: LinePlace) => RefClaim
  /** Rereads the removal line at this place. */
  readonly readRemoved: (place: LinePlace) => NamedByUser
}

export function createProjectRefs({ readProject, readRemoved }: ProjectRefsOptions): ProjectRefs {
  const removed = createRemovedNames(readRemoved)
  const readOnce = remembersLast(readProject)
  const named = (project: RefClaim) => ({ ...project, name: project.id })
  /** Each project with the last line that gave it a reference. */
  const projects = createPlaceIndex((place) => named(readOnce(place)))
  const claims = createRefClaims({
    readClaim: readOnce,
    isVoid: ({ email, id }, { startOffset }) =>
      removed.isRemovedAfter({ email, name: id }, startOffset) ||
      (projects.find({ email, name: id })?.place.startOffset ?? startOffset) > startOffset,
  })

  /** Once a line of the file names the project, that line determines its reference. */
  function isKept(stored: NamedByUser, place: LinePlace): boolean {
    return !removed.isRemovedBefore(stored, place.startOffset) && projects.find(stored) === null
  }

  return {
    claim(project, place, stored) {
      const { email, ref, id } = project
      if (stored !== null && stored !== id && isKept({ email, name: stored }, place)) {
        throw new RecordError(`reference "${ref}" is used by another stored project of this user, "${stored}"`)
      }
      if (!claims.claim(project, place)) {
        throw new RecordError(`reference "${ref}" is used by another project of this user earlier in the file`)
      }
      const known = projects.find({ email, name: id })
      if (known) projects.replace(known.entry, named(project), place)
      else projects.add(named(project), place)
    },
    isClaimed: claims.isClaimed,
    isKept,
    remove: removed.add,
  }
}

/** Caches the last line, because both indexes mostly read the same one. */
function remembersLast(read: (place: LinePlace) => RefClaim): (place: LinePlace) => RefClaim {
  let last: { readonly startOffset: number; readonly claim: RefClaim } | null = null
  return (place) => {
    if (last?.startOffset !== place.startOffset) last = { startOffset: place.startOffset, claim: read(place) }
    return last.claim
  }
}
