// restore: puts a backup in place of a database that nobody is using.
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { AuditStore } from '../../auth/audit/audit-log.ts'
import { MachineError, reasonOf, throwUsageError, UsageError } from '../../errors.ts'
import { restoreBackup, verifyBackup } from '../../migration/backup-records.ts'
import { MoveError } from '../../migration/row-copies.ts'
import { StoreOpenError, StoreUnavailableError } from '../../store/contract.ts'
import { databasePath } from '../../store/open-store.ts'
import { copyUnused, leaveLogMode, prepareRestored, verifyDatabase } from '../../store/sqlite/backup.ts'
import { behindLinks } from '../../store/sqlite/engine/files/behind-links.ts'
import { makeDirectories } from '../../store/sqlite/engine/files/make-directories.ts'
import { linesOfBackup } from '../backup/lines-of-backup.ts'
import { removeParts, syncPath, verifyDigest } from '../backup/publish-file.ts'
import { orUsageError, putInPlace } from '../backup/put-in-place.ts'
import { removeLeftParts, restorePartOf } from '../backup/restore-parts.ts'
import { untilStopped } from '../backup/until-stopped.ts'
import { openReadableFile, requirePlain } from '../import/readable-file.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { requireWhole } from '../open-active-store.ts'
import { openCommandAudit } from '../open-audit.ts'
import { openStoreForCli } from '../open-store-for-cli.ts'
import type { RestoreConfig } from '../options/workspace-options.ts'

const SQLITE_HEADER = 'SQLite format 3\0'

interface Context {
  readonly config: RestoreConfig
  readonly io: CommandIo
  /** Called when the restore begins to write: from then on a signal aborts it instead of ending the process. */
  readonly stopSignal: () => AbortSignal
}

export async function runRestore(path: string, context: Context): Promise<ExitCode> {
  const isSqliteFile = (await readHeader(path)) === SQLITE_HEADER
  const isCompared = await verifyDigest(path)
  if (!isSqliteFile) return restoreRecords(path, context)
  const named = databasePath(context.config.database)
  if (named === null) {
    throw new UsageError('this is an SQLite database: restore it to file:PATH, then move it into PostgreSQL')
  }
  const exitCode = await replaceBy(await targetOf(named), path, context, (part, stop) =>
    prepareCopy(path, part, context, stop),
  )
  // SQLite verifies how its pages hang together. It has no checksum of what they hold.
  if (!isCompared && exitCode === 0) {
    context.io.stdout.write(
      `there was no ${path}.sha256: the structure was verified, but not what the backup contains\n`,
    )
  }
  return exitCode
}

/**
 * `target` stays as it was until `make` has filled the temporary file completely. A restore that is stopped before that
 * leaves no temporary file.
 */
async function replaceBy(
  target: string,
  path: string,
  { config, io, stopSignal }: Context,
  make: (part: string, stop: AbortSignal) => Promise<void>,
): Promise<ExitCode> {
  for (const left of await removeLeftParts(target))
    io.stdout.write(`removed ${left}, which a killed restore had left\n`)
  const part = restorePartOf(target)
  orUsageError(`cannot write ${part}`, () => makeDirectories(dirname(resolve(part))))
  const stop = stopSignal()
  try {
    await make(part, stop)
    stop.throwIfAborted()
    const kept = await putInPlace(part, target, io.clock())
    io.stdout.write(`restored ${path}${kept === null ? '' : `; what was there before is ${kept}`}\n`)
    reportEndedSessions(config, io)
    return 0
  } catch (error) {
    if (!stop.aborted) throw error
    io.stderr.write('stopped: nothing was restored\n')
    return 1
  } finally {
    await removeParts(part)
  }
}

function reportEndedSessions({ keepSessions }: RestoreConfig, { stdout }: CommandIo): void {
  if (keepSessions !== true) stdout.write('all sessions have ended: users must sign in again\n')
}

/** Records the restore in the audit log of the restored database. The replaced database is kept unchanged. */
async function recordRestore(store: AuditStore, config: RestoreConfig, io: CommandIo): Promise<void> {
  await using audit = await openCommandAudit(store, config, io)
  const detail = config.keepSessions === true ? 'sessions kept' : 'all sessions ended'
  audit.record({ kind: 'restore', result: 'done', detail })
}

