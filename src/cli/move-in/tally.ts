// Counts the results of an import from another server.
import { exportPath } from '../../import-export/remote/seen-workspace.ts'
import type { TakenIn } from '../../import-export/remote/take-in.ts'

export type Tally = ReturnType<typeof createTally>

/** Counts of users, documents and exports so far. */
export function createTally() {
  return {
    done: 0,
    missing: 0,
    failed: 0,
    /** How many of `failed` were not asked for, because the server is down. */
    left: 0,
    added: 0,
    replaced: 0,
    unchanged: 0,
    removed: 0,
    /** Users for whom the server answers 404 to one list but not to the others. */
    partial: 0,
    projects: 0,
    /** Number of projects with an export. */
    exports: 0,
  }
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
