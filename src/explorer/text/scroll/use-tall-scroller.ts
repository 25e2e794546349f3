// Scrolling through a text that is taller than browsers draw: Firefox draws no element of more than some 17.8 million pixels, and
// Chromium none of more than 33.5. The element is as tall as can be, and says and takes places in the text in place of its own.
import { type RefObject, useLayoutEffect, useReducer, useRef } from 'react'

export const TALLEST = 15_000_000

/** In pixels, as browsers have it. */
const KEY_STEP = 40

interface Scaled {
  /** What a place of the element is in the text, or was said to be: several places in the text may be one of the element. */
  readonly place: () => { readonly own: number; readonly inText: number }
  /** Where the text has become shorter or longer: the element is as tall as before, and its browser tells of no scrolling. False where it has not. */
  readonly fit: () => boolean
  readonly end: () => void
}

const scaled = new WeakMap<Element, Scaled>()

/** `height` is that of the whole text. Used before whatever reads the place. */
export function useTallScroller(scroller: RefObject<HTMLElement | null>, isTall: boolean, height: () => number): void {
  const asked = useRef(height)
  const [, drawAgain] = useReducer((times: number) => times + 1, 0)
  useLayoutEffect(() => {
    asked.current = height
    // What is drawn was raised from where the element stood before.
    if (scroller.current && scaled.get(scroller.current)?.fit()) drawAgain()
  })
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element || !isTall) return
    scale(element, () => asked.current())
    return () => scaled.get(element)?.end()
  }, [scroller, isTall])
}

/** How much higher than in the text a row has to be drawn, in pixels, so that it is in sight. */
export function raisedBy(element: Element | null): number {
  const place = element ? scaled.get(element)?.place() : undefined
  return place ? place.inText - place.own : 0
}

function scale(element: HTMLElement, height: () => number): void {
  const own = (): number => Number(Reflect.get(Element.prototype, 'scrollTop', element))
  const { paddingTop, paddingBottom } = getComputedStyle(element)
  const padding = Number.parseFloat(paddingTop) + Number.parseFloat(paddingBottom)
  // Not by the element's own height: a row that is out of its place for a moment makes that another one.
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
    const isNews = inText !== last.inText
    last = { own: own(), inText }
    // The browser tells nobody of a step that is less than a pixel of the element.
    if (isNews && last.own === before) element.dispatchEvent(new Event('scroll'))
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

  /** As far as elsewhere: the browser's own step would be of the element, and many lines. */
  function step(event: Event, pixels: number): void {
    const { inText } = place()
    // At its end the page scrolls on.
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
