// dump: writes workspaces as NDJSON that `import` reads.
import { open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { throwMachineError, throwUsageError, UsageError } from '../../errors.ts'
import { dumpUser, dumpUsers } from '../../import-export/dump.ts'
import type { Snapshot, StoredUser } from '../../store/contract.ts'
import { isTaken, linkNew, partOf, syncPath, takenMessage } from '../backup/publish-file.ts'
import { untilStopped } from '../backup/until-stopped.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openStoreToRead } from '../open-store-for-cli.ts'
import type { DumpConfig } from '../options/dump-options.ts'
import { writeChunks } from '../write-line.ts'

/** As the value of `--output`, for stdout. */
const STDOUT = '-'

/**
 * `stopSignal` is called only when a file is written: from then on a signal aborts it instead of ending the process.
 * Throws `UsageError` for an unknown email or an output that exists, and `MachineError` when the output cannot be
 * written.
 */
export async function runDump(config: DumpConfig, io: CommandIo, stopSignal: () => AbortSignal): Promise<ExitCode> {
  await using store = await openStoreToRead(config, io)
  await using snapshot = await store.openSnapshot()
  const lines =
    config.email === undefined ? dumpUsers(snapshot) : dumpUser(snapshot, await requireUser(snapshot, config.email))
  if (config.output === undefined || config.output === STDOUT) {
    await pipeline(Readable.from(lines, { objectMode: true }), io.stdout, { end: false })
    return 0
  }
  // Awaited here because the store is closed on return.
  return await writeOutput(config.output, lines, stopSignal(), io)
}

/** Leaves no file when `stop` is aborted. */
async function writeOutput(
  path: string,
  lines: AsyncIterable<string>,
  stop: AbortSignal,
  { stderr }: CommandIo,
): Promise<ExitCode> {
  try {
    await writeNew(path, untilStopped(lines, stop))
    return 0
  } catch (error) {
    if (!stop.aborted) throw error
    stderr.write('stopped: nothing was written\n')
    return 1
  }
}

/** Creates the complete file, or no file of that name. */
async function writeNew(path: string, lines: AsyncIterable<string>): Promise<void> {
  if (await isTaken(path)) throw takenError(path)
  const part = partOf(path)
  const failed = throwMachineError(failureOf(path))
  try {
    await writePart(part, path, lines)
    if (!(await linkNew(part, path).catch(failed))) throw takenError(path)
  } finally {
    await rm(part, { force: true })
  }
  await syncPath(dirname(path)).catch(failed)
}

async function writePart(part: string, path: string, lines: AsyncIterable<string>): Promise<void> {
  await using file = await open(part, 'wx', 0o600).catch(throwUsageError(`--output: cannot create ${path}`))
  await writeChunks(file, lines, failureOf(path))
  await file.sync().catch(throwMachineError(failureOf(path)))
}

function takenError(path: string): UsageError {
  return new UsageError(`--output: ${takenMessage(path)}`)
}

function failureOf(path: string): string {
  return `--output: cannot write ${path}`
}

async function requireUser(snapshot: Snapshot, email: string): Promise<StoredUser> {
  const user = await snapshot.userByEmail(email)
  if (!user) throw new UsageError('--email: no workspace is stored for this email')
  return user
}
