// Wraps localStorage and sessionStorage. When storage is blocked or full, nothing is saved and the pages still work.

export type BrowserStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** `storage` is called on every use, because even reading `window.localStorage` throws where storage is blocked. */
export function browserStorage(storage: () => BrowserStorage): BrowserStorage {
  function attempt<T>(use: (opened: BrowserStorage) => T): T | null {
    try {
      return use(storage())
    } catch {
      return null
    }
  }
  return {
    getItem: (key) => attempt((opened) => opened.getItem(key)),
    setItem: (key, value) => void attempt((opened) => opened.setItem(key, value)),
    removeItem: (key) => void attempt((opened) => opened.removeItem(key)),
  }
}

/** Like `browserStorage`, but what the browser does not store is in `unstored`, for as long as the pages are open. */
export function heldStorage(storage: () => BrowserStorage, unstored: Map<string, string>): BrowserStorage {
  const stored = browserStorage(storage)
  return {
    getItem: (key) => unstored.get(key) ?? stored.getItem(key),
    setItem(key, value) {
      stored.setItem(key, value)
      if (stored.getItem(key) === value) unstored.delete(key)
      else unstored.set(key, value)
    },
    removeItem(key) {
      unstored.delete(key)
      stored.removeItem(key)
    },
  }
}

export function isBlocked(storage: () => Storage): boolean {
  try {
    storage()
    return false
  } catch {
    return true
  }
}
