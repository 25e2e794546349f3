// The keys of a long list: one row is a stop of the Tab key, and arrow keys go from row to row.
import type { Virtualizer } from '@tanstack/react-virtual'
import { type FocusEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

export interface RowKeys {
  /** For the element around the rows; each row has its number as `data-row`. */
  readonly list: {
    readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
    readonly onFocus: (event: FocusEvent<HTMLElement>) => void
  }
  /** For what can be pressed in a row. */
  readonly tabIndexOf: (row: number) => 0 | -1
}

export function useRowKeys(virtual: Virtualizer<HTMLDivElement, Element>, rowCount: number): RowKeys {
  const [focused, setFocused] = useState<number | null>(null)
  const wanted = useRef<{ readonly row: number; readonly tag: string } | null>(null)
  const isDrawn = virtual.getVirtualItems().some(({ index }) => index === focused)
  // Where the person was, or else what is first in sight.
  const stop = focused !== null && isDrawn ? focused : (virtual.range?.startIndex ?? 0)

  // A row far away has to be drawn before it can have the focus.
  useEffect(() => {
    if (wanted.current === null) return
    const { row, tag } = wanted.current
    const target = virtual.scrollElement?.querySelector<HTMLElement>(`[data-row="${row}"] ${tag}`)
    if (!target) return
    wanted.current = null
    target.focus({ preventScroll: true })
  })

  return {
    list: {
      onKeyDown(event) {
        const { key, target } = event
        const step = STEPS[key]
        const from = rowOf(target)
        if (step === undefined || from === null || event.ctrlKey || event.metaKey || event.altKey) return
        event.preventDefault()
        const row = Math.min(Math.max(from + step, 0), rowCount - 1)
        if (row === from) return
        wanted.current = { row, tag: (target as Element).tagName.toLowerCase() }
        virtual.scrollToIndex(row)
        setFocused(row)
      },
      onFocus({ target }) {
        setFocused(rowOf(target))
      },
    },
    tabIndexOf: (row) => (row === stop ? 0 : -1),
  }
}

function rowOf(target: EventTarget): number | null {
  const row = target instanceof Element ? target.closest('[data-row]')?.getAttribute('data-row') : null
  return row == null ? null : Number(row)
}
