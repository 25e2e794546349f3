// Runs many crash rounds: node test/crash/long-run.ts [ROUNDS [SEED]]
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CrashSummary, runCrashRounds } from '../support/crash-rounds.ts'
import { randomSeed } from '../support/seeded-random.ts'

const PROGRESS_ROUNDS = 20
const MAX_READY_MS = 2_000

const rounds = Number(process.argv[2] ?? 200)
const seed = Number(process.argv[3] ?? randomSeed())
const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-crash-'))
const begun = performance.now()

console.log(`${rounds} rounds, seed ${seed}, in ${directory}`)
const summary = await runCrashRounds({
  rounds,
  seed,
  directory,
  onRound(round, soFar) {
    if (round % PROGRESS_ROUNDS === 0) console.log(`round ${round} of ${rounds}: ${toText(soFar)}`)
  },
})
for (const loss of summary.losses) console.error(loss)
const slow = summary.readyMs.filter((took) => took > MAX_READY_MS)
if (slow.length > 0) {
  console.error(`${slow.length} restarts took longer than ${MAX_READY_MS} ms; load average ${loadavg()[1]?.toFixed(1)}`)
}
const isGood = summary.losses.length === 0 && slow.length === 0
console.log(`${isGood ? 'good' : 'BAD'}: ${rounds} rounds, seed ${seed}: ${toText(summary)}`)
if (isGood) rmSync(directory, { recursive: true })
else console.error(`the database is kept in ${directory}`)
process.exitCode = isGood ? 0 : 1

function toText(soFar: CrashSummary): string {
  return [
    `${soFar.losses.length} losses`,
    `${soFar.logins} logins`,
    `${soFar.logouts} logouts`,
    `${soFar.imports} imports`,
    `${soFar.importsKilled} imports killed (${soFar.importsKilledHalfway} halfway)`,
    `restarts: median ${toMs(soFar.readyMs[soFar.readyMs.length >> 1])}, slowest ${toMs(soFar.readyMs.at(-1))}`,
    `${Math.round((performance.now() - begun) / 1_000)} s`,
  ].join(', ')
}

function toMs(took: number | undefined): string {
  return `${Math.round(took ?? 0)} ms`
}
