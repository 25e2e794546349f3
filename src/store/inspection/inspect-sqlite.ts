// Inspects an SQLite database on its disk: schema version, files, permissions, free space, file system, users.
import { closeSync, existsSync, openSync, readFileSync, readSync, type Stats, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { StoreOpenError } from '../contract.ts'
import { assertOwnLog } from '../sqlite/engine/faults/foreign-log.ts'
import { networkFileSystem } from '../sqlite/engine/faults/startup-check.ts'
import { requireFile } from '../sqlite/engine/files/require-file.ts'
import { APPLICATION_ID, SCHEMA_VERSION } from '../sqlite/migrations.ts'

/** Layout of the file header: https://www.sqlite.org/fileformat.html, section 1.3. */
const HEADER_BYTES = 100
const USER_VERSION_OFFSET = 60
const APPLICATION_ID_OFFSET = 68
const TMPFS = 0x01021994
const LOCKS = '/proc/locks'
/** Offset in the `-shm` file that every connection locks while it is open (SQLite, os_unix.c, `UNIX_SHM_DMS`). */
const OPEN_BYTE = '128'

export interface DatabaseFile {
  readonly path: string
  /** Permission bits. */
  readonly mode: number
  readonly uid: number
  readonly byteLength: number
}

export interface SqliteInspection {
  readonly engine: 'sqlite'
  readonly schemaVersion: number
  readonly knownVersion: number
  /** The database file, and the `-wal` and `-shm` files beside it. */
  readonly files: readonly DatabaseFile[]
  readonly directory: Omit<DatabaseFile, 'byteLength'>
  readonly logBytes: number
  readonly freeBytes: number
  /** Name of the file system if it is a network file system, else null. */
  readonly networkFileSystem: string | null
  /** Whether the file is on a tmpfs, which a reboot empties. */
  readonly isInMemory: boolean
}

export function inspectSqlite(path: string): SqliteInspection {
  const file = fileAt(path)
  if (!file) throw new StoreOpenError(`there is no database at ${path}`)
  assertOwnLog(path)
  const [log, sharedMemory] = [fileAt(`${path}-wal`), fileAt(`${path}-shm`)]
  const { applicationId, schemaVersion } =
    log && sharedMemory && log.byteLength > 0 ? askSqlite(path) : readHeader(path)
  if (applicationId !== APPLICATION_ID) throw new StoreOpenError(`${path} is not a database of this program`)
  const { bavail, bsize, type } = statfsSync(dirname(path))
  const directory = statSync(dirname(path))
  return {
    engine: 'sqlite',
    schemaVersion,
    knownVersion: SCHEMA_VERSION,
    files: [file, ...[log, sharedMemory].flatMap((found) => found ?? [])],
    directory: { path: dirname(path), mode: modeOf(directory), uid: directory.uid },
    logBytes: log?.byteLength ?? 0,
    freeBytes: bavail * bsize,
    networkFileSystem: networkFileSystem(type),
    isInMemory: type === TMPFS,
  }
}

/**
 * Descriptions of the other processes that have the database open (proc(5), /proc/locks); empty where the kernel does
 * not provide that.
 */
export function processesUsing(path: string): readonly string[] {
  const sharedMemory = statSync(`${path}-shm`, { throwIfNoEntry: false, bigint: true })
  if (!sharedMemory || !existsSync(LOCKS)) return []
  const locks = readFileSync(LOCKS, 'utf8').split('\n')
  const holders = locks.flatMap((line) => {
    const [, , , , pid = '', place = '', first, last] = line.split(/\s+/)
    return place.endsWith(`:${sharedMemory.ino}`) && first === OPEN_BYTE && last === OPEN_BYTE ? Number(pid) : []
  })
  return [...new Set(holders)].filter((pid) => pid !== process.pid).map((pid) => `process ${pid}`)
}

function fileAt(path: string): DatabaseFile | null {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return null
  requireFile(found, path)
  return { path, mode: modeOf(found), uid: found.uid, byteLength: found.size }
}

function modeOf({ mode }: Stats): number {
  return mode & 0o7777
}

/**
 * Call it only if `-wal` and `-shm` exist: SQLite would create them otherwise, and if root runs this, the gateway could
 * not write to them.
 */
function askSqlite(path: string): { readonly applicationId: unknown; readonly schemaVersion: number } {
  const database = new SqliteDatabase(path, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    return {
      applicationId: database.pragma('application_id', { simple: true }),
      schemaVersion: Number(database.pragma('user_version', { simple: true })),
    }
  } finally {
    database.close()
  }
}

/** Reads the state of the last checkpoint. That suffices: a migration is checkpointed soon. */
function readHeader(path: string): { readonly applicationId: number; readonly schemaVersion: number } {
  const descriptor = openSync(path, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    readSync(descriptor, header, 0, HEADER_BYTES, 0)
    return {
      applicationId: header.readUInt32BE(APPLICATION_ID_OFFSET),
      schemaVersion: header.readUInt32BE(USER_VERSION_OFFSET),
    }
  } finally {
    closeSync(descriptor)
  }
}
