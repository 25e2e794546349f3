// Keyboard navigation for folding: one fold button is a tab stop; the arrow keys move between brackets, fold and
// unfold.
import type { Virtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { firstAtLeast } from './find.ts'
import { linesInside, type Sheet } from './sheet.ts'

/** The hint that the toolbar shows. */
export const FOLD_KEYS = '↑ ↓ go to another bracket, ← folds, → unfolds'

interface Folding {
  readonly sheet: Sheet
  /** The rows of the sheet that are not folded away, in ascending order. */
  readonly rows: Uint32Array
  readonly folded: ReadonlySet<number>
  readonly fold: (row: number) => void
  readonly virtual: Virtualizer<HTMLDivElement, Element>
}

export interface FoldKeys {
  /** Handler for the container of the rows. Each fold button has its row in `data-fold`. */
  readonly onKeyDown: (event: KeyboardEvent) => void
  readonly tabIndexOf: (row: number) => 0 | -1
}

export function canFold({ closes }: Sheet, row: number): boolean {
  return (closes[row] ?? 0) > row + 1
}

/** The accessible name of a fold button: what the bracket contains. */
export function foldName(sheet: Sheet, row: number): string {
  return `${foldedText(sheet, row)} from line ${linesInside(sheet, row).from.toLocaleString()}`
}

export function foldedText(sheet: Sheet, row: number): string {
  const { count } = linesInside(sheet, row)
  return `${count.toLocaleString()} ${count === 1 ? 'line' : 'lines'}`
}

export function useFoldKeys({ sheet, rows, folded, fold, virtual }: Folding): FoldKeys {
  const [last, setLast] = useState(-1)
  const wanted = useRef(-1)
  const drawn = virtual.getVirtualItems().map(({ index }) => rows[index] ?? -1)
  const inSight = rows[virtual.range?.startIndex ?? 0] ?? 0
  const canStop = (row: number) => row !== -1 && canFold(sheet, row)
  const stop = drawn.includes(last)
    ? last
    : (drawn.find((row) => row >= inSight && canStop(row)) ?? drawn.find(canStop))

  // A row far away must be rendered before its button can take the focus.
  useEffect(() => {
    const target = virtual.scrollElement?.querySelector<HTMLElement>(`[data-fold="${wanted.current}"]`)
    if (!target) return
    wanted.current = -1
    target.focus({ preventScroll: true })
  })

  /** Moves the focus to the nearest bracket from index `from` on, in the direction `by`. */
  function go(from: number, by: 1 | -1): void {
    for (let index = from; index >= 0 && index < rows.length; index += by) {
      const row = rows[index] ?? 0
      if (!canFold(sheet, row)) continue
      wanted.current = row
      virtual.scrollToIndex(index)
      setLast(row)
      return
    }
  }

  function goToOuter(row: number, index: number): void {
    let outer = index - 1
    while (outer >= 0 && (sheet.closes[rows[outer] ?? 0] ?? 0) <= row) outer -= 1
    go(outer, -1)
  }

  return {
    onKeyDown(event) {
      const name = event.target instanceof Element ? event.target.getAttribute('data-fold') : null
      if (name === null || event.ctrlKey || event.metaKey || event.altKey) return
      const row = Number(name)
      const index = firstAtLeast(rows.length, (at) => rows[at] ?? 0, row)
      const steps: Readonly<Record<string, () => void>> = {
        ArrowDown: () => go(index + 1, 1),
        ArrowUp: () => go(index - 1, -1),
        Home: () => go(0, 1),
        End: () => go(rows.length - 1, -1),
        ArrowLeft: () => (folded.has(row) ? goToOuter(row, index) : fold(row)),
        ArrowRight: () => (folded.has(row) ? fold(row) : go(index + 1, 1)),
      }
      const step = steps[event.key]
      if (!step) return
      event.preventDefault()
      event.stopPropagation()
      setLast(row)
      step()
    },
    tabIndexOf: (row) => (row === stop ? 0 : -1),
  }
}
