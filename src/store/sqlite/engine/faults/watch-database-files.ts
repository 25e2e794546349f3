// Checks that the files of an open database are still those at its path: SQLite continues to write to deleted files.
import { type BigIntStats, realpathSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { reasonOf } from '../../../../errors.ts'
import { memberOf } from '../../../../member-of.ts'
import { StoreDamagedError, StoreFaultError, StoreUnavailableError } from '../../../contract.ts'
import { openReader } from '../../connection.ts'
import { type FileIdentity, requireSameFile, statOf } from '../files/file-identity.ts'
import { openCommittedLog } from './committed-log.ts'
import { createHoleWatch } from './hole-watch.ts'
import { faultOf, isBusy, toStoreError } from './sqlite-errors.ts'
import { assertWhole } from './startup-check.ts'

/** Number of tries on open: a checkpoint between two looks can shrink the file, but not every time. */
const LOOKS_AT_OPEN = 5

export interface DatabaseFiles {
  /**
   * Throws if a file was deleted, replaced or truncated; throws `StoreUnavailableError` if that cannot be determined.
   * Cheap enough to call before every write and every acknowledgement: three `stat` calls, and a read of what was
   * appended to the log. Do not call it within a transaction of the connection.
   */
  readonly assertInPlace: () => void
}

export interface OpenDatabaseFiles extends DatabaseFiles {
  readonly close: () => void
}

interface LogState {
  readonly busy: number
  /** Number of frames in the write-ahead log, and how many of them the database file contains already. */
  readonly log: number
  readonly checkpointed: number
}

interface WatchedFile {
  readonly name: string
  before: BigIntStats | undefined
  lastSize: bigint
  /** Minimum size that SQLite's state implies, given the last known size; null while that cannot be determined. */
  readonly leastSize: (lastSize: number) => number | null
}

/**
 * Call it while the database is open in WAL mode, so that both files exist. Throws `StoreFaultError` if a file is
 * shorter than other processes that have it open know: a write after the hole would make it look intact to them. It
 * never opens the database file itself: closing that descriptor would drop all locks that SQLite holds on it in this
 * process (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
 * `before` is what `statOf` found before `database` was opened: only that shows whether the file was replaced
 * since, while it was checked or migrated.
 */
export function watchDatabaseFiles(path: string, database: Database, before = statOf(path)): OpenDatabaseFiles {
  const pageSize = Number(database.pragma('page_size', { simple: true }))

  const noCheckpoint = database.prepare<[], LogState>('pragma wal_checkpoint(NOOP)')

  /** Null if SQLite cannot tell: another process is changing the log, or this connection is in a transaction. */
  function logState(): LogState | null {
    try {
      const state = noCheckpoint.get()
      return state && state.busy === 0 ? state : null
    } catch (error) {
      if (isBusy(error)) return null
      throw error
    }
  }

  function leastDatabaseSize(lastSize: number): number | null {
    const state = logState()
    const size = Number(database.pragma('page_count', { simple: true })) * pageSize
    // Pages that are only in the log need not be in the file yet, but the database has not shrunk.
    if (!state || state.log !== state.checkpointed) return size >= lastSize ? lastSize : null
    return size
  }

  // If `path` is a symbolic link, the log is beside its target.
  const realPath = realpathSync(path)
  const logName = `${realPath}-wal`
  const [file, logFile] = [watch(path, leastDatabaseSize, before), watch(logName, () => null)]
  // Processes with different -shm files no longer exclude each other, and overwrite each other's frames in the log.
  const index = watch(`${realPath}-shm`, () => null)
  const start = requireSameFile(path, before)
  const hasHole = createHoleWatch(start, {
    look: () => requireSameFile(path, start),
    isWhole: () => isWhole(realPath, start),
  })
  const log = openCommittedLog(logName, pageSize, () => logState()?.log ?? null)
  try {
    assertLongEnough(file)
    if (!log.isWhole()) throw cutShortBesideOthers(logName)
  } catch (error) {
    log.close()
    throw error
  }
  return {
    assertInPlace: whereAllowed(() => {
      if (hasHole(assertSame(file))) throw cutShort(path)
      assertSame(logFile)
      assertSame(index)
      if (!log.isWhole()) throw cutShort(logName)
    }),
    close: log.close,
  }
}

/** For a database that is read in place: `assertInPlace` throws if the file was deleted or replaced. */
export function watchReadFile(path: string): DatabaseFiles {
  const file = watch(path, () => null)
  return {
    assertInPlace: whereAllowed(() => {
      assertSame(file)
    }),
  }
}

/**
 * For a database whose copy is read: `assertInPlace` throws if the original was written to since. `path` must not be a
 * symbolic link.
 */
export function watchCopiedFiles(path: string): DatabaseFiles {
  const contents = () => [path, `${path}-wal`].map((name) => contentsOf(statOf(name))).join()
  const before = contents()
  return {
    assertInPlace: whereAllowed(() => {
      if (contents() !== before)
        throw new Error(`${path} was written to, but this process reads a copy of it: start again`)
    }),
  }
}

/** Without the right to enter its folder, nothing shows where a file is. The right may be given back. */
function whereAllowed(look: () => void): () => void {
  return () => {
    try {
      look()
    } catch (error) {
      if (memberOf(error, 'code') !== 'EACCES') throw error
      throw new StoreUnavailableError(`this process may not enter the folder of the database: ${reasonOf(error)}`, {
        cause: error,
      })
    }
  }
}

function contentsOf(found: BigIntStats | undefined): string {
  return found ? [found.dev, found.ino, found.size, found.mtimeNs].join(':') : 'none'
}

function watch(name: string, leastSize: WatchedFile['leastSize'], before = statOf(name)): WatchedFile {
  return { name, before, lastSize: before?.size ?? 0n, leastSize }
}

/** Returns what the file is now. */
function assertSame(file: WatchedFile): BigIntStats {
  const now = requireSameFile(file.name, file.before)
  file.before ??= now
  if (now.size < file.lastSize) {
    // VACUUM and checkpoints shrink files too.
    const least = file.leastSize(Number(file.lastSize))
    if (least === null) return now
    if (now.size < least) throw cutShort(file.name)
  }
  file.lastSize = now.size
  return now
}

/** Reads the whole file, through a connection that has no page of it in its cache. */
function isWhole(path: string, file: FileIdentity): boolean {
  try {
    const reader = openReader(path, file)
    try {
      assertWhole(reader, path, 'quick')
      return true
    } finally {
      reader.close()
    }
  } catch (error) {
    if (error instanceof StoreDamagedError || faultOf(error) === 'corrupt') return false
    throw toStoreError(error)
  }
}

function assertLongEnough({ name, leastSize }: WatchedFile): void {
  for (let look = 0; look < LOOKS_AT_OPEN; look += 1) {
    // Ask SQLite first, then `stat`: a write in between only makes the file longer.
    const least = leastSize(Number(statOf(name)?.size ?? 0n))
    if (least === null || Number(statOf(name)?.size ?? 0n) >= least) return
  }
  throw cutShortBesideOthers(name)
}

function cutShort(name: string): Error {
  return new Error(`${name} was cut short while it was in use`)
}

function cutShortBesideOthers(name: string): StoreFaultError {
  return new StoreFaultError(`${name} was cut short: end every process that uses the database, then restore a backup`)
}
