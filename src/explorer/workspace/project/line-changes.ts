// How a text changed, line by line, by the `diff` library.
import { structuredPatch } from 'diff'
import { jsonLines } from '../../text/json-lines.ts'

/** Beyond these a file is said to differ, without the lines. */
const LONGEST = 1_000_000
const MOST_EDITS = 4_000

export interface DiffLine {
  readonly key: number
  readonly text: string
}

/** Null where the two are too different, or too long. */
export function diffLines(before: string, after: string): readonly DiffLine[] | null {
  if (before.length + after.length > LONGEST) return null
  const patch = structuredPatch('', '', readable(before), readable(after), '', '', {
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

/** JSON is compared indented, with every number and escape as it is written. */
function readable(text: string): string {
  return jsonLines(text)?.join('\n') ?? text
}
