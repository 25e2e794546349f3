// Counts the results of an import from another server.
import { exportPath } from '../../import-export/remote/seen-workspace.ts'
import type { TakenIn } from '../../import-export/remote/take-in.ts'

/** Counts of users, documents and exports so far. */
export interface Tally {
  done: number
  missing: number
  failed: number
  /** How many of `failed` were not asked for, because the server is down. */
  left: number
  added: number
  replaced: number
  unchanged: number
  removed: number
  /** Users for whom the server answers 404 to one list but not to the others. */
  partial: number
  projects: number
  /** Number of projects with an export. */
  exports: number
}

export const NOTHING_DONE: Tally = {
  done: 0,
  missing: 0,
  failed: 0,
  left: 0,
  added: 0,
  replaced: 0,
  unchanged: 0,
  removed: 0,
  partial: 0,
  projects: 0,
  exports: 0,
}

export function addTaken(tally: Tally, taken: TakenIn): void {
  if (taken.type === 'missing') {
    tally.missing += 1
    return
  }
  tally.done += 1
  const { refs, answers } = taken.seen
  tally.projects += refs.length
  tally.exports += refs.filter((ref) => answers.get(exportPath(ref))?.digest != null).length
  if (taken.type === 'unchanged') return
  for (const name of ['added', 'replaced', 'unchanged', 'removed'] as const) tally[name] += taken.counts[name]
  if (taken.absent.length > 0) tally.partial += 1
}
