// Which exports of a file have no project so far, in little memory: the project may still come.
import type { Line, LinePlace } from '../format/lines.ts'
import { createPlaceIndex, type HashOf, type NamedByUser } from './place-index.ts'

/** References that are told one by one. */
const MAX_TOLD = 10

/** The exports of one user and one reference that have no project. */
export interface Orphans {
  /** Of the first of them. */
  readonly line: number
  readonly ref: string
  readonly exports: number
}

export interface OrphanExports {
  /** An export of this reference, without a project before it. */
  readonly add: (ref: NamedByUser, line: Pick<Line, 'number' | keyof LinePlace>) => void
  /** A project of this reference comes. */
  readonly adopt: (ref: NamedByUser) => void
  readonly count: () => number
  /** Of the first references. Reads their lines again. */
  readonly first: () => readonly Orphans[]
}

/** `read` reads again which reference the export with this place is of. */
export function createOrphanExports(read: (place: LinePlace) => NamedByUser, hashOf?: HashOf): OrphanExports {
  const refs = createPlaceIndex(read, hashOf)
  /** By the number of the reference's entry, as the lines are. */
  const counts: number[] = []
  /** Of the first export of the reference that has no project. */
  const lines: number[] = []
  let total = 0

  return {
    add(ref, line) {
      const known = refs.find(ref)
      if (!known) refs.add(ref, line)
      const entry = known?.entry ?? counts.length
      const before = counts[entry] ?? 0
      if (before === 0) lines[entry] = line.number
      counts[entry] = before + 1
      total += 1
    },
    adopt(ref) {
      const known = total > 0 ? refs.find(ref) : null
      if (!known) return
      total -= counts[known.entry] ?? 0
      counts[known.entry] = 0
    },
    count: () => total,
    first() {
      const told: Orphans[] = []
      for (let entry = 0; entry < counts.length && told.length < MAX_TOLD; entry += 1) {
        const [line = 0, exports = 0] = [lines[entry], counts[entry]]
        if (exports > 0) told.push({ line, ref: refs.at(entry).name, exports })
      }
      return told
    },
  }
}
