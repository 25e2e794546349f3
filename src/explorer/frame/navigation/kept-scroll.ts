// How far down the window was, kept with each entry of the history: back, forward and a reload show the same place.

export interface KeptScroll {
  /** Writes it down for the entry that the window is at. */
  readonly note: () => void
  /** Goes to where the entry was, once there is so much to see: pages load what they show. Begun by itself after a reload. */
  readonly restore: () => void
  /** To the beginning, for a page that is new. */
  readonly top: () => void
}

const RESTS_AFTER_MS = 250
/** After that a jump would surprise. */
const WAITS_MS = 5_000
/** By these a person goes elsewhere. */
const OWN_WAYS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

export function createKeptScroll(): KeptScroll {
  // Browsers do it before a page of ours has anything to scroll.
  history.scrollRestoration = 'manual'
  let timer = 0
  let restoring: AbortController | null = null

  function note(): void {
    clearTimeout(timer)
    // What a page that is still loading clamps is no place that a person chose.
    if (restoring) return
    if (keptTop() !== scrollY) history.replaceState({ top: scrollY }, '')
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
    const ending = new AbortController()
    restoring = ending
    const room = new ResizeObserver(() => {
      if (document.documentElement.scrollHeight - innerHeight < top) return
      scrollTo(0, top)
      stop()
    })
    ending.signal.addEventListener('abort', () => room.disconnect())
    for (const way of OWN_WAYS) addEventListener(way, stop, { signal: ending.signal, passive: true })
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

function keptTop(): number {
  return (history.state as { readonly top?: number } | null)?.top ?? 0
}
