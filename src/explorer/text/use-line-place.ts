// Tracks the first visible line of a text: reports it while the person scrolls, and scrolls to it when the text
// appears.
import { type RefObject, useLayoutEffect, useRef } from 'react'
import { lineOf, rowOfLine, type Sheet } from './sheet.ts'

export interface LinePlace {
  /** The name that `lineOf` gives the line; null for the start of the text. */
  readonly line: string | null
  readonly onLine: (line: string | null) => void
}

interface Drawn {
  /** Null until the text is laid out. */
  readonly sheet: Sheet | null
  /** The rows of the sheet that are not folded away. */
  readonly rows: Uint32Array
  readonly scroller: RefObject<HTMLElement | null>
  readonly rowHeight: number
  /** The index in `rows` of the row at this offset, in pixels. */
  readonly indexAt: (offset: number) => number
}

/** Returns the scroll handler. */
export function useLinePlace(
  place: LinePlace | undefined,
  { sheet, rows, scroller, rowHeight, indexAt }: Drawn,
): () => void {
  const shown = useRef<Sheet | null>(null)
  // A layout effect, so that the text does not jump after it is painted.
  useLayoutEffect(() => {
    if (!place || !sheet || shown.current === sheet || !scroller.current) return
    shown.current = sheet
    const row = place.line === null ? 0 : rowOfLine(sheet, place.line)
    if (row > 0) scroller.current.scrollTop = row * rowHeight + paddingOf(scroller.current)
  })
  return () => {
    if (!place || !sheet || shown.current !== sheet || !scroller.current) return
    const index = indexAt(scroller.current.scrollTop - paddingOf(scroller.current))
    place.onLine(index <= 0 ? null : lineOf(sheet, rows[index] ?? 0))
  }
}

function paddingOf(element: HTMLElement): number {
  return Number.parseFloat(getComputedStyle(element).paddingTop)
}
