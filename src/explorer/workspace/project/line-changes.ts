// Computes a line diff with the `diff` library.
import { structuredPatch } from 'diff'
import { jsonLines } from '../../text/json-lines.ts'

/** Beyond these limits the pages only say that a file differs, without a line diff. */
const LONGEST = 1_000_000
const MOST_EDITS = 4_000

export interface DiffLine {
  readonly key: number
  readonly text: string
}

/**
 * Returns an empty list if only white space differs: the indentation of JSON, or line endings. Returns null if the
 * texts are too long or too different.
 */
export function diffLines(before: string, after: string): readonly DiffLine[] | null {
  if (before.length + after.length > LONGEST) return null
  const [was, is] = [readable(before), readable(after)]
  if (withLineFeeds(was) === withLineFeeds(is)) return []
  const patch = structuredPatch('', '', was, is, '', '', {
    context: 4,
    maxEditLength: MOST_EDITS,
  })
  if (!patch) return null
  const texts = patch.hunks.flatMap(({ oldStart, newStart, lines }) => [
    `@@ line ${oldStart} → ${newStart} @@`,
    ...lines,
  ])
  return texts.map((text, key) => ({ key, text }))
}

/** Indents JSON, so that it is compared line by line; every number and escape stays as written. */
function readable(text: string): string {
  return jsonLines(text)?.join('\n') ?? text
}

function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n')
}
