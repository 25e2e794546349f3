// Closes an open panel on Escape, and when somebody points at something else.
import { type RefObject, useEffect } from 'react'

/** `within` is a selector of what holds the panel or its button, `opener`. */
export function useDismissal(
  isOpen: boolean,
  setOpen: (isOpen: boolean) => void,
  within: string,
  opener: RefObject<HTMLElement | null>,
): void {
  useEffect(() => {
    if (!isOpen) return
    function close(event: KeyboardEvent | PointerEvent): void {
      const isInside = event.target instanceof Element && event.target.closest(within) !== null
      if (event instanceof KeyboardEvent ? event.key !== 'Escape' : isInside) return
      // The focused element is about to disappear with the panel.
      if (event instanceof KeyboardEvent && isInside) opener.current?.focus()
      setOpen(false)
    }
    addEventListener('keydown', close)
    addEventListener('pointerdown', close)
    return () => {
      removeEventListener('keydown', close)
      removeEventListener('pointerdown', close)
    }
  }, [isOpen, setOpen, within, opener])
}
