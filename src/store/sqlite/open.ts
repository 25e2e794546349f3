// Opens the SQLite store: assembles all verbs on one connection that reads and one that writes, both in WAL mode.
import { resolve } from 'node:path'
import type { Database } from 'better-sqlite3'
import { StoreFaultError, StoreUnavailableError } from '../contract.ts'
import type { MigratableStore } from '../cutover/contract.ts'
import { createAuditLog } from './access/audit.ts'
import { createEraseTraces } from './access/erase-traces.ts'
import { createRestCalls } from './access/rest-calls.ts'
import { createSessions } from './access/sessions.ts'
import { createSigningKeys } from './access/signing-keys.ts'
import { openReader } from './connection.ts'
import { createCarriedReads } from './copies/carried-rows.ts'
import { createCopies } from './copies/row-copies.ts'
import { createActiveCheck, createMoves, whileOpen } from './cutover.ts'
import {
  type ConnectionOptions,
  type Connections,
  openConnections,
  type Place,
} from './engine/connecting/open-connections.ts'
import { toOpenError } from './engine/connecting/open-errors.ts'
import { createFaultLatch, type FaultLatch } from './engine/faults/fault-latch.ts'
import { assertHasContent, noteIfLost } from './engine/faults/lost-marker.ts'
import type { DatabaseFiles } from './engine/faults/watch-database-files.ts'
import { whileLocked } from './engine/faults/while-locked.ts'
import { createWritableCheck } from './engine/faults/writable-check.ts'
import { behindLinks } from './engine/files/behind-links.ts'
import { createGroupCommit } from './engine/group-commit.ts'
import { refuseWrites } from './engine/read-only/refuse-writes.ts'
import { createReadTransaction } from './engine/read-transaction.ts'
import { createChanges } from './import.ts'
import { createReads } from './reads.ts'
import { createRemovals } from './removals.ts'
import { createReplacements } from './replacements.ts'
import { createClients } from './sign-in/clients.ts'
import { createCodes } from './sign-in/codes.ts'
import { createOutbox } from './sign-in/outbox.ts'
import { createSpace } from './space.ts'
import { createStatistics } from './statistics.ts'

/** Interval of the check whether the database files were deleted or replaced. It matters while nothing is written. */
const FILES_CHECK_MS = 500

export interface SqliteStoreOptions extends ConnectionOptions {
  /** Throw instead of creating a missing file. */
  readonly mustExist?: boolean
  /** Whether the database is in use (default: always). No "lost" marker is written for one that is not. */
  readonly isInUse?: () => boolean
  /** Called once when the disk or the file fails. Only a restart can tell what is durable. */
  readonly onFatal: (error: unknown) => void
}

/** Opens the file, creates it if it is missing, and migrates it to the current schema. */
export async function openSqliteStore(relativePath: string, options: SqliteStoreOptions): Promise<MigratableStore> {
  // Opening the file reports a cycle of links, or a link that this process may not follow.
  const relativeFile = await behindLinks(relativePath).catch(() => relativePath)
  if (options.mustExist || options.isReadOnly) assertHasContent(relativeFile, relativePath)
  const place = { path: absolute(relativeFile), named: absolute(relativePath) }
  const connections = await openConnections(place, options)
  try {
    return storeOn(connections, place, options)
  } catch (error) {
    connections.close()
    throw toOpenError(error, place.path)
  }
}

/** Builds the store. Throws, without leaving a timer behind, if the file lacks a part of its schema version. */
function storeOn(connections: Connections, { path, named }: Place, options: SqliteStoreOptions): MigratableStore {
  const { lockTimeoutMs, isReadOnly = false, isInUse = () => true, checkpoints } = options
  const { writer, reader, files } = connections
  const faults = createFaultLatch(path, (error) => {
    if (!isReadOnly && isInUse()) noteIfLost(path, named)
    options.onFatal(error)
  })
  const turn = createReadTransaction(reader, faults, createActiveCheck(reader))
  const commits = isReadOnly
    ? refuseWrites()
    : createGroupCommit(writer, {
        lockTimeoutMs,
        faults,
        onCommitted: turn.refresh,
        assertInPlace: files.assertInPlace,
      })
  const { openCommits, stagingCommits } = whileOpen(writer, commits)
  const assertWritable = isReadOnly ? () => {} : createWritableCheck(path, writer, commits, faults)
  const ping = reader.prepare('select 1 from user limit 1')
  const verbs = {
    ...createReads(reader, turn.read, turn.readNow),
    ...createSessions(reader, turn, writer, openCommits),
    ...createSigningKeys(
      reader,
      turn,
      writer,
      openCommits,
      createEraseTraces(writer, path, lockTimeoutMs, checkpoints),
      faults,
    ),
    ...createAuditLog(reader, turn, writer, openCommits),
    ...createRestCalls(reader, turn, writer, openCommits),
    ...createCodes(reader, turn, writer, openCommits, faults),
    ...createOutbox(writer, openCommits, faults),
    ...createClients(reader, turn, writer, openCommits),
    ...createChanges(reader, turn, writer, openCommits, stagingCommits),
    ...createRemovals(reader, turn, writer, openCommits),
    ...createReplacements(writer, openCommits, stagingCommits),
    ...createSpace(writer, openCommits, { faults, ...options }),
    ...createStatistics(reader, faults),
    ...createMoves(reader, turn, writer, commits),
    ...createCarriedReads(reader, turn),
    ...createCopies(writer, commits),
  }
  const watching = setInterval(() => checkFiles(files, faults), FILES_CHECK_MS).unref()
  return {
    ...verbs,
    openSnapshot: () => faults.guardAsync(whileLocked(lockTimeoutMs, () => openSnapshot(connections, faults))),
    earlierTime: (now) => now,
    async ping() {
      checkFiles(files, faults)
      faults.assertWritable()
      turn.decide(() => ping.get())
      await assertWritable()
    },
    async [Symbol.asyncDispose]() {
      clearInterval(watching)
      await commits.settled()
      turn.refresh()
      connections.close()
    },
  }
}

/** Checks the files, so that a deleted database is noticed even while nobody writes. */
function checkFiles(files: DatabaseFiles, faults: FaultLatch): void {
  try {
    faults.assertInPlace(files.assertInPlace)
  } catch {
    // A loss has been reported by the latch; after an inconclusive check, the next one follows soon.
  }
}

function absolute(path: string): string {
  try {
    return resolve(path)
  } catch (error) {
    throw new StoreFaultError(`cannot open ${path}: the working directory was removed`, { cause: error })
  }
}

function openSnapshot({ path, file, files, writer }: Connections, faults: FaultLatch) {
  // Requests that outlive the grace period of a shutdown may get here. The file watch is closed by then, too.
  if (!writer.open) throw new StoreUnavailableError('the store is closed')
  faults.assertInPlace(files.assertInPlace)
  const database: Database = openReader(path, file)
  try {
    database.exec('begin')
    // A deferred transaction takes its snapshot at its first read.
    database.prepare('select 1 from user limit 1').get()
    return {
      ...createReads(database, faults.guard),
      async [Symbol.asyncDispose]() {
        database.close()
      },
    }
  } catch (error) {
    database.close()
    throw error
  }
}
