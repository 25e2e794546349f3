// npm run bench: the rows that were asked for, one after the other; a table, a JSON file, exit code 1 when a goal is short.
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type Bench, openBench } from './bench.ts'
import { GENERATORS } from './load/load.ts'
import { isMet, type Row, toGoalLine } from './row.ts'
import { ROWS } from './rows.ts'

const { values: options } = parseArgs({
  options: {
    /** Part of a name, or several with commas between. */
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    /** Of each measurement. */
    seconds: { type: 'string', default: '1' },
    users: { type: 'string', default: '20000' },
    signedIn: { type: 'string', default: '2000' },
    /** Where the databases are put; a disk, when logins are to mean anything. */
    directory: { type: 'string' },
    /** Lets the system move servers and load between processors. */
    unpinned: { type: 'boolean', default: false },
    /** `autocannon` checks the figures with a load generator that is not this benchmark's own. */
    generator: { type: 'string', default: 'own' },
    json: { type: 'string', default: 'bench-results.json' },
  },
})

const rows = ROWS.filter(({ name }) => options.only?.split(',').some((part) => name.includes(part)) ?? true)
if (rows.length === 0) throw new Error(`no row is called ${options.only}: ${ROWS.map(({ name }) => name).join(', ')}`)

const generator = GENERATORS.find((name) => name === options.generator)
if (!generator) throw new Error(`--generator: ${GENERATORS.join(' or ')}`)

const started = performance.now()
const results = []
{
  await using bench = await openBench({
    rounds: Number(options.rounds),
    seconds: Number(options.seconds),
    users: Number(options.users),
    signedIn: Number(options.signedIn),
    isPinned: !options.unpinned,
    generator,
    directory: options.directory,
  })
  for (const row of rows) results.push(await runRow(row, bench))
}

const seconds = Math.round((performance.now() - started) / 1_000)
const machine = { cpus: availableParallelism(), model: cpus()[0]?.model ?? '', node: process.version }
writeFileSync(options.json, `${JSON.stringify({ machine, seconds, rows: results }, null, 2)}\n`)
const short = results.filter((result) => !result.isMet).map(({ name }) => name)
const verdict = short.length === 0 ? 'all goals met' : `short of a goal: ${short.join(', ')}`
process.stdout.write(`\n${verdict}, in ${seconds} s on ${machine.cpus} × ${machine.model}, Node ${machine.node}\n`)
process.exitCode = short.length === 0 ? 0 : 1

async function runRow(row: Row, bench: Bench) {
  process.stdout.write(`\n${row.name}\n`)
  const rowStarted = performance.now()
  const { lines, goals, data, skipped } = await row.run(bench)
  for (const line of lines) process.stdout.write(`  ${line}\n`)
  for (const goal of goals) process.stdout.write(`  ${toGoalLine(goal)}\n`)
  if (skipped !== undefined) process.stdout.write(`  skipped: ${skipped}\n`)
  return {
    name: row.name,
    seconds: Math.round((performance.now() - rowStarted) / 1_000),
    isMet: goals.every(isMet),
    ...(skipped === undefined ? {} : { skipped }),
    goals: goals.map((goal) => ({ ...goal, isMet: isMet(goal) })),
    data,
  }
}
