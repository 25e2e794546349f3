// Remembers what was read for as long as nobody has written anything to the database: true by SQLite's own word, not by time.
import type { Database } from 'better-sqlite3'

/** Answers that are remembered, some 500 bytes each. */
const MAX_REMEMBERED = 20_000

/**
 * Reads many at once, in the transaction that is open; `read` answers undefined for what there is not, which is not
 * remembered. `PRAGMA data_version` tells, at the cost of one lookup for all of them, whether any other connection, of
 * whichever process, has committed since (https://www.sqlite.org/pragma.html#pragma_data_version): so `database` must not
 * be a connection that writes. `requireHere` throws, each time it is asked, once nothing here may be answered any more; it
 * is asked only then too.
 */
export function rememberUntilChanged<T>(
  database: Database,
  requireHere: () => void,
  read: (key: string) => T | undefined,
): (keys: readonly string[]) => readonly (T | undefined)[] {
  const dataVersion = database.prepare<[], number>('pragma data_version').pluck()
  const remembered = new Map<string, T>()
  let version: number | undefined

  function readNew(key: string): T | undefined {
    const found = read(key)
    if (found === undefined) return undefined
    remembered.set(key, found)
    if (remembered.size > MAX_REMEMBERED) {
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    }
    return found
  }

  return (keys) => {
    const current = dataVersion.get()
    if (current !== version) {
      requireHere()
      remembered.clear()
      version = current
    }
    return keys.map((key) => remembered.get(key) ?? readNew(key))
  }
}
