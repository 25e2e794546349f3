// node test/mutants/run.ts [FOLDER…] [--each N] [--seed S]: breaks the sources in small ways, one at a time, in a copy, and
// counts how many of these mutants the tests notice. A mutant that none of the quickest tests of its place notices has survived.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { copyProject } from '../support/project-copy.ts'
import { createSeededRandom, randomSeed } from '../support/seeded-random.ts'
import { comesTo, passes, runCovered, type TestRun } from './covering-tests.ts'
import { type Mutant, makeMutants } from './make-mutants.ts'

const FILES = [
  'package.json',
  'package-lock.json',
  'schema.graphql',
  'tsconfig.json',
  'vitest.config.ts',
  'README.md',
  'SECURITY.md',
]
const FOLDERS = ['auth', 'http', 'graphql', 'resolvers', 'store']
/** Test files that are asked about one mutant. */
const QUICKEST = 8
/** Whatever takes longer is asked about no mutant. */
const MAX_TEST_MS = 30_000

interface Placed extends Mutant {
  readonly path: string
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { each: { type: 'string', default: '40' }, seed: { type: 'string', default: String(randomSeed()) } },
})
const folders = positionals.length > 0 ? positionals : FOLDERS
const random = createSeededRandom(Number(values.seed))
console.log(`seed ${values.seed}, ${values.each} mutants of each folder`)

using copy = copyProject(['bin', 'src', 'test', 'docs', 'bench', ...FILES])
const root = copy.directory
const runs = await coverAll()
const scores: object[] = []
for (const folder of folders) scores.push({ folder, ...(await scoreOf(folder)) })
console.table(scores)

async function coverAll(): Promise<readonly TestRun[]> {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join('test', file))
  const found: TestRun[] = []
  const left = files.values()
  const coverRest = async () => {
    for (const file of left) {
      const run = await runCovered(root, file)
      if (run) found.push(run)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, coverRest))
  console.log(`${found.length} of ${files.length} test files pass by themselves`)
  return found
    .filter(({ milliseconds }) => milliseconds < MAX_TEST_MS)
    .toSorted((a, b) => a.milliseconds - b.milliseconds)
}

async function scoreOf(folder: string) {
  const all = readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && file !== 'generated.ts')
    .flatMap((file) => placedIn(join('src', folder, file)))
  const sample = random.sample(all, Number(values.each))
  let killed = 0
  for (const mutant of sample) if (await isNoticed(mutant)) killed += 1
  return {
    mutants: all.length,
    tried: sample.length,
    killed,
    score: `${((100 * killed) / sample.length).toFixed(0)} %`,
  }
}

function placedIn(path: string): readonly Placed[] {
  return makeMutants(path, readFileSync(join(root, path), 'utf8')).map((mutant) => ({ ...mutant, path }))
}

async function isNoticed({ path, start, end, replacement }: Placed): Promise<boolean> {
  const tests = runs.filter((run) => comesTo(run, path, start)).slice(0, QUICKEST)
  const file = join(root, path)
  const source = readFileSync(file, 'utf8')
  const line = source.slice(0, start).split('\n').length
  const place = `${path}:${line} ${JSON.stringify(source.slice(start, end))} -> ${JSON.stringify(replacement)}`
  if (tests.length === 0) {
    console.log(`survived, no test comes here: ${place}`)
    return false
  }
  try {
    writeFileSync(file, source.slice(0, start) + replacement + source.slice(end))
    const survived = await passes(
      root,
      tests.map((run) => run.file),
    )
    if (survived) console.log(`survived ${tests.length} test files: ${place}`)
    return !survived
  } finally {
    writeFileSync(file, source)
  }
}
