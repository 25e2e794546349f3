// npm run bench: runs the selected rows one after the other, prints tables and writes a JSON file. Exits with 1 when a
// goal is missed.
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { buildProgram } from '../test/support/build-program.ts'
import { type Bench, openBench } from './bench.ts'
import { GENERATORS } from './load/load.ts'
import { type RowReport, toMarkdown } from './report.ts'
import { isMet, type Row, toGoalLine } from './row.ts'
import { ROWS } from './rows.ts'

const { values: options, positionals } = parseArgs({
  /** Names of rows, or parts of names, like `--only`. */
  allowPositionals: true,
  options: {
    /** Parts of names, separated by commas. */
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    /** Duration of each measurement. */
    seconds: { type: 'string', default: '1' },
    users: { type: 'string', default: '20000' },
    signedIn: { type: 'string', default: '2000' },
    /** Folder for the databases. It must be on a disk for the figures of logins to mean anything. */
    directory: { type: 'string' },
    /** Do not pin servers and load to processors. */
    unpinned: { type: 'boolean', default: false },
    /** `autocannon` checks the figures with an independent load generator. */
    generator: { type: 'string', default: 'own' },
    json: { type: 'string', default: 'bench-results.json' },
    /** Page with the figures, such as docs/benchmarks/results.md; none without it. */
    markdown: { type: 'string' },
  },
})

const wanted = [...positionals, ...(options.only?.split(',') ?? [])]
const rows = ROWS.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
if (rows.length === 0)
  throw new Error(`no row is called ${wanted.join(', ')}: ${ROWS.map(({ name }) => name).join(', ')}`)

const generator = GENERATORS.find((name) => name === options.generator)
if (!generator) throw new Error(`--generator: ${GENERATORS.join(' or ')}`)

const settings = {
  rounds: Number(options.rounds),
  seconds: Number(options.seconds),
  users: Number(options.users),
}
const started = performance.now()
const results: RowReport[] = []
let isStopped = false
{
  await using bench = await openBench({
    program: await buildProgram(),
    ...settings,
    signedIn: Number(options.signedIn),
    isPinned: !options.unpinned,
    generator,
    directory: options.directory,
  })
  // Without the load generator the current row fails, and ends the processes that it started.
  const stop = () => {
    isStopped = true
    void bench.load[Symbol.asyncDispose]()
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  for (const row of rows) if (!isStopped) results.push(await runRow(row, bench))
}

const seconds = Math.round((performance.now() - started) / 1_000)
const machine = { cpus: availableParallelism(), model: cpus()[0]?.model ?? '', node: process.version }
const report = { machine, settings, seconds, rows: results }
writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
if (options.markdown !== undefined) writeFileSync(options.markdown, toMarkdown(report, new Date()))

process.stdout.write('\nall rows\n')
for (const { name, goals, skipped, failed } of results) {
  const verdicts = goals.map(toGoalLine)
  if (skipped !== undefined) verdicts.push(`skipped: ${skipped}`)
  if (failed !== undefined) verdicts.push(`FAILED: ${failed}`)
  if (verdicts.length === 0) verdicts.push('no goal')
  for (const verdict of verdicts) process.stdout.write(`  ${name.padEnd(32)}${verdict}\n`)
}
const short = results.filter((result) => !result.isMet).map(({ name }) => name)
const verdict = short.length === 0 ? 'all goals met' : `short of a goal: ${short.join(', ')}`
process.stdout.write(`\n${verdict}, in ${seconds} s on ${machine.cpus} × ${machine.model}, Node ${machine.node}\n`)
process.exitCode = short.length === 0 && !isStopped ? 0 : 1

/** A row that throws counts as missing its goals. The other rows still run. */
async function runRow(row: Row, bench: Bench): Promise<RowReport> {
  const rowStarted = performance.now()
  const secondsSoFar = () => Math.round((performance.now() - rowStarted) / 1_000)
  process.stdout.write(`\n${row.name}\n`)
  try {
    const result = await row.run(bench)
    const { lines, goals, skipped } = result
    for (const line of lines) process.stdout.write(`  ${line}\n`)
    for (const goal of goals) process.stdout.write(`  ${toGoalLine(goal)}\n`)
    if (skipped !== undefined) process.stdout.write(`  skipped: ${skipped}\n`)
    return { name: row.name, seconds: secondsSoFar(), isMet: goals.every(isMet), ...result }
  } catch (error) {
    const failed = error instanceof Error ? error.message : String(error)
    process.stdout.write(`  FAILED: ${error instanceof Error ? error.stack : failed}\n`)
    return { name: row.name, seconds: secondsSoFar(), isMet: false, failed, lines: [], goals: [], data: null }
  }
}
