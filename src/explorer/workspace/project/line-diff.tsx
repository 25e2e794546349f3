// How a file changed, line by line, by the `diff` library.
import { structuredPatch } from 'diff'
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { jsonLines } from '../../text/json-lines.ts'
import type { LinePlace } from '../../text/use-line-place.ts'
import { offsetOf, rowIn } from '../list-rows.ts'

export interface LineDiffProps {
  readonly path: string
  readonly before: string
  readonly after: string
  /** By the lines of the comparison. */
  readonly place: LinePlace
}

/** Beyond these a file is said to differ, without the lines. */
const LONGEST = 1_000_000
const MOST_EDITS = 4_000
const MOST_SHOWN = 3_000
const SIGNS: Readonly<Record<string, string>> = { '+': 'plus', '-': 'minus', '\\': 'meta', '@': 'meta' }

export function LineDiff({ path, before, after, place }: LineDiffProps): ReactNode {
  const lines = useMemo(() => diffLines(before, after), [before, after])
  const left = (lines?.length ?? 0) - MOST_SHOWN
  const scroller = useRef<HTMLElement>(null)
  const [first] = useState(place.line)
  useLayoutEffect(() => {
    if (scroller.current) scroller.current.scrollTop = offsetOf(first, heightOfLine(scroller.current))
  }, [first])
  return (
    <section
      ref={scroller}
      className="diff"
      tabIndex={0}
      aria-label={`What changed in ${path}`}
      onScroll={({ currentTarget }) => place.onLine(rowIn(currentTarget.scrollTop, heightOfLine(currentTarget)))}
    >
      {lines === null ? (
        <p className="note">
          The two are too different to be shown line by line: {before.length.toLocaleString()} characters before,{' '}
          {after.length.toLocaleString()} after.
        </p>
      ) : (
        <pre>
          {lines.slice(0, MOST_SHOWN).map(({ key, text }) => (
            <span key={key} className={SIGNS[text[0] ?? '']}>
              {`${text}\n`}
            </span>
          ))}
        </pre>
      )}
      {left > 0 && (
        <p className="note">
          Cut here: {left.toLocaleString()} more {left === 1 ? 'line' : 'lines'} of what changed are not shown.
        </p>
      )}
    </section>
  )
}

function heightOfLine(diff: HTMLElement): number {
  return diff.querySelector('span')?.getBoundingClientRect().height || 1
}

interface DiffLine {
  readonly key: number
  readonly text: string
}

function diffLines(before: string, after: string): readonly DiffLine[] | null {
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
