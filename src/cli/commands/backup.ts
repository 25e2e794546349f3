// backup: writes everything that is stored, with sessions and keys, to a file or stdout while gateways go on serving.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Worker } from 'node:worker_threads'
import { MachineError, reasonOf, UsageError } from '../../errors.ts'
import { backupLines } from '../../migration/backup-records.ts'
import { databasePath } from '../../store/open-store.ts'
import type { CopyRequest } from '../backup/copy-worker.ts'
import { backupName, removeAbandonedParts, removeOldBackups, requireFolder } from '../backup/kept-backups.ts'
import { leaveRemovedDirectory } from '../backup/leave-removed-directory.ts'
import { publishFile, requireFree } from '../backup/publish-file.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openStoreInCharge } from '../open-store-for-cli.ts'
import type { BackupConfig } from '../options/workspace-options.ts'
import { createProgress, tookInWords } from '../progress.ts'

const PROGRESS_MS = 200

/** The `place` that means stdout. */
const STDOUT = '-'

interface Context {
  readonly io: CommandIo
  readonly stop: AbortSignal
}

/**
 * `place` is a file, `-` for stdout or, with `keepNewest`, the folder for the backup. When `stop` is aborted, no file
 * is left and the exit code is 1.
 */
export async function runBackup(
  place: string,
  config: BackupConfig,
  io: CommandIo,
  stop: AbortSignal,
): Promise<ExitCode> {
  try {
    if (place === STDOUT) await writeBackup(config, { io, stop })
    else if (config.keepNewest === undefined) await makeNamed(place, config, { io, stop })
    else await makeNewest(place, config.keepNewest, config, { io, stop })
    return 0
  } catch (error) {
    if (!stop.aborted) throw error
    io.stderr.write('stopped: no backup was made\n')
    return 1
  }
}

async function makeNamed(path: string, config: BackupConfig, context: Context): Promise<void> {
  await requireFree(path)
  await makeBackup(path, config, context)
}

async function makeNewest(folder: string, keep: number, config: BackupConfig, { io, stop }: Context): Promise<void> {
  await requireFolder(folder)
  const tell = (name: string) => io.stdout.write(`removed ${join(folder, name)}\n`)
  // Abandoned parts go before anything is written: they may be what fills the disk.
  for (const part of await removeAbandonedParts(folder, io.clock())) tell(part)
  const name = backupName(io.clock())
  await makeBackup(join(folder, name), config, { io, stop })
  const { removed, reasons } = await removeOldBackups(folder, keep, name)
  for (const old of removed) tell(old)
  if (reasons.length > 0)
    throw new MachineError(`backed up, but older backups could not be removed: ${reasons.join('; ')}`)
}

/**
 * Writes lines for SQLite too, not a database file: the last line proves that the stream is complete, and a database
 * file could be cut off unnoticed.
 */
async function writeBackup(config: BackupConfig, { io, stop }: Context): Promise<void> {
  if (config.keepNewest !== undefined)
    throw new UsageError('--keep-newest: name a folder for the backups instead of stdout (-)')
  const start = performance.now()
  await using store = await openStoreInCharge(config)
  const hash = createHash('sha256')
  let byteLength = 0
  async function* counted(lines: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const line of lines) {
      hash.update(line)
      byteLength += Buffer.byteLength(line)
      yield line
    }
  }
  const lines = Readable.from(counted(backupLines(store, io.clock())), { objectMode: true })
  await pipeline(lines, io.stdout, { end: false, signal: stop }).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE'
      ? new MachineError(`the backup is incomplete: the program that reads it ended (${reasonOf(error)})`)
      : error
  })
  io.stderr.write(`backed up to stdout: ${tookInWords(byteLength, start)}, sha256 ${hash.digest('hex')}\n`)
}

async function makeBackup(path: string, config: BackupConfig, { io, stop }: Context): Promise<void> {
  const start = performance.now()
  const from = databasePath(config.database)
  await using store = await openStoreInCharge(config)
  const digest = await publishFile(path, async (part) => {
    if (from !== null) await copyFile({ from, to: part, checkpoints: config.checkpoints }, { io, stop })
    else await writeLines(backupLines(store, io.clock()), part, stop)
  })
  const { size } = await stat(path)
  io.stdout.write(`backed up to ${path}: ${tookInWords(size, start)}, sha256 ${digest}\n`)
}

function writeLines(lines: AsyncIterable<string>, part: string, signal: AbortSignal): Promise<void> {
  return pipeline(Readable.from(lines), createWriteStream(part, { flags: 'r+' }), { signal })
}

async function copyFile(workerData: CopyRequest, { io, stop }: Context): Promise<void> {
  const { from, to } = workerData
  stop.throwIfAborted()
  const progress = createProgress(io, 'backing up', (await stat(from)).size)
  // Safe here: in a removed directory a relative path would already have failed, so both paths are absolute.
  leaveRemovedDirectory()
  const worker = new Worker(new URL('../backup/copy-worker.ts', import.meta.url), { workerData })
  const reasons: unknown[] = []
  worker.on('message', (reason) => reasons.push(reason))
  // The thread stops after its current SQLite call. It is never terminated: terminating a thread while it loads the
  // SQLite driver aborts the whole process.
  const tell = () => worker.postMessage('stop')
  stop.addEventListener('abort', tell)
  const timer = setInterval(() => {
    void stat(to).then(
      ({ size }) => progress.update(size),
      () => {},
    )
  }, PROGRESS_MS)
  try {
    // Rejects with the error that the thread throws.
    await once(worker, 'exit')
  } finally {
    stop.removeEventListener('abort', tell)
    clearInterval(timer)
    progress.clear()
  }
  stop.throwIfAborted()
  if (reasons.length > 0) throw new MachineError(`cannot back up ${from} to ${to}: ${reasons.join()}`)
}
