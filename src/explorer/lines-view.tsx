// Text in lines, of which only those in sight are drawn.
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useMemo, useRef } from 'react'
import { jsonLines, textLines, tokensOf } from './json-lines.ts'

const LINE_HEIGHT = 19

interface LinesViewProps {
  readonly text: string
  readonly label: string
  readonly isJson: boolean
}

export function LinesView({ text, label, isJson }: LinesViewProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null)
  const lines = useMemo(() => (isJson ? jsonLines(text) : textLines(text)), [text, isJson])
  const widest = useMemo(() => lines.reduce((most, line) => Math.max(most, line.length), 0), [lines])
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section ref={scroller} className="lines" aria-label={label} tabIndex={0}>
      <div className="sheet" style={{ height: virtual.getTotalSize(), width: `${widest + 2}ch` }}>
        {virtual.getVirtualItems().map(({ index, start }) => (
          <div key={index} className="line" style={{ transform: `translateY(${start}px)` }}>
            {isJson ? coloured(lines[index] ?? '') : lines[index]}
          </div>
        ))}
      </div>
    </section>
  )
}

function coloured(line: string): ReactNode {
  return tokensOf(line).map(({ kind, text }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never move
    <span key={index} className={`json-${kind}`}>
      {text}
    </span>
  ))
}
