// What an import did, or would do, as people are told it: here and by another gateway in the same words.
import type { Orphans } from './checks/orphan-exports.ts'
import { shortened } from './format/envelope.ts'

export interface ImportCounts {
  readonly added: number
  readonly replaced: number
  readonly unchanged: number
  readonly removed: number
}

/** What was removed is told where something was, or where that is asked for. */
export function countsInWords({ added, replaced, unchanged, removed }: ImportCounts, isReplacing: boolean): string {
  const kept = `${added} added, ${replaced} replaced, ${unchanged} unchanged`
  return isReplacing || removed > 0 ? `${kept}, ${removed} removed` : kept
}

export function badLinesInWords(count: number): string {
  return `${count} bad ${count === 1 ? 'line' : 'lines'}`
}

/** Of lines that were refused while the others were imported. */
export function notImportedInWords(count: number): string {
  return `${count} ${count === 1 ? 'line was' : 'lines were'} not imported`
}

/** Where the exports are that have no project, a line for each of these references; empty without one. */
export function orphansByLine(name: string, orphans: readonly Orphans[], total: number): string {
  if (orphans.length === 0) return ''
  const rest = total - orphans.reduce((sum, { exports }) => sum + exports, 0)
  return [
    ...orphans.map(
      ({ line, ref, exports }) =>
        `${name}:${line}: no project of this user has the reference ${JSON.stringify(shortened(ref))} of ${exportsInWords(exports)}\n`,
    ),
    ...(rest === 0 ? [] : [`… and ${exportsInWords(rest)} of other references\n`]),
  ].join('')
}

function exportsInWords(count: number): string {
  return count === 1 ? '1 export' : `${count} exports`
}

/** What is added to the counts of an import; empty where every export has a project. */
export function orphansInWords(count: number): string {
  if (count === 0) return ''
  return `, ${count} ${count === 1 ? 'export whose project is' : 'exports whose projects are'} neither in the input nor stored`
}
