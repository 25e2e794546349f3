// In a narrow window a row of places scrolls: the current one is brought into sight.
import { type RefObject, useLayoutEffect } from 'react'

/** `current` says which of its links or buttons that is, from 0. */
export function useCurrentInSight(row: RefObject<HTMLElement | null>, current: number): void {
  useLayoutEffect(() => {
    function show(): void {
      const place = row.current?.querySelectorAll('a, button')[current]
      if (row.current && place) bringIntoSight(row.current, place)
    }
    show()
    // A phone that is turned.
    addEventListener('resize', show)
    return () => removeEventListener('resize', show)
  }, [row, current])
}

function bringIntoSight(row: HTMLElement, place: Element): void {
  const [whole, one] = [row.getBoundingClientRect(), place.getBoundingClientRect()]
  if (one.left >= whole.left && one.right <= whole.right) return
  row.scrollLeft += one.left - whole.left - (whole.width - one.width) / 2
}
