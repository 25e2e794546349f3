// Virtualizes the rows of a long list: the visible ones on screen, and all of them, up to a limit, in print.
import { defaultRangeExtractor, type Range, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type RefObject, useCallback } from 'react'
import { usePrinting } from '../../design/use-printing.ts'

/** Some hundred pages. */
const MOST_PRINTED = 5_000

interface ListOptions {
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly count: number
  /** Row height in pixels. */
  readonly rowHeight: number
  readonly overscan: number
  readonly initialOffset: number | (() => number)
}

export interface ListRows {
  readonly virtual: Virtualizer<HTMLDivElement, Element>
  /** Style of the element around the rows. In print it is empty, because the rows are in normal flow. */
  readonly height: CSSProperties
  /** Style of the row whose offset is `start` pixels. */
  readonly placeOf: (start: number) => CSSProperties
  /** Number of rows that are not printed. */
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
