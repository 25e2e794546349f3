// Finds a write-ahead log that belongs to another database: SQLite would apply it to the file beside it.
import { openSync, readSync, statSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { StoreFaultError } from '../../../contract.ts'

/** Offset of the read version in the file header; 2 means write-ahead log (https://www.sqlite.org/fileformat.html). */
const READ_VERSION_AT = 19
const LOG_MODE_VERSION = 2
/** For a file too short to have a version. With a first page in the log, SQLite would open it all the same. */
const NO_VERSION = 0

/**
 * Descriptors of databases, by device and inode. They stay open until the process ends: closing one would drop the
 * locks that connections of this process hold on the file (https://www.sqlite.org/howtocorrupt.html, section 2.2).
 */
const descriptors = new Map<string, number>()

/**
 * Whether there is a log beside a file that is not in WAL mode, such as a backup that was copied over a database. False
 * in other threads than the main one, which has looked before: Node closes the descriptors of a thread when it ends.
 */
export function hasForeignLog(path: string): boolean {
  if (!isMainThread || !hasLog(path)) return false
  const version = readVersion(path)
  // Look again: a process that leaves WAL mode removes the log before it changes the version.
  return version !== null && version !== LOG_MODE_VERSION && hasLog(path)
}

/** Throws `StoreFaultError` for a log of another database. */
export function assertOwnLog(path: string): void {
  if (!hasForeignLog(path)) return
  throw new StoreFaultError(
    `${path}-wal belongs to another database, and SQLite would mix the two. If ${path} is a copy of a backup, restore the backup with the command restore; otherwise move the -wal and -shm files away`,
  )
}

function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Null for a file that cannot be read: whoever opens it reports that. */
function readVersion(path: string): number | null {
  try {
    const version = Buffer.alloc(1)
    return readSync(descriptorOf(path), version, 0, 1, READ_VERSION_AT) === 0 ? NO_VERSION : version.readUInt8()
  } catch {
    return null
  }
}

function descriptorOf(path: string): number {
  const { dev, ino } = statSync(path)
  const name = `${dev}:${ino}`
  const descriptor = descriptors.get(name) ?? openSync(path, 'r')
  descriptors.set(name, descriptor)
  return descriptor
}
