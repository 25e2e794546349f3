// Saves the scroll position in each history entry and restores it on back, forward and reload.

export interface KeptScroll {
  /** Saves the scroll position in the current history entry. */
  readonly note: () => void
  /**
   * Scrolls to the saved position once the page is tall enough, because pages load their content asynchronously. After
   * a reload this starts by itself. Without a saved position, it scrolls to the element that the fragment names.
   */
  readonly restore: () => void
  /** Scrolls to the top, for a new page. */
  readonly top: () => void
}

const RESTS_AFTER_MS = 250
/** Maximum time to wait for the content. A later jump would surprise the person. */
const WAITS_MS = 5_000
/** Events that mean the person navigates or scrolls; they cancel the restoration. */
const CANCELLING_EVENTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

export function createKeptScroll(): KeptScroll {
  // The browser would restore the position before the page has any content to scroll.
  history.scrollRestoration = 'manual'
  let timer = 0
  let restoring: AbortController | null = null

  function note(): void {
    clearTimeout(timer)
    // While the page is still loading, the browser clamps the scroll position, so the person did not choose it.
    if (restoring) return
    if (keptTop() !== scrollY) history.replaceState({ ...history.state, top: scrollY }, '')
  }

  function stop(): void {
    clearTimeout(timer)
    restoring?.abort()
    restoring = null
  }

  addEventListener(
    'scroll',
    () => {
      clearTimeout(timer)
      timer = Number(setTimeout(note, RESTS_AFTER_MS))
    },
    { passive: true },
  )

  function restore(): void {
    stop()
    const top = keptTop()
    if (top === 0 && scrollToNamed()) return
    const ending = new AbortController()
    restoring = ending
    const room = new ResizeObserver(() => {
      if (document.documentElement.scrollHeight - innerHeight < top) return
      scrollTo(0, top)
      stop()
    })
    ending.signal.addEventListener('abort', () => room.disconnect())
    for (const way of CANCELLING_EVENTS) addEventListener(way, stop, { signal: ending.signal, passive: true })
    setTimeout(() => ending === restoring && stop(), WAITS_MS)
    room.observe(document.body)
  }

  if (keptTop() > 0) restore()
  return {
    note,
    restore,
    top() {
      stop()
      scrollTo(0, 0)
    },
  }
}

/** Returns false if the page does not show the element that the fragment names. */
function scrollToNamed(): boolean {
  const named = document.getElementById(location.hash.slice(1))
  named?.scrollIntoView()
  return named !== null
}

function keptTop(): number {
  return (history.state as { readonly top?: number } | null)?.top ?? 0
}
