// Opens the two connections of a store, prepares the database, and watches its files.
import type { Database } from 'better-sqlite3'
import { type Checkpoints, openReader, openWriter } from '../../connection.ts'
import { migrate, requireOwn } from '../../migrations.ts'
import { assertNotLost } from '../faults/lost-marker.ts'
import { assertLocalFileSystem, assertWhole, type IntegrityCheck } from '../faults/startup-check.ts'
import { type DatabaseFiles, type OpenDatabaseFiles, watchDatabaseFiles } from '../faults/watch-database-files.ts'
import { whileLocked } from '../faults/while-locked.ts'
import type { FileIdentity } from '../files/file-identity.ts'
import { openForReading } from '../read-only/open-for-reading.ts'
import { toOpenError, toPathError } from './open-errors.ts'

export interface ConnectionOptions {
  /** How long a write waits for locks of other processes before it is refused as unavailable. */
  readonly lockTimeoutMs: number
  /** `external`: this process never runs a checkpoint. */
  readonly checkpoints?: Checkpoints
  /** Refuse every write with `StoreReadOnlyError`. The file must exist and have the current schema. */
  readonly isReadOnly?: boolean
  /** Integrity check before the file is used (default: off). */
  readonly check?: IntegrityCheck
  /** The file that this process has open already: another one at its path is refused before it is read. */
  readonly file?: FileIdentity | undefined
}

/** A file (`path`), and the name that the caller gave (`named`): a symbolic link to it, or the same path. */
export interface Place {
  readonly path: string
  readonly named: string
}

export interface Connections {
  readonly writer: Database
  readonly reader: Database
  /** Path of the open file. */
  readonly path: string
  readonly file: FileIdentity
  readonly files: DatabaseFiles
  readonly close: () => void
}

/**
 * Opens both connections. If several processes start on one file at once, each waits for the lock. Creates a missing
 * file, and migrates the database to the current schema, unless it is opened for reading only.
 */
export async function openConnections({ path, named }: Place, options: ConnectionOptions): Promise<Connections> {
  try {
    if (options.isReadOnly) return await openConnectionForReading({ path, named }, options)
    assertNotLost(path, named)
    const { writer, before } = await whileLocked(options.lockTimeoutMs, () => openDatabase(path, options))
    const reader = await prepare(writer, { path, file: before }, options)
    const close = () => {
      reader.close()
      writer.close()
    }
    const files = watchOrClose(close, () => watchDatabaseFiles(named, writer, before))
    return {
      writer,
      reader,
      path,
      file: before,
      files,
      close() {
        files.close()
        close()
      },
    }
  } catch (error) {
    throw toOpenError(error, path)
  }
}

function watchOrClose(close: () => void, watch: () => OpenDatabaseFiles): OpenDatabaseFiles {
  try {
    return watch()
  } catch (error) {
    close()
    throw error
  }
}

/** Opens one connection for both roles: writes are refused before they reach it. */
async function openConnectionForReading(
  { path, named }: Place,
  { lockTimeoutMs, check = 'off' }: ConnectionOptions,
): Promise<Connections> {
  assertLocalFileSystem(path)
  const opened = await whileLocked(lockTimeoutMs, () => openForReading(path, named))
  try {
    assertWhole(opened.reader, path, check)
  } catch (error) {
    opened.close()
    throw error
  }
  return { writer: opened.reader, ...opened }
}

/** Prepares the database through the writer, and returns the connection for reads. Closes the writer if it throws. */
async function prepare(
  writer: Database,
  { path, file }: { readonly path: string; readonly file: FileIdentity },
  { lockTimeoutMs, check = 'off' }: ConnectionOptions,
): Promise<Database> {
  try {
    await whileLocked(lockTimeoutMs, () => {
      // Before the next line, which changes the file: one of another program stays as it is.
      requireOwn(writer)
      writer.pragma('journal_mode = WAL')
      assertWhole(writer, path, check)
      migrate(writer)
    })
    return await whileLocked(lockTimeoutMs, () => openReader(path, file))
  } catch (error) {
    try {
      writer.close()
    } catch {
      // The first error is the one that the operator needs.
    }
    throw error
  }
}

/** Opens the writer. `before` is what the file was just before. */
function openDatabase(path: string, { checkpoints, file }: ConnectionOptions): ReturnType<typeof openWriter> {
  try {
    return openWriter(path, checkpoints, file)
  } catch (error) {
    throw toPathError(error, path)
  }
}
