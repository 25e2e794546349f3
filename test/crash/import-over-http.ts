// Imports a large file over HTTP and kills either side again and again: node test/crash/import-over-http.ts [RECORDS [KILLS [SEED]]]
import { createHash } from 'node:crypto'
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { run, type ServingProcess, serve, startRun } from '../support/command-line.ts'
import { writeLines } from '../support/measurements.ts'
import { createSeededRandom, randomSeed } from '../support/seeded-random.ts'
import { documentLine, exportLine } from '../support/workspaces.ts'

const USERS = 10_000
const KINDS = ['project', 'template', 'uiLibrary'] as const
const TOKEN = 'a-token-of-the-long-run-which-nobody-else-has'
/** The earliest kill, as a fraction of the time that a local import takes. */
const FIRST_KILL = 0.1

const records = Number(process.argv[2] ?? 1_000_000)
const kills = Number(process.argv[3] ?? 3)
const seed = Number(process.argv[4] ?? randomSeed())
const random = createSeededRandom(seed)
const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-import-http-'))
const [file, tokenFile] = [join(directory, 'import.ndjson'), join(directory, 'token')]
const there = ['--database', `file:${join(directory, 'there.db')}`]
const here = ['--database', `file:${join(directory, 'here.db')}`]

function line(number: number): string {
  const email = `user-${Math.floor(number / 10) % USERS}@example.com`
  if (number % 50 === 0) {
    return exportLine(email, { r: `r${number}`, createdAt: '2026-01-01T00:00:00Z', elements: [`{"n":${number}.0}`] })
  }
  const data = `{"id":"d${number}","name":"Document ${number}","version":1.0,"text":"${'lorem ipsum '.repeat(9)}"}`
  return documentLine(KINDS[number % KINDS.length] ?? 'project', email, data)
}

async function start(): Promise<ServingProcess> {
  return serve([...there, '--import-token-file', tokenFile, '--log-level', 'warn'])
}

const importTo = ({ url }: ServingProcess, token = tokenFile) =>
  startRun(['import', file, '--to', url, '--token-file', token])

async function digestOf(database: readonly string[]): Promise<string> {
  const path = join(directory, 'dump.ndjson')
  const { exitCode, stderr } = await run(['dump', '--output', path, ...database])
  if (exitCode !== 0) throw new Error(stderr)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  rmSync(path)
  return hash.digest('hex')
}

async function measure(): Promise<boolean> {
  await writeLines(file, records, line)
  writeFileSync(tokenFile, TOKEN)
  const begun = performance.now()
  const local = await run(['import', file, ...here])
  if (local.exitCode !== 0) throw new Error(local.stderr)
  const localMs = performance.now() - begun
  console.log(`${records} records, seed ${seed}: ${(localMs / 1_000).toFixed(0)} s as a local import`)

  let gateway = await start()
  try {
    const wrong = join(directory, 'wrong')
    writeFileSync(wrong, TOKEN.toUpperCase())
    const refused = await importTo(gateway, wrong).ended
    if (refused.exitCode !== 2 || !refused.stderr.includes('401')) throw new Error('a wrong token was not refused')
    for (let kill = 0; kill < kills * 2; kill += 1) {
      const importing = importTo(gateway)
      await Promise.race([delay(localMs * (FIRST_KILL + random.below(1_000) / 1_000)), importing.ended])
      const side = kill % 2 === 0 ? 'client' : 'gateway'
      const wasRunning = importing.isRunning()
      if (side === 'client') await importing.kill()
      else {
        await gateway.kill('SIGKILL')
        const { exitCode } = await importing.ended
        if (wasRunning && exitCode !== 1) throw new Error(`the client of a killed gateway ended with ${exitCode}`)
        gateway = await start()
      }
      console.log(`the ${side} was killed${wasRunning ? '' : ', but the import was complete'}`)
    }
    const last = performance.now()
    for (;;) {
      const { exitCode, stdout, stderr } = await importTo(gateway).ended
      if (exitCode === 0) {
        console.log(stdout.trim())
        break
      }
      // The gateway may not have noticed yet that the previous client is gone.
      if (!stderr.includes('503')) throw new Error(stderr)
      await delay(500)
    }
    console.log(
      `the last run took ${((performance.now() - last) / 1_000).toFixed(0)} s; load average ${loadavg()[0]?.toFixed(1)}`,
    )
  } finally {
    await gateway.kill('SIGTERM')
  }
  const [wanted, found] = [await digestOf(here), await digestOf(there)]
  console.log(wanted === found ? 'the same as the local import' : 'NOT the same as the local import')
  return wanted === found
}

try {
  const isGood = await measure()
  console.log(isGood ? 'good' : 'BAD')
  process.exitCode = isGood ? 0 : 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
