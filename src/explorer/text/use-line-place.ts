// Which line of a text stands first: told while a person scrolls, and gone to when the text appears.
import { type RefObject, useLayoutEffect, useRef } from 'react'
import { lineOf, rowOfLine, type Sheet } from './sheet.ts'

export interface LinePlace {
  /** As `lineOf` names it; null for the beginning. */
  readonly line: string | null
  readonly onLine: (line: string | null) => void
}

interface Drawn {
  /** Null until it is laid out. */
  readonly sheet: Sheet | null
  /** Of the sheet, those that are not folded away. */
  readonly rows: Uint32Array
  readonly scroller: RefObject<HTMLElement | null>
  readonly rowHeight: number
  /** The index in `rows` of what is drawn so far down. */
  readonly indexAt: (offset: number) => number
}

/** Answers what is to be called when the text is scrolled. */
export function useLinePlace(
  place: LinePlace | undefined,
  { sheet, rows, scroller, rowHeight, indexAt }: Drawn,
): () => void {
  const shown = useRef<Sheet | null>(null)
  // Before the text is seen: it does not jump.
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
