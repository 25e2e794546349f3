// Imports a file into a store for the command line: checks all of it, applies it, and reports both.
import { basename } from 'node:path'
import type { AuditLog } from '../../auth/audit/audit-log.ts'
import { MachineError } from '../../errors.ts'
import { type CheckedInput, checkInput } from '../../import-export/checks/validate.ts'
import {
  badLinesInWords,
  countsInWords,
  notImportedInWords,
  orphansByLine,
  orphansInWords,
} from '../../import-export/counts-in-words.ts'
import { InputChangedError, type Line } from '../../import-export/format/lines.ts'
import { type Counts, loadInput } from '../../import-export/load.ts'
import { replaceInput } from '../../import-export/replace.ts'
import { type Change, type ChangeOutcome, StoreFaultError, StoreUnavailableError } from '../../store/contract.ts'
import type { EditableStore } from '../../store/workspace-edits.ts'
import { flushAndTell } from '../flush-removals.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { limitYoungGeneration } from '../limit-young-generation.ts'
import { openCommandAudit } from '../open-audit.ts'
import type { ImportConfig } from '../options/import-options.ts'
import { createProgress, tookInWords } from '../progress.ts'
import type { ImportSource } from './import-source.ts'
import { createRejects, type Rejects } from './rejects.ts'

export interface FileImport {
  readonly source: ImportSource
  readonly config: ImportConfig
  readonly store: EditableStore
  readonly io: CommandIo
  readonly stop: AbortSignal
}

export async function importFile(job: FileImport): Promise<ExitCode> {
  const { source, io, stop } = job
  try {
    return await importUnchanged(job)
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
async function importUnchanged(job: FileImport): Promise<ExitCode> {
  const { source, config, store, io } = job
  const { file, name } = source
  const start = performance.now()
  using _young = limitYoungGeneration()
  const checked = await check(job)
  if (checked === null) return 1
  await using rejects = createRejects(config.rejects ?? `${name}.rejects.ndjson`, file)
  // Opened now: if the bad lines cannot be kept, no good line is imported either.
  if (checked.bad.size > 0) await rejects.open()
  // Opened before anything is imported, so that an interrupted import is recorded too.
  await using audit = await openCommandAudit(store, config, io)
  const counts = await apply(job, checked, rejects, audit)
  // Flushed even if this run removed nothing: an earlier run that was killed may have left removed bytes in the files.
  if (!config.dryRun && checked.mayRemove) await flushAndTell(store, config, io)
  const done = `${countsInWords(counts, config.replace === true)}${orphansInWords(checked.orphanExports)}`
  io.stderr.write(orphansByLine(name, checked.orphans, checked.orphanExports))
  io.stdout.write(
    `${config.dryRun ? 'would import' : 'imported'} ${name}: ${done} (${tookInWords(checked.byteLength, start)})\n`,
  )
  // Awaited here because a rejects file that is not closed on return is removed.
  return await finishRejects(rejects, io)
}

interface CheckedFile extends CheckedInput {
  readonly byteLength: number
}

/** Returns null, after it has told why, when nothing of the input may be imported. */
async function check({ source, config, store, io, stop }: FileImport): Promise<CheckedFile | null> {
  const { file, name, advice } = source
  const before = await file.stat()
  const progress = createProgress(io, `checking ${basename(name)}`, before.size)
  const onChecked = (bytes: number, records: number) => {
    stop.throwIfAborted()
    progress.update(bytes, records)
  }
  const checked = await checkInput(file, config, store, onChecked, {
    isReplacement: config.replace === true,
  }).finally(progress.clear)
  reportBadLines(checked, name, io)
  if (checked.bad.size > 0 && !config.keepGoing) {
    const keepGoing = config.replace ? '' : ' (--keep-going imports the good lines)'
    io.stderr.write(`${badLinesInWords(checked.bad.size)}: nothing was imported${keepGoing}\n`)
    if (advice !== undefined && checked.bad.size === checked.records) io.stderr.write(`${advice}\n`)
    return null
  }
  const after = await file.stat()
  if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) {
    io.stderr.write(`${name} changed while it was being checked: nothing was imported\n`)
    return null
  }
  return { ...checked, byteLength: before.size }
}

/** Imports what was checked, and records in the audit log how that ended. */
async function apply(
  { source, config, store, io, stop }: FileImport,
  checked: CheckedFile,
  rejects: Rejects,
  audit: Pick<AuditLog, 'record'>,
): Promise<Counts> {
  const { file, name } = source
  const isDryRun = config.dryRun === true
  const progress = createProgress(io, `importing ${basename(name)}`, checked.byteLength)
  let reached = 0
  let isAnyStored = false
  const options = {
    fields: config,
    clock: io.clock,
    onProgress(bytes: number, records: number) {
      stop.throwIfAborted()
      reached = records
      progress.update(bytes, records)
    },
    onBad: rejects.add,
    async onRejected(line: Line, reason: string) {
      progress.clear()
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
        isDryRun,
        onUser(swapped) {
          isAnyStored = true
          if (config.verbose) {
            progress.clear()
            io.stdout.write(`${swapped.email}: ${countsInWords(swapped, true)}\n`)
          }
          stop.throwIfAborted()
        },
      })
    : loadInput(file, checked, { applyChanges, dropStaleStages: store.dropStaleStages }, options)
  const counts = await running.finally(progress.clear).catch((error: unknown) => {
    const detail = `broken off at record ${reached}`
    if (!isDryRun) audit.record({ kind: 'import', result: 'failed', detail })
    if (mayPass(error) && isAnyStored && !isDryRun) {
      io.stderr.write(`${detail}: a part is stored; run it again to continue\n`)
    }
    throw error
  })
  const detail = countsInWords(counts, config.replace === true)
  if (!isDryRun) audit.record({ kind: 'import', result: 'done', detail })
  return counts
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
