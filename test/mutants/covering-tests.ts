// Finds out which tests run which part of the sources: runs each test file by itself and reads V8's coverage.
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type RunContext, runTests } from './test-run.ts'

/** A test file that takes longer is used for no mutant. */
const MAX_RUN_MS = 90_000

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

/** One run of one test file. */
export interface TestRun {
  readonly file: string
  readonly milliseconds: number
  /** For each source path, the ranges of each function from the outside in, as V8 writes them. */
  readonly covered: Readonly<Record<string, readonly Range[]>>
}

interface CoverageReport {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly Range[] }[]
  }[]
}

export interface CoverageOptions extends RunContext {
  /** Paths of test files relative to the project. */
  readonly files: readonly string[]
  /** Kept between runs: a test file runs again only if it, or anything that tests share, has changed. */
  readonly cache: string
  readonly jobs: number
}

/**
 * Returns the runs of the files that pass by themselves: a file that fails on unchanged sources says nothing about a
 * mutant.
 */
export async function coverAll(root: string, options: CoverageOptions): Promise<readonly TestRun[]> {
  const { files, cache, jobs } = options
  mkdirSync(cache, { recursive: true })
  const shared = hashOf(root, sharedFiles(root))
  const names = new Map(files.map((file) => [file, `${hashOf(root, [file], shared)}.json`]))
  const wanted = new Set(names.values())
  for (const name of readdirSync(cache)) if (!wanted.has(name)) rmSync(join(cache, name))
  const found: TestRun[] = []
  const left = names.entries()
  const coverRest = async () => {
    for (const [file, name] of left) {
      const kept = join(cache, name)
      const run = readJson<TestRun>(kept) ?? (await runCovered(root, file, options))
      if (!run) continue
      writeFileSync(kept, JSON.stringify(run))
      found.push(run)
    }
  }
  await allEnded(Array.from({ length: jobs }, coverRest))
  return found
}

/** Waits until all have ended, then throws what the first failed one threw. */
export async function allEnded(running: readonly Promise<void>[]): Promise<void> {
  for (const end of await Promise.allSettled(running)) if (end.status === 'rejected') throw end.reason
}

function sharedFiles(root: string): readonly string[] {
  const isTest = (path: string) => path.endsWith('.test.ts')
  const all = globSync(['src/**/*.{ts,tsx}', 'test/**/*.ts', 'package-lock.json', 'schema.graphql'], { cwd: root })
  return all.filter((path) => !isTest(path) && !path.startsWith('test/mutants/')).toSorted()
}

function hashOf(root: string, paths: readonly string[], before = ''): string {
  const hash = createHash('sha256').update(before)
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(join(root, path)))
  return hash.digest('hex')
}

/** Null if the file is missing or incomplete: a process may be killed while it writes its coverage. */
function readJson<T>(path: string): T | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch {
    return null
  }
}

async function runCovered(root: string, file: string, { env, stop }: CoverageOptions): Promise<TestRun | null> {
  const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-coverage-'))
  try {
    const begun = performance.now()
    const run = { maxMs: MAX_RUN_MS, env: { ...env, NODE_V8_COVERAGE: directory }, stop }
    const outcome = await runTests(root, [file], run)
    const milliseconds = Math.round(performance.now() - begun)
    if (outcome.type !== 'passed') {
      console.log(`${file} ${outcome.type === 'failed' ? 'fails by itself' : 'takes too long'}: it is not asked`)
      return null
    }
    return { file, milliseconds, covered: readCoverage(root, directory) }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function readCoverage(root: string, directory: string): TestRun['covered'] {
  const covered: Record<string, Range[]> = {}
  for (const name of readdirSync(directory)) {
    const report = readJson<CoverageReport>(join(directory, name))
    for (const { url, functions } of report?.result ?? []) {
      if (!url.startsWith('file:')) continue
      const path = relative(root, fileURLToPath(url))
      if (!path.startsWith('src/')) continue
      covered[path] ??= []
      covered[path].push(...functions.flatMap(({ ranges }) => ranges))
    }
  }
  return covered
}

/** Whether this run reached the place: whether the smallest range around it has a count above 0, in any process. */
export function comesTo({ covered }: TestRun, path: string, offset: number): boolean {
  const around = (covered[path] ?? []).filter(
    ({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset,
  )
  const smallest = Math.min(...around.map(sizeOf))
  return around.some((range) => sizeOf(range) === smallest && range.count > 0)
}

/** How much of a source the run executes: the number of ranges with a count above 0. */
export function thoroughness({ covered }: TestRun, path: string): number {
  return new Set(
    (covered[path] ?? [])
      .filter(({ count }) => count > 0)
      .map(({ startOffset, endOffset }) => `${startOffset} ${endOffset}`),
  ).size
}

function sizeOf({ startOffset, endOffset }: Range): number {
  return endOffset - startOffset
}
