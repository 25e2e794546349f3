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

/** None where only white space differs: how JSON is indented, or how lines end. Null where the two are too different, or too long. */
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

/** JSON is compared indented, with every number and escape as it is written. */
function readable(text: string): string {
  return jsonLines(text)?.join('\n') ?? text
}

function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n')
}
