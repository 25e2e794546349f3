// Wraps localStorage and sessionStorage. When storage is blocked or full, nothing is saved and the pages still work.

export type BrowserStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** `storage` is called on every use, because even reading `window.localStorage` throws where storage is blocked. */
export function browserStorage(storage: () => Storage): BrowserStorage {
  function attempt<T>(use: (opened: Storage) => T): T | null {
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

export function isBlocked(storage: () => Storage): boolean {
  try {
    storage()
    return false
  } catch {
    return true
  }
}