async function readHeader(path: string): Promise<string> {
  await using file = await openReadableFile(path)
  await requirePlain(file, path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SQLITE_HEADER.length), 0, SQLITE_HEADER.length, 0)
  return buffer.toString('latin1', 0, bytesRead)
}

/** The path behind symbolic links: a rename to `path` itself would replace the link. Throws `UsageError`. */
async function targetOf(path: string): Promise<string> {
  const target = await behindLinks(path).catch(throwUsageError(`cannot write ${path}`))
  const found = await stat(target).catch(() => null)
  if (found?.isDirectory()) throw new UsageError(`cannot write ${path}: it is a folder, so name a file in it`)
  return target
}

/** Copies the backup to `part`, migrates it to the current schema, and applies `prepareRestored` to it. */
async function prepareCopy(path: string, part: string, { config, io }: Context, stop: AbortSignal): Promise<void> {
  await orMachineError(`cannot copy ${path} to ${part}`, () => copyUnused(path, part, () => stop.throwIfAborted()))
  {
    await using store = await openStoreForCli({ ...config, database: `file:${part}` }, true)
    // A backup may have been made during a move. The restored copy does not take part in that move.
    await store.cancelMove(null)
    const state = await store.moveState()
    requireWhole(state)
    if (state.phase === 'moved') {
      throw new StoreOpenError(
        `${path} is a backup of a database that had moved to another one: restore a backup of that one, or dump this one and import the result`,
      )
    }
    await recordRestore(store, config, io)
  }
  await orMachineError(`cannot write ${part}`, async () => {
    prepareRestored(part, { keepSessions: config.keepSessions === true })
    verifyDatabase(part)
    await syncPath(part)
  })
}

/** Turns errors such as a full disk into a `MachineError`, which is printed as one sentence without a stack. */
async function orMachineError(what: string, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (error instanceof StoreOpenError || error instanceof StoreUnavailableError) throw error
    throw new MachineError(`${what}: ${reasonOf(error)}`, { cause: error })
  }
}

async function restoreRecords(path: string, context: Context): Promise<ExitCode> {
  try {
    const digest = await verifyBackup(linesOfBackup(path))
    const named = databasePath(context.config.database)
    const target = named === null ? null : await targetOf(named)
    if (target === null || hasContent(target)) return await fillInPlace(path, digest, context)
    return await replaceBy(target, path, context, (part, stop) => makeFromLines(path, digest, part, context, stop))
  } catch (error) {
    if (!(error instanceof MoveError)) throw error
    context.io.stderr.write(`${error.message}\n`)
    return 1
  }
}

async function makeFromLines(
  path: string,
  digest: string,
  part: string,
  { config, io }: Context,
  stop: AbortSignal,
): Promise<void> {
  await fillFromLines(path, digest, { ...config, database: `file:${part}` }, io, stop)
  await orMachineError(`cannot write ${part}`, async () => {
    leaveLogMode(part)
    await syncPath(part)
  })
}

async function fillInPlace(path: string, digest: string, { config, io, stopSignal }: Context): Promise<ExitCode> {
  const stop = stopSignal()
  try {
    await fillFromLines(path, digest, config, io, stop)
  } catch (error) {
    if (!stop.aborted || error !== stop.reason) throw error
    io.stderr.write('stopped: the database is incomplete, run it again to continue\n')
    return 1
  }
  io.stdout.write(`restored ${path}\n`)
  reportEndedSessions(config, io)
  return 0
}

async function fillFromLines(
  path: string,
  digest: string,
  config: RestoreConfig,
  io: CommandIo,
  stop: AbortSignal,
): Promise<void> {
  await using store = await openStoreForCli(config)
  const keepSessions = config.keepSessions === true
  const lines = untilStopped(linesOfBackup(path), stop)
  await restoreBackup(lines, store, { digest, moveId: randomUUID(), keepSessions })
  await recordRestore(store, config, io)
}

function hasContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}
