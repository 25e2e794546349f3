// import: workspaces in, from NDJSON.
import { basename } from 'node:path'
import { InputChangedError } from '../../import-export/lines.ts'
import { applyInput, type Counts } from '../../import-export/load.ts'
import { type CheckedInput, checkInput } from '../../import-export/validate.ts'
import type { Store } from '../../store/contract.ts'
import { type ImportSource, openContractSource, openImportSource } from '../import/import-source.ts'
import { createYoungGenerationLimit } from '../import/limit-semi-space.ts'
import { createRejects, type Rejects } from '../import/rejects.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openActiveStore } from '../open-active-store.ts'
import { openCommandAudit } from '../open-audit.ts'
import { toStoreOptions } from '../open-store-for-cli.ts'
import type { ImportConfig } from '../options/config.ts'
import { createProgress, toDuration, toSize } from '../progress.ts'

/** Bad lines that are named one by one. */
const MAX_REASONS = 100

export async function runImport(source: string, config: ImportConfig, io: CommandIo): Promise<ExitCode> {
  // What cannot be read must not bring a database into being.
  if (config.email === undefined) {
    await using input = await openImportSource(source, io)
    await using store = await openActiveStore(config, toStoreOptions(config))
    return await importFile(input, config, store, io)
  }
  await using store = await openActiveStore(config, toStoreOptions(config))
  await using input = await openContractSource(source, config.email, config, store, io)
  // Awaited here: file and store are closed on return.
  return await importFile(input, config, store, io)
}

async function importFile(source: ImportSource, config: ImportConfig, store: Store, io: CommandIo): Promise<ExitCode> {
  try {
    return await importUnchanged(source, config, store, io)
  } catch (error) {
    if (!(error instanceof InputChangedError)) throw error
    io.stderr.write(`${source.name} changed while it was being imported: import it again\n`)
    return 1
  }
}

/** Throws `InputChangedError`. */
async function importUnchanged(
  { file, name }: ImportSource,
  config: ImportConfig,
  store: Store,
  io: CommandIo,
): Promise<ExitCode> {
  const start = performance.now()
  const limitYoungGeneration = createYoungGenerationLimit()
  const before = await file.stat()
  const checking = createProgress(io, `checking ${basename(name)}`, before.size)
  const checked = await checkInput(file, config, store, (...done) => {
    limitYoungGeneration()
    checking.update(...done)
  })
  checking.finish()
  reportBadLines(checked, name, io)
  if (checked.bad.size > 0 && !config.keepGoing) {
    io.stderr.write(`${badCount(checked)}: nothing was imported (--keep-going imports the good lines)\n`)
    return 1
  }
  const after = await file.stat()
  if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) {
    io.stderr.write(`${name} changed while it was being checked: nothing was imported\n`)
    return 1
  }
  const rejects = createRejects(config.rejects ?? `${name}.rejects.ndjson`, file)
  // Where bad lines cannot be kept, good ones are not imported either.
  if (checked.bad.size > 0) await rejects.open()
  const importing = createProgress(io, `importing ${basename(name)}`, before.size)
  const counts = await applyInput(file, checked, store, {
    fields: config,
    clock: io.clock,
    onProgress(...done) {
      limitYoungGeneration()
      importing.update(...done)
    },
    async onRejected(line, reason) {
      await rejects.add(line)
      if (!checked.bad.has(line.number)) io.stderr.write(`${name}:${line.number}: ${reason}\n`)
    },
  }).finally(importing.finish)
  const seconds = (performance.now() - start) / 1_000
  await using audit = await openCommandAudit(store, config, io)
  audit.record({ kind: 'import', result: 'done', detail: summary(counts) })
  io.stdout.write(
    `imported ${name}: ${summary(counts)} (${toSize(before.size)} in ${seconds < 10 ? `${seconds.toFixed(1)} s` : toDuration(seconds)})\n`,
  )
  return finishRejects(rejects, io)
}

function summary({ added, replaced, unchanged }: Counts): string {
  return `${added} added, ${replaced} replaced, ${unchanged} unchanged`
}

function badCount({ bad }: CheckedInput): string {
  return `${bad.size} bad ${bad.size === 1 ? 'line' : 'lines'}`
}

function reportBadLines({ bad }: CheckedInput, name: string, { stderr }: CommandIo): void {
  const inOrder = [...bad].sort(([a], [b]) => a - b)
  for (const [line, reason] of inOrder.slice(0, MAX_REASONS)) stderr.write(`${name}:${line}: ${reason}\n`)
  if (inOrder.length > MAX_REASONS) stderr.write(`… and ${inOrder.length - MAX_REASONS} more\n`)
}

async function finishRejects(rejects: Rejects, { stderr }: CommandIo): Promise<ExitCode> {
  const count = await rejects.close()
  if (count === 0) return 0
  stderr.write(`${count} ${count === 1 ? 'line was' : 'lines were'} not imported: see ${rejects.path}\n`)
  return 1
}
