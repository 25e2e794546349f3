// Words the results of an import for people, the same in this process and for another gateway.
import { toLine } from '../redact.ts'
import type { Orphans } from './checks/orphan-exports.ts'
import { shortened } from './format/envelope.ts'

export interface ImportCounts {
  readonly added: number
  readonly replaced: number
  readonly unchanged: number
  readonly removed: number
}

/** Mentions removals when there were any, or when the import replaces users. */
export function countsInWords({ added, replaced, unchanged, removed }: ImportCounts, isReplacing: boolean): string {
  const kept = `${added} added, ${replaced} replaced, ${unchanged} unchanged`
  return isReplacing || removed > 0 ? `${kept}, ${removed} removed` : kept
}

export function badLinesInWords(count: number): string {
  return `${count} bad ${count === 1 ? 'line' : 'lines'}`
}

/** For lines that were rejected while the others were imported. */
export function notImportedInWords(count: number): string {
  return `${count} ${count === 1 ? 'line was' : 'lines were'} not imported`
}

/** Lists the exports without a project, one line per reference; empty when there are none. */
export function orphansByLine(name: string, orphans: readonly Orphans[], total: number): string {
  if (orphans.length === 0) return ''
  const rest = total - orphans.reduce((sum, { exports }) => sum + exports, 0)
  return [
    ...orphans.map(
      ({ line, ref, exports }) =>
        `${name}:${line}: ${exportsInWords(exports)} of the reference ${toLine(JSON.stringify(shortened(ref)))}, which no project of this user has\n`,
    ),
    ...(rest === 0 ? [] : [`… and ${exportsInWords(rest)} of other references\n`]),
  ].join('')
}

function exportsInWords(count: number): string {
  return count === 1 ? '1 export' : `${count} exports`
}

/** Suffix for the counts of an import; empty when every export has a project. */
export function orphansInWords(count: number): string {
  if (count === 0) return ''
  return `, ${count} ${count === 1 ? 'export whose project is' : 'exports whose projects are'} neither in the input nor stored`
}
