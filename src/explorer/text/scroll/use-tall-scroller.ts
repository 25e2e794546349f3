// Scrolls a text that is taller than browsers can render: Firefox renders no element taller than about 17.8 million
// pixels, Chromium none taller than 33.5 million. The element has a fixed maximum height, and its scroll properties are
// overridden to report and accept positions in the text.
import { type RefObject, useLayoutEffect, useReducer, useRef } from 'react'

export const TALLEST = 15_000_000

/** Scroll step of an arrow key in pixels, as in browsers. */
const KEY_STEP = 40

interface Scaled {
  /**
   * Converts the element's scroll position into a position in the text. It returns the last requested position if the
   * element has not scrolled since, because several positions in the text map to one of the element.
   */
  readonly place: () => { readonly own: number; readonly inText: number }
  /**
   * Adjusts the position after the height of the text changed. The element keeps its height, so the browser fires no
   * scroll event. Returns false if the height is unchanged.
   */
  readonly fit: () => boolean
  readonly end: () => void
}

const scaled = new WeakMap<Element, Scaled>()

/** `height` returns the height of the whole text. Call this hook before anything that reads the scroll position. */
export function useTallScroller(scroller: RefObject<HTMLElement | null>, isTall: boolean, height: () => number): void {
  const asked = useRef(height)
  const [, rerender] = useReducer((times: number) => times + 1, 0)
  useLayoutEffect(() => {
    asked.current = height
    // The rows were rendered for the previous scroll position.
    if (scroller.current && scaled.get(scroller.current)?.fit()) rerender()
  })
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element || !isTall) return
    scale(element, () => asked.current())
    return () => scaled.get(element)?.end()
  }, [scroller, isTall])
}

/** How many pixels above its position in the text a row must be rendered to be visible. */
export function raisedBy(element: Element | null): number {
  const place = element ? scaled.get(element)?.place() : undefined
  return place ? place.inText - place.own : 0
}

function scale(element: HTMLElement, height: () => number): void {
  const own = (): number => Number(Reflect.get(Element.prototype, 'scrollTop', element))
  const { paddingTop, paddingBottom } = getComputedStyle(element)
  const padding = Number.parseFloat(paddingTop) + Number.parseFloat(paddingBottom)
  // Not from the element's own scrollHeight, which changes while a row is briefly out of place.
  const most = (): number => height() + padding - element.clientHeight
  const ratio = (): number => most() / (TALLEST + padding - element.clientHeight)
  let last = { own: -1, inText: element.scrollTop }
  let fitted = height()

  function place(): typeof last {
    const now = own()
    if (now !== last.own) last = { own: now, inText: Math.min(now * ratio(), most()) }
    return last
  }

  function go(to: number): void {
    const inText = Math.min(Math.max(0, to), most())
    const before = own()
    Reflect.set(Element.prototype, 'scrollTop', Math.round(inText / ratio()), element)
    const hasMoved = inText !== last.inText
    last = { own: own(), inText }
    // The browser fires no scroll event for a step of less than one pixel of the element.
    if (hasMoved && last.own === before) element.dispatchEvent(new Event('scroll'))
  }

  function fit(): boolean {
    if (height() === fitted) return false
    fitted = height()
    go(place().inText)
    return true
  }

  function scrollTo({ top, left }: ScrollToOptions): void {
    if (top !== undefined) go(top)
    if (left !== undefined) element.scrollLeft = left
  }

  /** Scrolls by the usual distance: the browser's own step would move the element, and skip many lines of the text. */
  function step(event: Event, pixels: number): void {
    const { inText } = place()
    // At the end of the text, let the page scroll.
    if (pixels === 0 || (pixels < 0 ? inText <= 0 : inText >= most())) return
    event.preventDefault()
    go(inText + pixels)
  }

  function turn(event: WheelEvent): void {
    if (event.ctrlKey || event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return
    const unit = [1, KEY_STEP / 2, element.clientHeight][event.deltaMode] ?? 1
    step(event, event.deltaY * unit)
  }

  function press(event: KeyboardEvent): void {
    const page = element.clientHeight * 0.875
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: KEY_STEP,
      ArrowUp: -KEY_STEP,
      PageDown: page,
      PageUp: -page,
      ' ': event.shiftKey ? -page : page,
    }
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return
    step(event, steps[event.key] ?? 0)
  }

  const { inText } = last
  Object.defineProperties(element, {
    scrollTop: { configurable: true, get: () => place().inText, set: go },
    scrollHeight: { configurable: true, get: () => height() + padding },
    scrollTo: { configurable: true, value: scrollTo },
  })
  element.addEventListener('wheel', turn, { passive: false })
  element.addEventListener('keydown', press)
  scaled.set(element, {
    place,
    fit,
    end() {
      scaled.delete(element)
      for (const name of ['scrollTop', 'scrollHeight', 'scrollTo']) Reflect.deleteProperty(element, name)
      element.removeEventListener('wheel', turn)
      element.removeEventListener('keydown', press)
      element.scrollTop = last.inText
    },
  })
  go(inText)
}
