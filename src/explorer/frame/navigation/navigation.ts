// Moving between pages without a reload, so that tokens can stay in memory.
import { createKeptScroll } from './kept-scroll.ts'

export interface Place {
  /** Under the base path. */
  readonly path: string
  /** With its question mark, or empty. */
  readonly search: string
  /** With its hash sign, or empty. */
  readonly hash: string
  /** Another one after every visit: a link followed, back, forward. Not when a page writes its own state into the address. */
  readonly visit: number
}

export interface Navigation {
  readonly place: () => Place
  readonly subscribe: (listener: () => void) => () => void
  /** Visits an address under the base path. */
  readonly go: (to: string) => void
  /** The address under the base path as it is, or is about to be. */
  readonly address: () => string
  /** Writes a page's state into the address, a little later where that was done very often; the page is not visited again. */
  readonly replace: (to: string) => void
  /** The same once the person rests: for what changes with every step of scrolling. */
  readonly replaceSoon: (to: string) => void
  /** The address with which a page was left, to return to it as it was. */
  readonly lastOf: (path: string) => string
  /** The address with which the pages were opened, as by a link, while its page has not been left; null after a reload. */
  readonly opened: () => string | null
  /** Writes an address in the place of the one that is shown, and forgets how the pages were left. */
  readonly startAnew: (to: string) => void
}

const RESTS_AFTER_MS = 250
/** Safari refuses with an exception, or Chromium in silence, what comes more often than 100 times in 30 s. Typing may. */
const WRITE_COSTS_MS = 400
const WRITES_AT_ONCE = 20

export function createNavigation(basePath: string): Navigation {
  const listeners = new Set<() => void>()
  const last = new Map<string, string>()
  const scroll = createKeptScroll()
  let place = read(0)
  const opened = isReturn() ? null : addressOf(place)
  /** On the clock of `performance`: each write moves it on. */
  let paidUntil = 0
  let waiting: { readonly to: string; readonly timer: number } | null = null

  function read(visit: number): Place {
    return placeOf(location, visit)
  }

  function placeOf({ pathname, search, hash }: Pick<Location, 'pathname' | 'search' | 'hash'>, visit: number): Place {
    return { path: pathname.slice(basePath.length) || '/', search, hash, visit }
  }

  /** With its origin: what begins with two slashes would name another one. */
  function hrefOf(to: string): string {
    return location.origin + basePath + to
  }

  function moved(): void {
    place = read(place.visit + 1)
    last.set(place.path, place.path + place.search)
    for (const listener of listeners) listener()
  }

  function forget(): void {
    clearTimeout(waiting?.timer)
    waiting = null
  }

  function address(): string {
    return waiting?.to ?? place.path + location.search + location.hash
  }

  function replace(to: string): void {
    const waitMs = paidUntil - performance.now() - WRITES_AT_ONCE * WRITE_COSTS_MS
    if (waitMs > 0) writeAfter(waitMs, to)
    else write(to)
    note(to)
  }

  function note(to: string): void {
    // A page that is drawn anew within this visit, as after signing in again, reads it.
    const written = placeOf(new URL(hrefOf(to)), place.visit)
    if (addressOf(written) !== addressOf(place)) place = written
    last.set(place.path, to)
  }

  function write(to: string): void {
    forget()
    if (basePath + to === location.pathname + location.search + location.hash) return
    history.replaceState(history.state, '', hrefOf(to))
    paidUntil = Math.max(paidUntil, performance.now()) + WRITE_COSTS_MS
  }

  function writeAfter(waitMs: number, to: string): void {
    forget()
    waiting = { to, timer: Number(setTimeout(() => replace(to), waitMs)) }
  }

  function settle(): void {
    if (waiting) {
      note(waiting.to)
      write(waiting.to)
    }
    scroll.note()
  }

  addEventListener('popstate', () => {
    // It was meant for the entry that was left.
    forget()
    moved()
    scroll.restore()
  })
  addEventListener('pagehide', settle)
  return {
    place: () => place,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    go(to) {
      settle()
      history.pushState(null, '', hrefOf(to))
      moved()
      scroll.top()
    },
    address,
    replace,
    replaceSoon(to) {
      writeAfter(RESTS_AFTER_MS, to)
    },
    lastOf: (path) => last.get(path) ?? path,
    opened: () => (place.visit === 0 ? opened : null),
    startAnew(to) {
      last.clear()
      replace(to)
    },
  }
}

function addressOf({ path, search, hash }: Place): string {
  return path + search + hash
}

/** A reload, back or forward: the address may hold what somebody wrote before. */
function isReturn(): boolean {
  const [loaded] = performance.getEntriesByType('navigation')
  return loaded instanceof PerformanceNavigationTiming && loaded.type !== 'navigate'
}
