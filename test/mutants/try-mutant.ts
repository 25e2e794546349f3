// Tries one mutant in a copy of the project, and tells whether the tests notice it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { comesTo, type TestRun, thoroughness } from './covering-tests.ts'
import { type Mutant, makeMutants } from './make-mutants.ts'
import { type RunContext, runTests } from './test-run.ts'

/** How many of the test files that reach the place run first: the quickest ones. */
const QUICKEST = 5
/** If they notice nothing, this many run next: those that execute the most of the source. All others run last. */
const MOST_THOROUGH = 8
/** Added to the time that the files took, because a busy machine is slower. */
const MIN_MS = 30_000
const SLOWER = 3

export interface PlacedMutant extends Mutant {
  readonly path: string
  /** Counted from 1. */
  readonly lineNumber: number
  /** Without the surrounding white space. */
  readonly line: string
  readonly from: string
  readonly to: string
}

export function placedMutants(root: string, path: string): readonly PlacedMutant[] {
  const source = readFileSync(join(root, path), 'utf8')
  const lines = source.split('\n')
  return makeMutants(path, source).map((mutant) => {
    const lineNumber = source.slice(0, mutant.start).split('\n').length
    const line = lines[lineNumber - 1]?.trim() ?? ''
    return { ...mutant, path, lineNumber, line, from: source.slice(mutant.start, mutant.end), to: mutant.replacement }
  })
}

/** `uncovered`: no test reaches the place. `unclear`: tests took too long, or failed once, even without the mutant. */
export type Verdict = 'killed' | 'survived' | 'uncovered' | 'unclear'

export interface Tried {
  readonly verdict: Verdict
  /** The file that noticed the mutant, or how many files did not. */
  readonly by: string
}

export async function tryMutant(
  root: string,
  mutant: PlacedMutant,
  runs: readonly TestRun[],
  context: RunContext,
): Promise<Tried> {
  const covering = runs.filter((run) => comesTo(run, mutant.path, mutant.cameTo))
  if (covering.length === 0) return { verdict: 'uncovered', by: 'no test comes here' }
  const quickest = covering.toSorted((a, b) => a.milliseconds - b.milliseconds).slice(0, QUICKEST)
  const others = covering.filter((run) => !quickest.includes(run))
  const thorough = others
    .toSorted((a, b) => thoroughness(b, mutant.path) - thoroughness(a, mutant.path) || a.milliseconds - b.milliseconds)
    .slice(0, MOST_THOROUGH)
  let isUnclear = false
  const rest = others.filter((run) => !thorough.includes(run))
  for (const asked of [quickest, thorough, rest]) {
    if (asked.length === 0) continue
    const { verdict, by } = await ask(root, mutant, asked, context)
    if (verdict === 'killed') return { verdict, by }
    isUnclear ||= verdict === 'unclear'
  }
  return {
    verdict: isUnclear ? 'unclear' : 'survived',
    by: `${covering.length} test files come here`,
  }
}

async function ask(root: string, mutant: PlacedMutant, runs: readonly TestRun[], context: RunContext): Promise<Tried> {
  const files = runs.map(({ file }) => file)
  const maxMs = MIN_MS + SLOWER * runs.reduce((sum, { milliseconds }) => sum + milliseconds, 0)
  const first = await withMutant(root, mutant, () => runTests(root, files, { ...context, maxMs }))
  if (first.type === 'passed') return { verdict: 'survived', by: '' }
  // A mutant counts as noticed if a second run notices it too, and a run without it does not: tests may fail or take
  // long for other reasons.
  const again = first.type === 'failed' && first.file !== null ? [first.file] : files
  const second = await withMutant(root, mutant, () => runTests(root, again, { ...context, maxMs }))
  if (second.type === 'passed') {
    // The one failure ended the run, so the files behind it did not run.
    const others = runs.filter(({ file }) => !again.includes(file))
    return others.length === 0 ? { verdict: 'survived', by: '' } : ask(root, mutant, others, context)
  }
  if (first.type === 'timedOut' || second.type === 'timedOut' || first.file === null) {
    const clean = await runTests(root, again, { ...context, maxMs })
    if (clean.type !== 'passed') return { verdict: 'unclear', by: '' }
  }
  return { verdict: 'killed', by: first.type === 'failed' ? (first.file ?? 'a run that broke off') : 'a time-out' }
}

async function withMutant<T>(
  root: string,
  { path, start, end, replacement }: Mutant & { readonly path: string },
  run: () => Promise<T>,
): Promise<T> {
  const file = join(root, path)
  const source = readFileSync(file, 'utf8')
  try {
    writeFileSync(file, source.slice(0, start) + replacement + source.slice(end))
    return await run()
  } finally {
    writeFileSync(file, source)
  }
}
