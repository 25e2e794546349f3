// Power cuts under a gateway and an import at work: node test/faults/power-cuts.ts [CUTS [SEED]]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileLibrary } from '../support/compile-library.ts'
import { runCrashRounds } from '../support/crash-rounds.ts'
import { cutPower } from '../support/power-cut.ts'
import { randomSeed } from '../support/seeded-random.ts'

const PROGRESS_ROUNDS = 10

const cuts = Number(process.argv[2] ?? 200)
const seed = Number(process.argv[3] ?? randomSeed())
const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-power-'))
const library = compileLibrary('power-cut-library.c', mkdtempSync(join(tmpdir(), 'workspace-gateway-faults-')))
let lostWrites = 0

console.log(`${cuts} power cuts, seed ${seed}, in ${directory}`)
const { losses, logins, logouts, imports, importsKilledHalfway } = await runCrashRounds({
  rounds: cuts,
  seed,
  directory,
  env: { LD_PRELOAD: library },
  onKilled(database, random) {
    lostWrites += cutPower(database, random)
  },
  onRound(round, soFar) {
    if (round % PROGRESS_ROUNDS === 0)
      console.log(`cut ${round}: ${lostWrites} writes dropped, ${soFar.losses.length} losses`)
  },
})
for (const loss of losses) console.error(loss)
const isGood = losses.length === 0 && lostWrites > 0
const acknowledged = `${logins} logins, ${logouts} logouts and ${imports} imports acknowledged`
console.log(
  `${isGood ? 'good' : 'BAD'}: ${cuts} power cuts, seed ${seed}: ${lostWrites} unsynced writes dropped, ${acknowledged}, ` +
    `${importsKilledHalfway} imports cut halfway, ${losses.length} losses`,
)
if (isGood) rmSync(directory, { recursive: true })
else console.error(`the database is kept in ${directory}`)
process.exitCode = isGood ? 0 : 1
