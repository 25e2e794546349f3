// Runs rounds that kill -9 a gateway and an import at work, then check that everything acknowledged is still there.
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import SqliteDatabase from 'better-sqlite3'
import { type Client, createClient, requireSession } from './client.ts'
import { type Running, type ServingProcess, serve, startRun } from './command-line.ts'
import { emailOf, hasBegun, importFile, observe, observeExport } from './crash-imports.ts'
import { createLedger, type Ledger, sessionLosses, useSessions } from './crash-ledger.ts'
import { createSeededRandom, type SeededRandom } from './seeded-random.ts'

const CLIENTS = 4
/** In half of the rounds, the kill comes at a random moment within this time, which is enough for a few imports. */
const KILL_WITHIN_MS = 900
/** In the other half, it comes within this time after an import was seen to change something. */
const KILL_AFTER_CHANGE_WITHIN_MS = 200
/** How many sessions of earlier rounds are checked after each round. */
const OLDER_SESSIONS_CHECKED = 25

export interface CrashRoundsOptions {
  readonly rounds: number
  readonly seed: number
  /** Must be empty. It holds the import files and the database, which stays there afterwards. */
  readonly directory: string
  /** Puts the database into another folder. */
  readonly databaseDirectory?: string
  /** For the gateway and for the imports. */
  readonly env?: Readonly<Record<string, string>>
  /** Called when SIGKILL has been sent to the processes and they have not yet ended. */
  readonly onKill?: (random: SeededRandom) => void
  /** Called after each kill, when no process has the database open. */
  readonly onKilled?: (database: string, random: SeededRandom) => void | Promise<void>
  readonly onRound?: (round: number, summary: CrashSummary) => void
}

export interface CrashSummary {
  /** Everything that was acknowledged and is lost, or that must never be visible; empty when all is well. */
  readonly losses: readonly string[]
  /** Counts of what was acknowledged. */
  readonly logins: number
  readonly logouts: number
  readonly imports: number
  /** Imports that were killed, and how many of them had changed only a part of what they were to change. */
  readonly importsKilled: number
  readonly importsKilledHalfway: number
  /** Milliseconds from each start of the process to its first 200 on /readyz, sorted. */
  readonly readyMs: readonly number[]
}

