// Remembers what was read for as long as nobody has written anything to the database: true by SQLite's own word, not by time.
import type { Database } from 'better-sqlite3'

/** Answers that are remembered, some 500 bytes each. */
const MAX_REMEMBERED = 20_000

export interface Remembered<T> {
  /** Reads many at once, first of all in a transaction that was just begun; `answer` is given undefined for what there is not. */
  readonly read: <A>(keys: readonly string[], answer: (found: T | undefined) => A) => readonly A[]
  /** To be called with every write of this process that may change an answer. */
  readonly forget: () => void
  /** The same for a write that may change the answers of these keys only. */
  readonly forgetOnly: (keys: readonly string[]) => void
}

/**
 * `PRAGMA data_version` tells, at the cost of one lookup for all keys, whether any other connection, of whichever process,
 * has committed since (https://www.sqlite.org/pragma.html#pragma_data_version). `reader` must not write: its version tells
 * whether there is anything new at all. The version of `writer` leaves out what this process wrote itself, which is known
 * without asking: so a login does not make all others be looked up again. It is taken before the reader's transaction sees its state,
 * and compared after: nothing can have come in between. `assertActive` throws, each time it is asked, once nothing
 * here may be answered any more; it is asked whenever there is anything new.
 */
export function cacheUntilCommit<T>(
  reader: Database,
  writer: Database,
  assertActive: () => void,
  read: (key: string) => T | undefined,
): Remembered<T> {
  const version = reader.prepare<[], number>('pragma data_version').pluck()
  const othersVersion = writer.prepare<[], number>('pragma data_version').pluck()
  const remembered = new Map<string, T>()
  let lastVersion: number | undefined
  let lastOthersVersion: number | undefined

  function readNew(key: string): T | undefined {
    const found = read(key)
    // What there is not is not remembered: it may be added.
    if (found === undefined) return undefined
    remembered.set(key, found)
    if (remembered.size > MAX_REMEMBERED) {
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    }
    return found
  }

  function forgetWhatOthersChanged(): void {
    const othersBefore = othersVersion.get()
    const current = version.get()
    if (current === lastVersion) return
    assertActive()
    if (othersVersion.get() !== lastOthersVersion) remembered.clear()
    lastVersion = current
    lastOthersVersion = othersBefore
  }

  return {
    read(keys, answer) {
      forgetWhatOthersChanged()
      return keys.map((key) => answer(remembered.get(key) ?? readNew(key)))
    },
    forget: () => remembered.clear(),
    forgetOnly(keys) {
      for (const key of keys) remembered.delete(key)
    },
  }
}
