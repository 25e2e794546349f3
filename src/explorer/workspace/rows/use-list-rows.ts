// The rows of a long list that are drawn: those in sight, and on paper all of them, or as many as a sentence says.
import { defaultRangeExtractor, type Range, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type RefObject, useCallback } from 'react'
import { usePrinting } from '../../design/use-printing.ts'

/** Some hundred sheets of paper. */
const MOST_PRINTED = 5_000

interface ListOptions {
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly count: number
  /** In pixels. */
  readonly rowHeight: number
  readonly overscan: number
  readonly initialOffset: number | (() => number)
}

export interface ListRows {
  readonly virtual: Virtualizer<HTMLDivElement, Element>
  /** Of the element around the rows. On paper each follows the one before. */
  readonly height: CSSProperties
  /** Of the row that begins so many pixels down. */
  readonly placeOf: (start: number) => CSSProperties
  /** How many rows paper leaves out. */
  readonly leftOut: number
}

export function useListRows({ scroller, count, rowHeight, overscan, initialOffset }: ListOptions): ListRows {
  const isPrinting = usePrinting()
  const printed = isPrinting ? Math.min(count, MOST_PRINTED) : null
  const rangeExtractor = useCallback(
    (range: Range) =>
      printed === null ? defaultRangeExtractor(range) : Array.from({ length: printed }, (_, at) => at),
    [printed],
  )
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
    initialOffset,
    rangeExtractor,
  })
  return {
    virtual,
    height: isPrinting ? {} : { height: virtual.getTotalSize() },
    placeOf: (start) => ({ height: rowHeight, ...(isPrinting ? {} : { transform: `translateY(${start}px)` }) }),
    leftOut: printed === null ? 0 : count - printed,
  }
}
