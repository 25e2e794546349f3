// Records which projects and users a file removes, with the first and the last removing line.
import type { LinePlace } from '../format/lines.ts'
import { createPlaceIndex, type NamedByUser } from './place-index.ts'

/** Stands for the whole user: no project has an empty id. */
export const WHOLE_USER = ''

export interface RemovedNames {
  /** Records a removal. `name` is the id of a project, or `WHOLE_USER`. */
  readonly add: (removed: NamedByUser, place: LinePlace) => void
  /** Whether the project, or its user, was removed by a line before this offset. */
  readonly isRemovedBefore: (project: NamedByUser, offset: number) => boolean
  /** Whether the project, or its user, was removed by a line after this offset. */
  readonly isRemovedAfter: (project: NamedByUser, offset: number) => boolean
}

/** `read` rereads the removal line at a place. */
export function createRemovedNames(read: (place: LinePlace) => NamedByUser): RemovedNames {
  const first = createPlaceIndex(read)
  const last = createPlaceIndex(read)
  let isEmpty = true

  const namesOf = ({ email, name }: NamedByUser): readonly NamedByUser[] => [
    { email, name },
    { email, name: WHOLE_USER },
  ]

  return {
    add(removed, place) {
      isEmpty = false
      const known = last.find(removed)
      if (known) {
        last.replace(known.entry, removed, place)
      } else {
        first.add(removed, place)
        last.add(removed, place)
      }
    },
    isRemovedBefore: (project, offset) =>
      !isEmpty && namesOf(project).some((name) => (first.find(name)?.place.startOffset ?? offset) < offset),
    isRemovedAfter: (project, offset) =>
      !isEmpty && namesOf(project).some((name) => (last.find(name)?.place.startOffset ?? offset) > offset),
  }
}
