// Imports a million documents while a gateway serves and a client signs in: node test/crash/import-million.ts
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import SqliteDatabase from 'better-sqlite3'
import { createClient } from '../support/client.ts'
import { type Finished, type Running, type ServingProcess, serve, startRun } from '../support/command-line.ts'
import { documentLine } from '../support/workspaces.ts'

const DOCUMENTS = 1_000_000
const BROKEN_LINE = 900_000
const USERS = 10_000
/** The kinds of a user's documents, in turn. */
const KINDS = ['project', 'project', 'template', 'uiLibrary', 'project'] as const
const LINES_PER_WRITE = 1_000
const MAX_LOGIN_MS = 250
const MAX_MEMORY_BYTES = 300_000_000
const SAMPLE_EVERY_MS = 50

interface Measured extends Finished {
  readonly seconds: number
  /** Null if the system does not tell. */
  readonly peakMemoryBytes: number | null
  /** Sorted. */
  readonly loginsMs: readonly number[]
}

const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-import-'))
const flags = ['--database', `file:${join(directory, 'workspace.db')}`]
const failures: string[] = []
let gateway: ServingProcess | null = null
try {
  gateway = await serve(flags)
  await importAll(gateway)
  await importBroken(gateway)
} finally {
  await gateway?.kill('SIGKILL')
  rmSync(directory, { recursive: true })
}
for (const failure of failures) console.error(`failed: ${failure}`)
console.log(failures.length === 0 ? 'good' : 'BAD')
process.exitCode = failures.length === 0 ? 0 : 1

async function importAll(serving: ServingProcess): Promise<void> {
  const file = await generate('million', null)
  console.log(`${DOCUMENTS} documents of ${USERS} users, ${statSync(file).size / 1e6} MB`)
  const measured = await measure(serving, file)
  report(measured)
  check(measured.exitCode === 0, `the import ended with ${measured.exitCode}: ${measured.stderr}`)
  const { documents } = stored()
  check(documents === DOCUMENTS, `${documents} documents are stored`)
  rmSync(file)
}

async function importBroken(serving: ServingProcess): Promise<void> {
  const file = await generate('broken', BROKEN_LINE)
  console.log(`the same for other users, line ${BROKEN_LINE} broken`)
  const before = stored()
  const measured = await measure(serving, file)
  report(measured)
  check(measured.exitCode === 1, `the import of a broken file ended with ${measured.exitCode}`)
  const [reason = '', ...rest] = measured.stderr.split('\n')
  console.log(`  ${reason}`)
  check(reason.startsWith(`${file}:${BROKEN_LINE}: `), 'the broken line was not named')
  check(rest.length === 2, `more than the broken line was reported: ${rest.join('\n')}`)
  const after = stored()
  check(
    JSON.stringify(after) === JSON.stringify(before),
    `something of a broken file was kept: ${JSON.stringify(after)}`,
  )
}

/** Writes a few documents of each user in turn, round after round: the lines are neither sorted nor scattered. */
async function generate(name: string, brokenLine: number | null): Promise<string> {
  const path = join(directory, `${name}.ndjson`)
  const domain = `${name}.example.com`
  function* chunks(): Generator<string> {
    for (let from = 1; from <= DOCUMENTS; from += LINES_PER_WRITE) {
      const lines = Array.from({ length: LINES_PER_WRITE }, (_, index) => line(from + index, domain))
      const broken = (brokenLine ?? 0) - from
      if (broken >= 0 && broken < lines.length) lines[broken] = `${lines[broken]?.slice(0, -10)}\n`
      yield lines.join('')
    }
  }
  // Flushed, because otherwise the system writes it back half a minute later and a login waits for that.
  await pipeline(Readable.from(chunks()), createWriteStream(path, { flush: true }))
  return path
}

function line(number: number, domain: string): string {
  const turn = Math.floor((number - 1) / KINDS.length)
  const kind = KINDS[number % KINDS.length] ?? 'project'
  const data = `{"id":"d${number}","name":"Document ${number}","framework":"next","version":1.0,"text":"${'lorem ipsum '.repeat(11)}"}`
  return documentLine(kind, `user-${turn % USERS}@${domain}`, data)
}

/** Imports the file while one client logs in again and again. */
async function measure(serving: ServingProcess, file: string): Promise<Measured> {
  const begun = performance.now()
  const importing = startRun(['import', file, ...flags])
  const [ended, peakMemoryBytes, loginsMs] = await Promise.all([
    importing.ended.then((end) => ({ ...end, seconds: (performance.now() - begun) / 1_000 })),
    peakMemory(importing),
    logInWhile(importing, serving),
  ])
  return { ...ended, peakMemoryBytes, loginsMs }
}

async function logInWhile(importing: Running, { url }: ServingProcess): Promise<readonly number[]> {
  using client = createClient(url)
  const took: number[] = []
  while (importing.isRunning()) {
    const begun = performance.now()
    const { status, text } = await client.login(`client-${took.length % 100}@example.com`)
    took.push(performance.now() - begun)
    check(status === 200, `a login was answered ${status}: ${text}`)
  }
  return took.toSorted((a, b) => a - b)
}

/** The kernel keeps the peak itself: the last sample sees it, except for what the last moments add. */
async function peakMemory({ process: { pid }, isRunning }: Running): Promise<number | null> {
  const status = `/proc/${pid}/status`
  if (!existsSync(status)) return null
  let peak = 0
  while (isRunning()) {
    peak = Math.max(peak, readPeak(status))
    await delay(SAMPLE_EVERY_MS)
  }
  return peak
}

/** 0 once the process has ended. */
function readPeak(status: string): number {
  try {
    return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(status, 'utf8'))?.[1] ?? 0) * 1_024
  } catch {
    return 0
  }
}

function report({ seconds, peakMemoryBytes, loginsMs }: Measured): void {
  const slowest = loginsMs.at(-1) ?? 0
  const p99 = loginsMs[Math.floor(loginsMs.length * 0.99)] ?? 0
  const memory =
    peakMemoryBytes === null
      ? 'peak memory not measured: there is no /proc here'
      : `peak memory ${(peakMemoryBytes / 1e6).toFixed(0)} MB`
  console.log(`  ${seconds.toFixed(1)} s, ${Math.round(DOCUMENTS / seconds)} records/s, ${memory}`)
  console.log(
    `  ${loginsMs.length} logins: p99 ${p99.toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms; load average ${loadavg()[0]?.toFixed(1)}`,
  )
  check(loginsMs.length > 0, 'nobody logged in')
  check(slowest <= MAX_LOGIN_MS, `a login took ${slowest.toFixed(0)} ms`)
  check((peakMemoryBytes ?? 0) < MAX_MEMORY_BYTES, `the import took ${peakMemoryBytes} bytes of memory`)
}

/** Every change to the data of a user raises the user's revision. */
function stored(): { readonly users: number; readonly revisions: number; readonly documents: number } {
  const database = new SqliteDatabase(join(directory, 'workspace.db'), { readonly: true })
  try {
    return database
      .prepare<[], { users: number; revisions: number; documents: number }>(
        `select count(*) as users, sum(revision) as revisions, (select count(*) from document) as documents from user`,
      )
      .get() as { users: number; revisions: number; documents: number }
  } finally {
    database.close()
  }
}

function check(isRight: boolean, failure: string): void {
  if (!isRight) failures.push(failure)
}
