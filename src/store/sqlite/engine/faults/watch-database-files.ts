// Whether the files of an open database are still the ones with its name: SQLite goes on writing into files that were deleted.
import { type BigIntStats, realpathSync, statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { StoreFaultError } from '../../../contract.ts'
import { openCommittedLog } from './committed-log.ts'
import { isBusy } from './sqlite-errors.ts'

/** A checkpoint that comes between two looks makes a file smaller; not every time. */
const LOOKS_AT_OPEN = 5

export interface DatabaseFiles {
  /**
   * Throws when a file was deleted, replaced or cut short, `StoreUnavailableError` when that cannot be told. Cheap enough to be asked
   * before every write and every acknowledgement: three `stat`, and what the log grew by. Not to be called within a transaction of the connection.
   */
  readonly assertInPlace: () => void
}

export interface OpenDatabaseFiles extends DatabaseFiles {
  readonly close: () => void
}

interface LogState {
  readonly busy: number
  /** Frames in the write-ahead log, and how many of them are in the database too. */
  readonly log: number
  readonly checkpointed: number
}

interface WatchedFile {
  readonly name: string
  before: BigIntStats | undefined
  lastSize: bigint
  /** What it has at least, as SQLite knows it, given what it had; null while that cannot be told. */
  readonly leastSize: (lastSize: number) => number | null
}

/**
 * To be called while the database is open in WAL mode, so that both files are there. Throws `StoreFaultError` when one is shorter than
 * other processes that have it open know: what is written behind the hole would make it look whole to them. The database is never opened here: closing it
 * would drop all the locks that SQLite holds on it in this process (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
 */
export function watchDatabaseFiles(path: string, database: Database): OpenDatabaseFiles {
  const pageSize = Number(database.pragma('page_size', { simple: true }))

  const noCheckpoint = database.prepare<[], LogState>('pragma wal_checkpoint(NOOP)')

  /** Null when SQLite cannot tell: another process changes it, or this connection is in a transaction. */
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
    // Pages that are only in the log need not be in the file yet, but no page was given up.
    if (!state || state.log !== state.checkpointed) return size >= lastSize ? lastSize : null
    return size
  }

  // Where `path` is a link, the log is beside what it leads to.
  const realPath = realpathSync(path)
  const logName = `${realPath}-wal`
  const [file, logFile] = [watch(path, leastDatabaseSize), watch(logName, () => null)]
  // Processes that have another one lock each other out no more, and write over each other in the log.
  const index = watch(`${realPath}-shm`, () => null)
  const log = openCommittedLog(logName, pageSize, () => logState()?.log ?? null)
  try {
    assertLongEnough(file)
    if (!log.isWhole()) throw cutShortBesideOthers(logName)
  } catch (error) {
    log.close()
    throw error
  }
  return {
    assertInPlace() {
      assertSame(file)
      assertSame(logFile)
      assertSame(index)
      if (!log.isWhole()) throw cutShort(logName)
    },
    close: log.close,
  }
}

/** For a database that is only read, where it lies: `assertInPlace` throws when another file has its name. */
export function watchReadFile(path: string): DatabaseFiles {
  const file = watch(path, () => null)
  return { assertInPlace: () => assertSame(file) }
}

/** For a database that a copy was made of: `assertInPlace` throws when anything was written to it since. `path` is no link. */
export function watchCopiedFiles(path: string): DatabaseFiles {
  const contents = () => [path, `${path}-wal`].map((name) => contentsOf(statOf(name))).join()
  const before = contents()
  return {
    assertInPlace() {
      if (contents() !== before) throw new Error(`${path} was written to, and a copy of it is being read: start again`)
    },
  }
}

function contentsOf(found: BigIntStats | undefined): string {
  return found ? [found.dev, found.ino, found.size, found.mtimeNs].join(':') : 'none'
}

function watch(name: string, leastSize: WatchedFile['leastSize']): WatchedFile {
  const before = statOf(name)
  return { name, before, lastSize: before?.size ?? 0n, leastSize }
}

function assertSame(file: WatchedFile): void {
  const now = statOf(file.name)
  if (!now) throw new Error(`${file.name} was deleted while it was in use`)
  file.before ??= now
  if (now.ino !== file.before.ino || now.dev !== file.before.dev) {
    throw new Error(`${file.name} was replaced by another file while it was in use`)
  }
  if (now.size < file.lastSize) {
    // VACUUM and checkpoints make files smaller too.
    const least = file.leastSize(Number(file.lastSize))
    if (least === null) return
    if (now.size < least) throw cutShort(file.name)
  }
  file.lastSize = now.size
}

function assertLongEnough({ name, leastSize }: WatchedFile): void {
  for (let look = 0; look < LOOKS_AT_OPEN; look += 1) {
    // In this order: what others write in between only adds.
    const least = leastSize(Number(statOf(name)?.size ?? 0n))
    if (least === null || Number(statOf(name)?.size ?? 0n) >= least) return
  }
  throw cutShortBesideOthers(name)
}

function cutShort(name: string): Error {
  return new Error(`${name} was cut short while it was in use`)
}

function cutShortBesideOthers(name: string): StoreFaultError {
  return new StoreFaultError(
    `${name} was cut short while another process uses the database: end that, then restore a backup`,
  )
}

function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}
