// Scrolls the current tab into view when a narrow window makes the row of tabs scroll.
import { type RefObject, useLayoutEffect } from 'react'

/** `current` is the index of the current link or button in the row, from 0. */
export function useCurrentInSight(row: RefObject<HTMLElement | null>, current: number): void {
  useLayoutEffect(() => {
    function show(): void {
      const place = row.current?.querySelectorAll('a, button')[current]
      if (row.current && place) bringIntoSight(row.current, place)
    }
    show()
    // Rotating a phone fires this event.
    addEventListener('resize', show)
    return () => removeEventListener('resize', show)
  }, [row, current])
}

function bringIntoSight(row: HTMLElement, place: Element): void {
  const [whole, one] = [row.getBoundingClientRect(), place.getBoundingClientRect()]
  if (one.left >= whole.left && one.right <= whole.right) return
  row.scrollLeft += one.left - whole.left - (whole.width - one.width) / 2
}
