// Keyboard navigation of a long list: one row is a tab stop, and the arrow keys move between rows.
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
  /** Handlers for the element around the rows. Each row has its index in `data-row`. */
  readonly list: {
    readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
    readonly onFocus: (event: FocusEvent<HTMLElement>) => void
  }
  /** The `tabIndex` of the controls in a row. */
  readonly tabIndexOf: (row: number) => 0 | -1
}

export function useRowKeys(virtual: Virtualizer<HTMLDivElement, Element>, rowCount: number): RowKeys {
  const [focused, setFocused] = useState<number | null>(null)
  const wanted = useRef<{ readonly row: number; readonly tag: string } | null>(null)
  const isDrawn = virtual.getVirtualItems().some(({ index }) => index === focused)
  // The tab stop is the last focused row while it is rendered, or else the first visible row.
  const stop = focused !== null && isDrawn ? focused : (virtual.range?.startIndex ?? 0)

  // A row far away must be rendered before it can take the focus.
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
