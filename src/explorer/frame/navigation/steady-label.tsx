// The name of a place that turns bold when it is the current one, and takes as much room when it is not: its neighbours stay where they are.
import type { ReactNode } from 'react'

interface SteadyLabelProps {
  readonly text: string
  /** How many there are. */
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
