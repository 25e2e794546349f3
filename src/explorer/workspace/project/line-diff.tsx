// Shows the line diff of a file.
import { type ReactNode, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { isLong, offload } from '../../beside/beside.ts'
import { Failure } from '../../design/failure.tsx'
import { Skeleton } from '../../design/skeleton.tsx'
import { useLoaded } from '../../frame/use-loaded.ts'
import type { LinePlace } from '../../text/use-line-place.ts'
import { offsetOf, rowIn } from '../rows/list-rows.ts'
import type { Change } from './changes.ts'
import { type DiffLine, diffLines } from './line-changes.ts'

export interface LineDiffProps extends Pick<Change, 'kind' | 'path'> {
  /** The text in the older export; empty if the file is missing there. The same holds for `after` and the newer one. */
  readonly before: string
  readonly after: string
  /** The scroll position, in lines of the diff. */
  readonly place: LinePlace
}

const MOST_SHOWN = 3_000
const SIGNS: Readonly<Record<string, string>> = { '+': 'plus', '-': 'minus', '\\': 'meta', '@': 'meta' }

export function LineDiff(props: LineDiffProps): ReactNode {
  return isLong(props.before, props.after) ? <LongDiff {...props} /> : <ShortDiff {...props} />
}

function ShortDiff(props: LineDiffProps): ReactNode {
  const { before, after } = props
  const lines = useMemo(() => diffLines(before, after), [before, after])
  return <Diff {...props} lines={lines} />
}

function LongDiff(props: LineDiffProps): ReactNode {
  const { before, after } = props
  const loaded = useLoaded(useCallback(() => offload('diffLines', diffLines, before, after), [before, after]))
  if (loaded.phase === 'loading') return <Skeleton label="Comparing" />
  if (loaded.phase === 'failed') {
    return <Failure title="The two could not be compared" message={loaded.message} onRetry={loaded.retry} />
  }
  return <Diff {...props} lines={loaded.value} />
}

interface DiffProps extends LineDiffProps {
  readonly lines: readonly DiffLine[] | null
}

function Diff({ kind, path, before, after, place, lines }: DiffProps): ReactNode {
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
      ) : lines.length === 0 ? (
        <p className="note">{withoutLines(kind, before === after)}</p>
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

/** The message when no line differs. */
function withoutLines(kind: Change['kind'], isSameText: boolean): string {
  if (kind !== 'changed') return 'The file is empty.'
  if (!isSameText) return 'Only white space differs: how it is indented, or how its lines end.'
  return 'The text is the same: it is the content of a file in one export, and an element without content in the other.'
}