export async function runCrashRounds(options: CrashRoundsOptions): Promise<CrashSummary> {
  const { rounds, seed, directory, databaseDirectory = directory, env = {}, onKill, onKilled, onRound } = options
  const random = createSeededRandom(seed)
  const database = join(databaseDirectory, 'workspace.db')
  const flags = ['--database', `file:${database}`]
  const file = join(directory, 'import.ndjson')
  const losses: string[] = []
  const totals = { logins: 0, logouts: 0, imports: 0, importsKilled: 0, importsKilledHalfway: 0 }
  const readyMs: number[] = []
  const older = createLedger()
  const versions = { acknowledged: 0, started: 0 }
  let gateway: ServingProcess | null = null
  let importing: Running | null = null

  const summary = (): CrashSummary => ({ losses, ...totals, readyMs: readyMs.toSorted((a, b) => a - b) })

  async function start(): Promise<ServingProcess> {
    const begun = performance.now()
    // One user signs in again and again; the limit must not end an older session.
    const started = await serve([...flags, '--sessions-per-user', '100000'], { env })
    gateway = started
    using client = createClient(started.url)
    while ((await client.get('/readyz')).status !== 200);
    readyMs.push(performance.now() - begun)
    return started
  }

  /** Imports the version that was interrupted, or the next one; resolves to whether it was acknowledged. */
  async function importOnce(isKilled: () => boolean): Promise<boolean> {
    if (versions.started === versions.acknowledged) {
      versions.started += 1
      writeFileSync(file, importFile(versions.started))
    }
    importing = startRun(['import', file, ...flags], { env })
    const { exitCode, stderr } = await importing.ended
    if (exitCode === 0) {
      versions.acknowledged = versions.started
      totals.imports += 1
    } else if (!isKilled()) {
      throw new Error(`an import ended with ${exitCode}: ${stderr}`)
    }
    return exitCode === 0
  }

  /** Keeps all clients and imports at work until the kill, which comes at a random moment. */
  async function work({ url, process }: ServingProcess): Promise<Ledger> {
    const ledger = createLedger()
    let isKilled = false
    const isStopped = () => isKilled
    const clients = Array.from({ length: CLIENTS + 2 }, () => createClient(url))
    const [reader, watcher, ...users] = clients
    const working = Promise.all([
      ...users.map((client) =>
        useSessions(client, ledger, createSeededRandom(random.below(2 ** 31)), losses, isStopped),
      ),
      reader && readExports(reader, random, () => versions, losses, isStopped),
      (async () => {
        while (!isKilled) await importOnce(isStopped)
      })(),
    ])
    const moment =
      random.below(2) === 0 || !watcher
        ? delay(random.below(KILL_WITHIN_MS))
        : whenImportBegins(watcher, versions).then(() => delay(random.below(KILL_AFTER_CHANGE_WITHIN_MS)))
    await Promise.race([moment, working])
    isKilled = true
    const wasImporting = importing?.isRunning() === true
    // Either the gateway dies first, or the import.
    if (random.below(2) === 0) process.kill('SIGKILL')
    const killing = importing?.kill()
    process.kill('SIGKILL')
    onKill?.(random)
    await Promise.all([gateway?.kill('SIGKILL'), killing, working])
    for (const client of clients) client[Symbol.dispose]()
    if (wasImporting && versions.started > versions.acknowledged) totals.importsKilled += 1
    return ledger
  }

  /** Checks what is left, through the gateway that was started again. */
  async function look({ url }: ServingProcess, ledger: Ledger): Promise<void> {
    const clients = Array.from({ length: CLIENTS }, () => createClient(url))
    const [client] = clients
    if (!client) return
    losses.push(
      ...(await sessionLosses(clients, ledger)),
      ...(await sessionLosses(clients, {
        live: random.sample(older.live, OLDER_SESSIONS_CHECKED),
        ended: random.sample(older.ended, OLDER_SESSIONS_CHECKED),
        uncertain: [],
      })),
    )
    const left = await observe(client, versions)
    losses.push(...left.problems)
    if (versions.started > versions.acknowledged) {
      if (left.versions.has(versions.started)) totals.importsKilledHalfway += 1
      await importOnce(() => false)
      losses.push(...(await observe(client, versions)).problems)
    }
    for (const each of clients) each[Symbol.dispose]()
  }

  try {
    await importOnce(() => false)
    let serving = await start()
    for (let round = 1; round <= rounds; round += 1) {
      const before = losses.length
      const ledger = await work(serving)
      await onKilled?.(database, random)
      losses.push(...integrityProblems(database, join(directory, 'copy')))
      serving = await start()
      await look(serving, ledger)
      older.live.push(...ledger.live)
      older.ended.push(...ledger.ended)
      totals.logins += ledger.live.length + ledger.ended.length + ledger.uncertain.length
      totals.logouts += ledger.ended.length
      for (let index = before; index < losses.length; index += 1) losses[index] = `round ${round}: ${losses[index]}`
      onRound?.(round, summary())
    }
    const exitCode = await serving.kill('SIGTERM')
    if (exitCode !== 0) losses.push(`the last gateway ended with ${exitCode} on SIGTERM`)
    return summary()
  } finally {
    await (gateway as ServingProcess | null)?.kill('SIGKILL')
    await (importing as Running | null)?.kill()
  }
}

async function whenImportBegins(client: Client, versions: { readonly started: number }): Promise<void> {
  const { accessToken } = await requireSession(client, emailOf(0))
  const next = versions.started + 1
  while (!(await hasBegun(client, accessToken, next)));
}

/** An export is visible as a whole or not at all, even while it is being imported. */
async function readExports(
  client: Client,
  random: SeededRandom,
  versions: () => { readonly acknowledged: number; readonly started: number },
  losses: string[],
  isStopped: () => boolean,
): Promise<void> {
  const user = random.below(3)
  try {
    const { accessToken } = await requireSession(client, emailOf(user))
    for (let ref = 0; !isStopped(); ref += 1) {
      const problem = await observeExport(client, accessToken, { user, ref }, versions)
      if (problem && !isStopped()) losses.push(problem)
    }
  } catch (error) {
    if (!isStopped()) losses.push(`a request failed while the gateway was serving: ${error}`)
  }
}

/** Checks a copy: the gateway itself must find the file as the kill left it. */
function integrityProblems(database: string, copy: string): readonly string[] {
  mkdirSync(copy)
  for (const suffix of ['', '-wal']) {
    if (existsSync(`${database}${suffix}`)) cpSync(`${database}${suffix}`, join(copy, `workspace.db${suffix}`))
  }
  const opened = new SqliteDatabase(join(copy, 'workspace.db'))
  try {
    const answer: unknown = opened.pragma('integrity_check', { simple: true })
    return answer === 'ok' ? [] : [`integrity_check: ${answer}`]
  } finally {
    opened.close()
    rmSync(copy, { recursive: true })
  }
}
