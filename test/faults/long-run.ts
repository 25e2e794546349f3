// Causes each fault many times under load, and checks after each that nothing acknowledged was lost:
// node test/faults/long-run.ts [TIMES [SEED [NAMES]]]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileLibrary } from '../support/compile-library.ts'
import { createSeededRandom, randomSeed } from '../support/seeded-random.ts'
import { mayMount } from '../support/small-disk.ts'
import { FAULTS } from './rounds/faults.ts'
import { makeTemplate, type RoundResult, runRound } from './rounds/round.ts'

const COLUMNS = ['times', 'logins', 'logouts', 'imports', 'reads', 'problems'] as const

const times = Number(process.argv[2] ?? 20)
const seed = Number(process.argv[3] ?? randomSeed())
/** Parts of the faults' names, separated by commas. */
const wanted = process.argv[4]?.split(',') ?? ['']
const random = createSeededRandom(seed)
const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-faults-'))
const parts = { library: compileLibrary('fault-library.c', directory), template: await makeTemplate(directory) }
const asked = FAULTS.filter(({ name }) => wanted.some((part) => name.includes(part)))
const faults = mayMount() ? asked : asked.filter(({ needsDisk }) => needsDisk !== true)

console.log(`${faults.length} faults, ${times} times each, seed ${seed}`)
for (const { name } of asked.filter((fault) => !faults.includes(fault))) {
  console.log(`skipped: ${name}: only root may mount the small disk that it is made with`)
}
console.log(toLine('', COLUMNS))
const all: RoundResult[] = []
let failedRounds = 0
for (const fault of faults) {
  const results: RoundResult[] = []
  for (let time = 1; time <= times; time += 1) {
    try {
      const result = await runRound(fault, parts, random)
      for (const problem of result.problems) console.error(`${fault.name}, time ${time}: ${problem}`)
      results.push(result)
    } catch (error) {
      failedRounds += 1
      console.error(`${fault.name}, time ${time}: ${error instanceof Error ? error.stack : error}`)
    }
  }
  console.log(toLine(fault.name, figuresOf(results)))
  all.push(...results)
}
console.log(toLine('all', figuresOf(all)))
const isGood = failedRounds === 0 && all.every(({ problems }) => problems.length === 0)
console.log(
  `${isGood ? 'good' : 'BAD'}: seed ${seed}${failedRounds === 0 ? '' : `, ${failedRounds} rounds could not be ended`}`,
)
rmSync(directory, { recursive: true, force: true })
process.exitCode = isGood ? 0 : 1

function figuresOf(results: readonly RoundResult[]): readonly number[] {
  const sum = (of: (result: RoundResult) => number) => results.reduce((total, result) => total + of(result), 0)
  return [
    results.length,
    sum(({ logins }) => logins),
    sum(({ logouts }) => logouts),
    sum(({ imports }) => imports),
    sum(({ compared }) => compared),
    sum(({ problems }) => problems.length),
  ]
}

function toLine(name: string, cells: readonly (string | number)[]): string {
  return name.padEnd(32) + cells.map((cell) => String(cell).padStart(10)).join('')
}
