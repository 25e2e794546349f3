// What a browser keeps for these pages. Where the person blocks it, or it is full, nothing is kept and the pages work all the same.

export type BrowserStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Even to ask for a storage throws where it is blocked: `storage` is called for each use. */
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
