// Counts the exports of a file that have no project so far, in little memory. The project may still follow.
import type { Line, LinePlace } from '../format/lines.ts'
import { createPlaceIndex, type NamedByUser } from './place-index.ts'

/** Maximum number of references that are reported one by one. */
const MAX_TOLD = 10

/** The exports of one user and one reference that have no project. */
export interface Orphans {
  /** Line of the first export. */
  readonly line: number
  readonly ref: string
  readonly exports: number
}

export interface OrphanExports {
  /** Adds an export whose reference no project before it has. */
  readonly add: (ref: NamedByUser, line: Pick<Line, 'number' | keyof LinePlace>) => void
  /** Called for a project: its exports are no longer orphans. */
  readonly adopt: (ref: NamedByUser) => void
  readonly count: () => number
  /** The first references. Reads their lines from the file again. */
  readonly first: () => readonly Orphans[]
}

/** `read` rereads the export line at a place and returns its reference. */
export function createOrphanExports(read: (place: LinePlace) => NamedByUser): OrphanExports {
  const refs = createPlaceIndex(read)
  /** Number of orphans by entry number of the reference; `lines` has the same index. */
  const counts: number[] = []
  /** Line of the reference's first export without a project. */
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
