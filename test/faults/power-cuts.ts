// Cuts the power under a working gateway and an import: node test/faults/power-cuts.ts [CUTS [SEED]]
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileLibrary } from '../support/compile-library.ts'
import { runCrashRounds } from '../support/crash-rounds.ts'
import { mountLazyDisk } from '../support/lazy-disk.ts'
import { roundsOnLazyDisk, roundsWithLibrary } from '../support/power-cut-rounds.ts'
import { randomSeed } from '../support/seeded-random.ts'

const PROGRESS_ROUNDS = 10

const cuts = Number(process.argv[2] ?? 200)
const seed = Number(process.argv[3] ?? randomSeed())
const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-power-'))
await using disk = await mountLazyDisk().catch((error: unknown) => {
  console.log(`no lazy disk: ${error}`)
  return null
})
const power = disk
  ? roundsOnLazyDisk(disk)
  : roundsWithLibrary(compileLibrary('power-cut-library.c', mkdtempSync(join(tmpdir(), 'workspace-gateway-faults-'))))
let writesLost = 0
let cutsWithLoss = 0

console.log(`${cuts} power cuts ${disk ? 'of a lazy disk' : 'by a preloaded library'}, seed ${seed}, in ${directory}`)
const { losses, logins, logouts, imports, importsKilledHalfway } = await runCrashRounds({
  rounds: cuts,
  seed,
  directory,
  ...power.options,
  onRound(round, soFar) {
    if (power.writesLost() > writesLost) cutsWithLoss += 1
    writesLost = power.writesLost()
    if (round % PROGRESS_ROUNDS === 0)
      console.log(`cut ${round}: ${writesLost} writes dropped in ${cutsWithLoss} cuts, ${soFar.losses.length} losses`)
  },
})
for (const loss of losses) console.error(loss)
const isGood = losses.length === 0 && writesLost > 0
const acknowledged = `${logins} logins, ${logouts} logouts and ${imports} imports acknowledged`
console.log(
  `${isGood ? 'good' : 'BAD'}: ${cuts} power cuts, seed ${seed}: ${writesLost} unsynced writes dropped in ${cutsWithLoss} of them, ${acknowledged}, ` +
    `${importsKilledHalfway} imports cut halfway, ${losses.length} losses`,
)
if (isGood) {
  rmSync(directory, { recursive: true })
} else {
  if (disk) cpSync(disk.path, directory, { recursive: true })
  console.error(`the database is kept in ${directory}`)
}
process.exitCode = isGood ? 0 : 1
