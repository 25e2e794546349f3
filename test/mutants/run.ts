// node test/mutants/run.ts [FOLDER…] [--each N] [--seed S] [--jobs N] [--kind code|sql]: breaks the sources in small ways, one at a
// time, in copies of the project, and counts how many of these mutants the tests notice. Exits with code 1 if these are too few.
import { globSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres, unpackPostgres } from '../support/postgres-server.ts'
import { copyProject } from '../support/project-copy.ts'
import { createSeededRandom, randomSeed } from '../support/seeded-random.ts'
import { allEnded, coverAll } from './covering-tests.ts'
import { equivalentOf } from './equivalents.ts'
import { type PlacedMutant, placedMutants, type Tried, tryMutant } from './try-mutant.ts'

const COPIED = [
  ...['bin', 'src', 'test', 'docs', 'bench', 'packaging', 'package.json', 'package-lock.json', 'schema.graphql'],
  ...['tsconfig.json', 'vitest.config.ts', 'README.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md'],
]
/** Without arguments these are tried. Any other folder of `src` may be named. */
const FOLDERS = ['auth', 'http', 'graphql', 'resolvers', 'store']
/** Tests of browsers, proxies, packages, documentation and load: they take long, and say little about a single line. */
const NOT_ASKED =
  /^test\/(?:explorer|clients|package|releases|configuration|mutants|histories|crash|guards\/proxies|restore)\/|(?:docs|docs-commands|shown-commands|readme|papers|architecture|package|bench-load|regular-expressions|histories|crash|edits-readers|power-cut|prometheus|outside|documented|mail-browser|mail-attack|mail-kill|move-online|import-while-serving|container-context)\.test\.ts$/
/** Percent. */
const LEAST_SCORE = 85

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    each: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(randomSeed()) },
    jobs: { type: 'string', default: String(availableParallelism()) },
    kind: { type: 'string' },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  console.log('test/mutants/run.ts [FOLDER…] [--each N] [--seed S] [--jobs N] [--kind code|sql]: see CONTRIBUTING.md')
  process.exit()
}
const folders = positionals.length > 0 ? positionals : FOLDERS
const jobs = Number(values.jobs)
console.log(`seed ${values.seed}, ${values.each} mutants of each folder`)

await using running = new AsyncDisposableStack()
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => stop.abort(new Error(`ended by ${signal}`)))
// One PostgreSQL for all runs: each would spend most of its time on starting its own.
const binaries = running.use(await unpackPostgres())
const postgres = running.use(await startPostgres(binaries, { settings: { max_connections: '300' } }))
const env = { TEST_DATABASE_URL: postgres.url('postgres'), TEST_POSTGRES_DIRECTORY: binaries.directory }
const context = { env, stop: stop.signal }
const roots = Array.from({ length: jobs }, () => running.use(copyProject(COPIED)).directory)
const [root = ''] = roots
const runs = await coverAll(root, {
  files: globSync('test/**/*.test.ts', { cwd: root }).filter((file) => !NOT_ASKED.test(file)),
  cache: join(import.meta.dirname, '../../node_modules/.cache/mutants'),
  jobs,
  ...context,
})
console.log(`${runs.length} test files are asked`)

const scores = []
for (const folder of folders) scores.push(await scoreOf(folder))
console.table(scores)
if (scores.some(({ score }) => score < LEAST_SCORE)) process.exitCode = 1

async function scoreOf(folder: string) {
  const all = readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && file !== 'generated.ts')
    .toSorted()
    .flatMap((file) => placedMutants(root, join('src', folder, file)))
    .filter(({ kind }) => values.kind === undefined || kind === values.kind)
  const sample = createSeededRandom(Number(values.seed)).sample(all, Number(values.each))
  const counts = { killed: 0, survived: 0, uncovered: 0, unclear: 0, equivalent: 0 }
  const left = sample.values()
  await allEnded(
    roots.map(async (copy) => {
      for (const mutant of left) {
        const known = equivalentOf(mutant)
        const tried = known ? null : await tryMutant(copy, mutant, runs, context)
        counts[tried?.verdict ?? 'equivalent'] += 1
        report(mutant, tried, known?.reason ?? '')
      }
    }),
  )
  const counted = counts.killed + counts.survived + counts.uncovered
  return {
    folder,
    mutants: all.length,
    ...counts,
    score: Math.round((1_000 * counts.killed) / Math.max(1, counted)) / 10,
  }
}

function report({ path, lineNumber, from, to }: PlacedMutant, tried: Tried | null, reason: string): void {
  const place = `${path}:${lineNumber} ${JSON.stringify(from)} -> ${JSON.stringify(to)}`
  console.log(tried ? `${tried.verdict} ${place} (${tried.by})` : `equivalent ${place} (${reason})`)
}
