// A link label that turns bold when current but always reserves its bold width, so that its neighbours do not move.
import type { ReactNode } from 'react'

interface SteadyLabelProps {
  readonly text: string
  /** Number of items, shown after the text. */
  readonly count?: number
}

export function SteadyLabel({ text, count }: SteadyLabelProps): ReactNode {
  const counted = count === undefined ? '' : ` ${count.toLocaleString()}`
  return (
    <span className="steady" data-text={text + counted}>
      <span>
        {text}
        {counted !== '' && <span className="count">{counted}</span>}
      </span>
    </span>
  )
}
