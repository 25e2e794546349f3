// Moving between pages without a reload, so that tokens can stay in memory.

export interface Place {
  /** Under the base path. */
  readonly path: string
  /** With its question mark, or empty. */
  readonly search: string
  /** Another one after every visit: a link followed, back, forward. Not when a page writes its own state into the address. */
  readonly visit: number
}

export interface Navigation {
  readonly place: () => Place
  readonly subscribe: (listener: () => void) => () => void
  /** Visits an address under the base path. */
  readonly go: (to: string) => void
  /** Writes a page's state into the address; the page is not visited again. */
  readonly replace: (to: string) => void
  /** The address with which a page was left, to return to it as it was. */
  readonly lastOf: (path: string) => string
}

export function createNavigation(basePath: string): Navigation {
  const listeners = new Set<() => void>()
  const last = new Map<string, string>()
  let place = read(0)

  function read(visit: number): Place {
    return { path: location.pathname.slice(basePath.length) || '/', search: location.search, visit }
  }

  function moved(): void {
    place = read(place.visit + 1)
    last.set(place.path, place.path + place.search)
    for (const listener of listeners) listener()
  }

  addEventListener('popstate', moved)
  return {
    place: () => place,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    go(to) {
      history.pushState(null, '', basePath + to)
      moved()
      scrollTo(0, 0)
    },
    replace(to) {
      if (basePath + to !== location.pathname + location.search) history.replaceState(history.state, '', basePath + to)
      last.set(place.path, to)
    },
    lastOf: (path) => last.get(path) ?? path,
  }
}
