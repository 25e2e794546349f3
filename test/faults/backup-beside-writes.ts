// Measures a backup while another process commits:
// node test/faults/backup-beside-writes.ts [MEGABYTES [COMMITS_PER_SECOND]]
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '../support/client.ts'
import { run, serve } from '../support/command-line.ts'
import { atRate, percentile, writeLines } from '../support/measurements.ts'
import { documentLine } from '../support/workspaces.ts'

const DOCUMENT_BYTES = 100_000
const IDLE_RUNS = 3
const ROUNDS = 4
/** The pause after a backup was removed. */
const REST_MS = 5_000
const WARM_UP_MS = 5_000
const CONNECTIONS = 32
const MAX_RATIO = 2

const megabytes = Number(process.argv[2] ?? 1_000)
const perSecond = Number(process.argv[3] ?? 500)
const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-backup-'))
const database = join(directory, 'workspace.db')
const flags = ['--database', `file:${database}`]

/** Makes a backup and returns how many seconds it took. */
async function backUp(name: string): Promise<number> {
  const start = performance.now()
  const path = join(directory, name)
  const { exitCode, stderr } = await run(['backup', path, ...flags])
  if (exitCode !== 0) throw new Error(`the backup ended with ${exitCode}: ${stderr}`)
  return (performance.now() - start) / 1_000
}

/** Removes a backup. Freeing a gigabyte delays every commit on the disk for a while, and is not part of a backup. */
function removeBackup(name: string): void {
  for (const file of [name, `${name}.sha256`]) rmSync(join(directory, file))
}

async function measure(): Promise<boolean> {
  const count = Math.ceil((megabytes * 1_000_000) / DOCUMENT_BYTES)
  const file = join(directory, 'import.ndjson')
  const text = 'lorem ipsum '.repeat(DOCUMENT_BYTES / 12)
  await writeLines(file, count, (number) =>
    documentLine('template', `user-${number % 100}@example.com`, `{"id":${number},"text":"${text}"}`),
  )
  const imported = await run(['import', file, ...flags])
  if (imported.exitCode !== 0) throw new Error(imported.stderr)
  rmSync(file)
  console.log(`${Math.round(statSync(database).size / 1e6)} MB, ${perSecond} commits/s`)

  const idle: number[] = []
  for (let time = 0; time < IDLE_RUNS; time += 1) {
    idle.push(await backUp('idle.db'))
    removeBackup('idle.db')
  }
  const idleSeconds = percentile(idle, 0.5)
  const gateway = await serve([...flags, '--log-level', 'warn', '--check', 'off', '--sessions-per-user', '100000'])
  const client = createClient(gateway.url, { connections: CONNECTIONS })
  const login = async (number: number) => {
    const { status } = await client.login(`user-${number % 100}@example.com`)
    if (status !== 200) throw new Error(`a login was answered ${status}`)
  }
  /** Returns the milliseconds of each write that ran during `work`. */
  async function writesDuring(work: Promise<unknown>): Promise<readonly number[]> {
    let isOver = false
    const writing = atRate(perSecond, login, () => isOver)
    await work.finally(() => {
      isOver = true
    })
    return writing
  }
  try {
    await writesDuring(delay(WARM_UP_MS))
    // The two are measured in turns, so that garbage collections and other disturbances add to both.
    const alone: number[] = []
    const beside: number[] = []
    const seconds: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(...(await writesDuring(delay((seconds[0] ?? idleSeconds * MAX_RATIO) * 1_000))))
      const backup = backUp('beside.db')
      beside.push(...(await writesDuring(backup)))
      seconds.push(await backup)
      removeBackup('beside.db')
      await delay(REST_MS)
    }
    const took = percentile(seconds, 0.5)
    const [p99Alone, p99Beside] = [percentile(alone, 0.99), percentile(beside, 0.99)]
    const [ofTime, ofWrites] = [took / idleSeconds, p99Beside / p99Alone]
    console.log(`backup: ${idleSeconds.toFixed(1)} s idle, ${took.toFixed(1)} s beside writes: ${ofTime.toFixed(2)} x`)
    console.log(
      `writes: p99 ${p99Alone.toFixed(1)} ms of ${alone.length} alone, ${p99Beside.toFixed(1)} ms of ${beside.length} beside the ` +
        `backups: ${ofWrites.toFixed(2)} x; load average ${loadavg()[0]?.toFixed(1)}`,
    )
    return ofTime <= MAX_RATIO && ofWrites <= MAX_RATIO
  } finally {
    client[Symbol.dispose]()
    await gateway.kill('SIGTERM')
  }
}

try {
  const isGood = await measure()
  console.log(isGood ? 'good' : `BAD: more than ${MAX_RATIO} x`)
  process.exitCode = isGood ? 0 : 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
