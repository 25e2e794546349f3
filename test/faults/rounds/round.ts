// Runs one round of a fault: a working gateway, the fault at a random moment, what an operator does, and a check of
// everything acknowledged.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient } from '../../support/client.ts'
import { run, type ServingProcess, serve } from '../../support/command-line.ts'
import { importFile, observe } from '../../support/crash-imports.ts'
import { sessionLosses } from '../../support/crash-ledger.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { documentLine, exportLine } from '../../support/workspaces.ts'
import { type Fault, type Place, STATIC_EMAIL, STATIC_MARK, STATIC_REF, staticToken } from './faults.ts'
import { IMPORT_TOKEN, type ImportLedger, importVersion, startWorkload } from './workload.ts'

/** The fault comes at a random moment within this time. */
const WITHIN_MS = 600
const LOOKERS = 4
const MAX_WAIT_MS = 60_000
/** Includes room for what the rounds import. */
const DISK_BYTES = 96 * 1_048_576
/** More than the kernel buffers of an answer that nobody reads. */
const STATIC_ELEMENTS = 300
const STATIC_ELEMENT_CHARACTERS = 30_000

export interface RoundResult {
  readonly problems: readonly string[]
  readonly logins: number
  readonly logouts: number
  readonly imports: number
  readonly compared: number
}

/** Makes the database that every round begins with. It has the first version of everything. */
export async function makeTemplate(directory: string): Promise<string> {
  const path = join(directory, 'template.db')
  const file = join(directory, 'first.ndjson')
  const text = `${STATIC_MARK} `.repeat(STATIC_ELEMENT_CHARACTERS / (STATIC_MARK.length + 1))
  const elements = Array.from({ length: STATIC_ELEMENTS }, (_, n) => `{"path":"${n}","text":"${text}"}`)
  const project = documentLine('project', STATIC_EMAIL, `{"id":"${STATIC_REF}"}`)
  const lines = exportLine(STATIC_EMAIL, { r: STATIC_REF, createdAt: '2026-01-01T00:00:00Z', elements })
  writeFileSync(file, importFile(1) + project + lines)
  const { exitCode, stderr } = await run(['import', file, '--database', `file:${path}`])
  if (exitCode !== 0) throw new Error(stderr)
  return path
}

export async function runRound(
  fault: Fault,
  { template, library }: { readonly template: string; readonly library: string },
  random: SeededRandom,
): Promise<RoundResult> {
  const disk = fault.needsDisk ? mountSmallDisk(DISK_BYTES) : null
  const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-fault-'))
  const data = disk?.path ?? join(directory, 'data')
  const [path, control, token] = [join(data, 'workspace.db'), join(directory, 'control'), join(directory, 'token')]
  mkdirSync(data, { recursive: true })
  cpSync(template, path)
  writeFileSync(control, '')
  writeFileSync(token, IMPORT_TOKEN)
  const flags = ['--database', `file:${path}`, '--log-level', 'silent', '--import-token-file', token]
  const many = ['--sessions-per-user', '100000']
  const versions: ImportLedger = { acknowledged: 1, started: 1 }
  const problems: string[] = []
  const env = { LD_PRELOAD: library, FAULT_FILE: control }
  let atStart: Promise<void> | undefined
  let serving = await serve([...flags, ...many, '--check', 'off', ...(fault.flags ?? [])], { env }, (child) => {
    atStart = fault.atStart?.(child)
  })
  await atStart
  try {
    using client = createClient(serving.url)
    const place: Place = {
      path,
      disk,
      setFault: (text) => writeFileSync(control, text),
      staticToken: await staticToken(client),
    }
    const workload = startWorkload(serving.url, versions, random)
    await untilImported(versions)
    await delay(random.below(WITHIN_MS))
    const undo = await fault.make(place, serving, workload)
    const seen = await fault.look?.(client, workload)
    if (seen) problems.push(seen)
    if (fault.exitCode === null) {
      await undo?.()
      await untilWritable(client)
    } else {
      const exitCode = await endOf(serving)
      if (fault.exitCode !== 'killed' && exitCode !== fault.exitCode)
        problems.push(`it ended with ${exitCode ?? serving.process.signalCode}: ${serving.stderr()}`)
      await undo?.()
    }
    await workload.stop()
    await serving.kill('SIGKILL')
    serving = await serve([...flags, ...many, '--check', 'full'])
    problems.push(...workload.problems, ...(await lookAt(serving, workload.ledger, versions)))
    const { live, ended } = workload.ledger
    if (problems.length === 0) rmSync(directory, { recursive: true, force: true })
    else problems.push(`the database is kept in ${directory}`)
    return {
      problems,
      logins: live.length + ended.length,
      logouts: ended.length,
      imports: versions.acknowledged - 1,
      compared: workload.compared(),
    }
  } finally {
    await serving.kill('SIGKILL')
    disk?.[Symbol.dispose]()
  }
}

/**
 * Checks everything acknowledged, byte for byte. Then it imports again what was in flight, which has to arrive whole.
 */
async function lookAt(
  { url }: ServingProcess,
  ledger: Parameters<typeof sessionLosses>[1],
  versions: ImportLedger,
): Promise<readonly string[]> {
  const clients = Array.from({ length: LOOKERS }, () => createClient(url))
  const [client] = clients
  if (!client) return []
  try {
    const problems = [...(await sessionLosses(clients, ledger)), ...(await observe(client, versions)).problems]
    if (versions.started > versions.acknowledged) {
      const answer = await importVersion(url, versions.started)
      if (answer !== 'imported') problems.push(`an import was not acknowledged after the restart: ${answer}`)
      const whole = { acknowledged: versions.started, started: versions.started }
      problems.push(...(await observe(client, whole)).problems)
    }
    return problems
  } finally {
    for (const each of clients) each[Symbol.dispose]()
  }
}

/** Waits until there is something to lose. */
async function untilImported(versions: ImportLedger): Promise<void> {
  for (const deadline = performance.now() + MAX_WAIT_MS; versions.acknowledged === 1; ) {
    if (performance.now() > deadline) throw new Error('no import was acknowledged')
    await delay(10)
  }
}

/** Waits until the gateway has recovered by itself. */
async function untilWritable(client: Client): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS
  for (;;) {
    const { status } = await client.login('afterwards@example.com').catch(() => ({ status: 0 }))
    if (status === 200) return
    if (performance.now() > deadline) throw new Error('it did not recover')
    await delay(20)
  }
}

async function endOf(serving: ServingProcess): Promise<number | null | 'still running'> {
  const timer = new AbortController()
  const late = delay(MAX_WAIT_MS, 'still running' as const, { signal: timer.signal }).catch(
    () => 'still running' as const,
  )
  const exitCode = await Promise.race([serving.kill('SIGCONT'), late])
  timer.abort()
  return exitCode
}
