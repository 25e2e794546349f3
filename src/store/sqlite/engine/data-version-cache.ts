// A read cache that is valid until somebody commits to the database, as SQLite's `data_version` reports it, not by age.
import type { Database } from 'better-sqlite3'

/** Maximum number of cached answers, about 500 bytes each. */
const MAX_CACHED = 20_000
/**
 * Number of answers that a full cache keeps. It evicts many at a time, because V8 finds the first key of a map by
 * stepping over all keys that were deleted before it: one at a time took longer than reading a session.
 */
const KEPT_WHEN_FULL = 18_750

export interface ReadCache<T> {
  /**
   * Reads many keys at once. It must be the first read of a transaction that has just begun. `answer` gets undefined
   * for a key that does not exist.
   */
  readonly read: <A>(keys: readonly string[], answer: (found: T | undefined) => A) => readonly A[]
  /** Clears the cache. Call it with every write of this process that may change an answer. */
  readonly clear: () => void
  /** Evicts these keys. For a write that may change only their answers. */
  readonly evict: (keys: readonly string[]) => void
}

/**
 * `PRAGMA data_version` tells, with one lookup for all keys, whether another connection of this or another process has
 * committed since (https://www.sqlite.org/pragma.html#pragma_data_version). `reader` must not write, so its version
 * changes with every commit. The version of `writer` changes only with commits of other processes; this process evicts
 * for its own writes, so that one login does not invalidate all cached sessions. The writer's version is read before
 * the reader's transaction takes its snapshot, and compared afterwards, so that no commit in between is missed.
 *
 * `assertActive` is called whenever the database has changed. It throws, on every call, once the database may no longer
 * answer.
 */
export function cacheUntilCommit<T>(
  reader: Database,
  writer: Database,
  assertActive: () => void,
  read: (key: string) => T | undefined,
): ReadCache<T> {
  const version = reader.prepare<[], number>('pragma data_version').pluck()
  const othersVersion = writer.prepare<[], number>('pragma data_version').pluck()
  const remembered = new Map<string, T>()
  let lastVersion: number | undefined
  let lastOthersVersion: number | undefined

  function readMiss(key: string): T | undefined {
    const found = read(key)
    // Misses are not cached: adding a row does not invalidate the cache.
    if (found === undefined) return undefined
    remembered.set(key, found)
    if (remembered.size > MAX_CACHED) evictOldest()
    return found
  }

  function evictOldest(): void {
    for (const key of remembered.keys()) {
      if (remembered.size <= KEPT_WHEN_FULL) return
      remembered.delete(key)
    }
  }

  function clearIfOthersCommitted(): void {
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
      clearIfOthersCommitted()
      return keys.map((key) => answer(remembered.get(key) ?? readMiss(key)))
    },
    clear: () => remembered.clear(),
    evict(keys) {
      for (const key of keys) remembered.delete(key)
    },
  }
}
