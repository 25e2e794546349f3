// Client-side navigation: pages change without a reload, so that tokens can stay in memory.
import { createKeptScroll } from './kept-scroll.ts'

export interface Place {
  /** Path without the base path. */
  readonly path: string
  /** Query string with its question mark, or empty. */
  readonly search: string
  /** Fragment with its hash sign, or empty. */
  readonly hash: string
  /**
   * Changes with every visit: a followed link, back or forward. It stays the same when a page writes its own state into
   * the address.
   */
  readonly visit: number
}

export interface Navigation {
  readonly place: () => Place
  readonly subscribe: (listener: () => void) => () => void
  /** Visits an address, which is relative to the base path. */
  readonly go: (to: string) => void
  /** The current address without the base path, including a write that is still pending. */
  readonly address: () => string
  /** Writes a page's state into the address without a visit. Very frequent writes are throttled. */
  readonly replace: (to: string) => void
  /** Debounced `replace`, for state that changes with every scroll step. */
  readonly replaceSoon: (to: string) => void
  /** The last address of the page at `path`, to return to the page as the person left it. */
  readonly lastOf: (path: string) => string
  /** The address that opened the pages, as from a link, until its page is left; null after a reload. */
  readonly opened: () => string | null
  /**
   * Makes the addresses of this tab those of a user: their pages are where they left them, and back and forward show
   * nothing that another user left. If `isAnother`, so does the current address: it becomes `opened` for a user who was
   * not on this page before.
   */
  readonly belongTo: (email: string, isAnother: boolean, opened: string | null) => void
}

/** What a history entry holds beside the scroll position. */
interface EntryState {
  /** The email of the user whose state the address holds. */
  readonly user?: string
}

const RESTS_AFTER_MS = 250
/**
 * Browsers limit `replaceState` to about 100 calls per 30 s, which typing may exceed. Safari then throws; Chromium
 * ignores the call silently.
 */
const WRITE_COSTS_MS = 400
const WRITES_AT_ONCE = 20

export function createNavigation(basePath: string): Navigation {
  const listeners = new Set<() => void>()
  /** Keyed by path. */
  let last = new Map<string, string>()
  /** What `last` is for each user. */
  const lastOfUser = new Map<string, typeof last>()
  /** The user of this tab, also after a sign-out. Each history entry holds whose it is. */
  let user: string | null = null
  const scroll = createKeptScroll()
  let place = read(0)
  const opened = isReturn() ? null : addressOf(place)
  /** Throttle state on the clock of `performance.now()`: each write advances it by WRITE_COSTS_MS. */
  let paidUntil = 0
  let waiting: { readonly to: string; readonly timer: number } | null = null

  function read(visit: number): Place {
    return placeOf(location, visit)
  }

  function placeOf({ pathname, search, hash }: Pick<Location, 'pathname' | 'search' | 'hash'>, visit: number): Place {
    return { path: pathname.slice(basePath.length) || '/', search, hash, visit }
  }

  /** Includes the origin, because a path that begins with two slashes would name another host. */
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
    // A page that mounts again during this visit, as after signing in again, reads this place.
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

  function isOfAnother(): boolean {
    const of = (history.state as EntryState | null)?.user
    return user !== null && of !== undefined && of !== user
  }

  addEventListener('popstate', () => {
    // The pending write belongs to the history entry that was left.
    forget()
    if (isOfAnother()) history.replaceState({ user }, '', hrefOf(read(0).path))
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
      // As with any link, an entry for the address that is already shown would only make going back take longer.
      if (hrefOf(to) === location.href) history.replaceState(user === null ? null : { user }, '', hrefOf(to))
      else history.pushState(user === null ? null : { user }, '', hrefOf(to))
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
    belongTo(email, isAnother, opened) {
      if (email === user) return
      user = email
      last = lastOfUser.get(email) ?? (isAnother ? new Map() : last)
      lastOfUser.set(email, last)
      if (isAnother || isOfAnother()) replace(last.get(place.path) ?? opened ?? place.path)
      history.replaceState({ ...history.state, user }, '')
    },
  }
}

function addressOf({ path, search, hash }: Place): string {
  return path + search + hash
}

/** Whether a reload, back or forward loaded the pages: the address may then hold what a previous user wrote. */
function isReturn(): boolean {
  const [loaded] = performance.getEntriesByType('navigation')
  return loaded instanceof PerformanceNavigationTiming && loaded.type !== 'navigate'
}
