// import: imports workspaces from NDJSON, directly, through POST /import, or from another server of the contract.
import { basename } from 'node:path'
import { MachineError, UsageError } from '../../errors.ts'
import { type CheckedInput, checkInput } from '../../import-export/checks/validate.ts'
import {
  badLinesInWords,
  countsInWords,
  notImportedInWords,
  orphansByLine,
  orphansInWords,
} from '../../import-export/counts-in-words.ts'
import { InputChangedError, type Line } from '../../import-export/format/lines.ts'
import { applyInput } from '../../import-export/load.ts'
import { replaceInput } from '../../import-export/replace.ts'
import { type Change, type ChangeOutcome, StoreFaultError, StoreUnavailableError } from '../../store/contract.ts'
import type { EditableStore } from '../../store/workspace-edits.ts'
import { flushAndTell } from '../flush-removals.ts'
import { type ImportSource, openImportSource } from '../import/import-source.ts'
import { createRejects, type Rejects } from '../import/rejects.ts'
import { importRemotely } from '../import/remote-import.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { limitYoungGeneration } from '../limit-young-generation.ts'
import { openActiveStore } from '../open-active-store.ts'
import { openCommandAudit } from '../open-audit.ts'
import { toStoreOptions } from '../open-store-for-cli.ts'
import type { ImportConfig } from '../options/import-options.ts'
import { createProgress, tookInWords } from '../progress.ts'

/**
 * `stopSignal` is called when the import itself begins: from then on a signal aborts it instead of ending the process.
 * Throws `UsageError` for options that do not go together.
 */
export async function runImport(
  source: string,
  config: ImportConfig,
  io: CommandIo,
  stopSignal: () => AbortSignal,
): Promise<ExitCode> {
  if (!config.replace && (config.dryRun || config.verbose))
    throw new UsageError('--dry-run and --verbose need --replace')
  if (config.replace && config.keepGoing) {
    throw new UsageError('--keep-going cannot be used with --replace: nothing may be removed if a line is bad')
  }
  const isFromServer = config.email !== undefined || config.emails !== undefined
  if (config.to !== undefined && (isFromServer || config.keepGoing)) {
    throw new UsageError('--email, --emails and --keep-going cannot be used with --to')
  }
  if (isFromServer) {
    if (!/^https?:\/\//.test(source)) {
      throw new UsageError(
        '--email and --emails (WORKSPACE_GATEWAY_EMAIL, WORKSPACE_GATEWAY_EMAILS) go with the address of a server, http:// or https://, and not with a file',
      )
    }
    if (config.keepGoing || config.dryRun)
      throw new UsageError('--keep-going and --dry-run cannot be used with --email or --emails')
    const { runServerImport } = await import('./move-in/import-server.ts')
    return runServerImport(source, config, io, stopSignal())
  }
  if (config.verify || config.state !== undefined) throw new UsageError('--verify and --state need --email or --emails')
  if (config.to !== undefined) {
    await using input = await openImportSource(source, io)
    return await importRemotely(input, config, config.to, io)
  }
  // The input is opened first: an unreadable input must not create a database. A dry run must not create one either.
  await using input = await openImportSource(source, io)
  const isTrial = config.dryRun === true
  await using store = await openActiveStore({ ...config, isTrial }, { ...toStoreOptions(config), mustExist: isTrial })
  // Awaited here because the file and the store are closed on return.
  return await importFile(input, config, store, { io, stop: stopSignal() })
}

interface Context {
  readonly io: CommandIo
  readonly stop: AbortSignal
}

async function importFile(
  source: ImportSource,
  config: ImportConfig,
  store: EditableStore,
  { io, stop }: Context,
): Promise<ExitCode> {
  try {
    return await importUnchanged(source, config, store, { io, stop })
  } catch (error) {
    if (stop.aborted) {
      io.stderr.write('stopped: run it again to continue\n')
      return 1
    }
    if (!(error instanceof InputChangedError)) throw error
    io.stderr.write(`${source.name} changed while it was being imported: import it again\n`)
    return 1
  }
}

/** Throws `InputChangedError` when the input changes meanwhile, and the reason of `stop` once it is aborted. */
async function importUnchanged(
  { file, name, advice }: ImportSource,
  config: ImportConfig,
  store: EditableStore,
  { io, stop }: Context,
): Promise<ExitCode> {
  const start = performance.now()
  using _young = limitYoungGeneration()
  const before = await file.stat()
  const checking = createProgress(io, `checking ${basename(name)}`, before.size)
  const onChecked = (bytes: number, records: number) => {
    stop.throwIfAborted()
    checking.update(bytes, records)
  }
  const checked = await checkInput(file, config, store, onChecked, {
    isReplacement: config.replace === true,
  }).finally(checking.clear)
  reportBadLines(checked, name, io)
  if (checked.bad.size > 0 && !config.keepGoing) {
    const keepGoing = config.replace ? '' : ' (--keep-going imports the good lines)'
    io.stderr.write(`${badLinesInWords(checked.bad.size)}: nothing was imported${keepGoing}\n`)
    if (advice !== undefined && checked.bad.size === checked.records) io.stderr.write(`${advice}\n`)
    return 1
  }
  const after = await file.stat()
  if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) {
    io.stderr.write(`${name} changed while it was being checked: nothing was imported\n`)
    return 1
  }
  await using rejects = createRejects(config.rejects ?? `${name}.rejects.ndjson`, file)
  // Opened now: if the bad lines cannot be kept, no good line is imported either.
  if (checked.bad.size > 0) await rejects.open()
  const importing = createProgress(io, `importing ${basename(name)}`, before.size)
  // Opened before anything is imported, so that an interrupted import is recorded too.
  await using audit = await openCommandAudit(store, config, io)
  let reached = 0
  let isAnyStored = false
  const options = {
    fields: config,
    clock: io.clock,
    onProgress(bytes: number, records: number) {
      stop.throwIfAborted()
      reached = records
      importing.update(bytes, records)
    },
    onBad: rejects.add,
    async onRejected(line: Line, reason: string) {
      importing.clear()
      io.stderr.write(`${name}:${line.number}: ${reason}\n`)
      await rejects.add(line)
    },
  }
  async function applyChanges(changes: readonly Change[]): Promise<readonly ChangeOutcome[]> {
    const outcomes = await store.applyChanges(changes)
    isAnyStored = true
    return outcomes
  }
  const running = config.replace
    ? replaceInput(file, checked, store, {
        ...options,
        isDryRun: config.dryRun === true,
        onUser(swapped) {
          isAnyStored = true
          if (config.verbose) {
            importing.clear()
            io.stdout.write(`${swapped.email}: ${countsInWords(swapped, true)}\n`)
          }
          stop.throwIfAborted()
        },
      })
    : applyInput(file, checked, { applyChanges, dropStaleStages: store.dropStaleStages }, options)
  const counts = await running.finally(importing.clear).catch((error: unknown) => {
    const detail = `broken off at record ${reached}`
    if (!config.dryRun) audit.record({ kind: 'import', result: 'failed', detail })
    if (mayPass(error) && isAnyStored && !config.dryRun) {
      io.stderr.write(`${detail}: a part is stored; run it again to continue\n`)
    }
    throw error
  })
  const done = countsInWords(counts, config.replace === true)
  if (!config.dryRun) audit.record({ kind: 'import', result: 'done', detail: done })
  // A replacement flushes even if it removed nothing: an earlier run that was killed may have left removed bytes in the
  // files.
  if (!config.dryRun && (counts.removed > 0 || config.replace)) await flushAndTell(store, config, io)
  const took = tookInWords(before.size, start)
  io.stderr.write(orphansByLine(name, checked.orphans, checked.orphanExports))
  io.stdout.write(
    `${config.dryRun ? 'would import' : 'imported'} ${name}: ${done}${orphansInWords(checked.orphanExports)} (${took})\n`,
  )
  // Awaited here because a rejects file that is not closed on return is removed.
  return await finishRejects(rejects, io)
}

/** Whether the database or the disk was at fault, so that another run can continue. */
function mayPass(error: unknown): boolean {
  return [StoreUnavailableError, StoreFaultError, MachineError].some((kind) => error instanceof kind)
}

function reportBadLines({ bad }: CheckedInput, name: string, { stderr }: CommandIo): void {
  for (const { line, reason } of bad.first) stderr.write(`${name}:${line}: ${reason}\n`)
  const rest = bad.size - bad.first.length
  if (rest > 0) stderr.write(`… and ${rest} more\n`)
}

async function finishRejects(rejects: Rejects, { stderr }: CommandIo): Promise<ExitCode> {
  const { count, problem } = await rejects.close()
  if (count === 0) return 0
  stderr.write(`${notImportedInWords(count)}: ${problem ?? `see ${rejects.path}`}\n`)
  return 1
}
