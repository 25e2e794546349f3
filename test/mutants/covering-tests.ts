// Which tests run which piece of the sources: each test file is run by itself, and V8 counts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAX_RUN_MS = 120_000

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

/** One run of one test file. */
export interface TestRun {
  readonly file: string
  readonly milliseconds: number
  /** By the path of a source, each function's ranges from the outside in, as V8 writes them. */
  readonly covered: Readonly<Record<string, readonly Range[]>>
}

interface CoverageReport {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly Range[] }[]
  }[]
}

/** Null where the test fails on the sources as they are: it can say nothing of a mutant. */
export async function runCovered(root: string, file: string): Promise<TestRun | null> {
  const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-coverage-'))
  try {
    const begun = performance.now()
    if (!(await passes(root, [file], { NODE_V8_COVERAGE: directory }))) return null
    return { file, milliseconds: performance.now() - begun, covered: readCoverage(root, directory) }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Whether all of these test files pass, in time: a mutant may wait for ever. */
export async function passes(
  root: string,
  files: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--bail', '1', '--maxWorkers', '2', ...files]
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'ignore',
    timeout: MAX_RUN_MS,
  })
  const [code] = await once(child, 'close')
  return code === 0
}

function readCoverage(root: string, directory: string): TestRun['covered'] {
  const covered: Record<string, Range[]> = {}
  for (const name of readdirSync(directory)) {
    const { result } = JSON.parse(readFileSync(join(directory, name), 'utf8')) as CoverageReport
    for (const { url, functions } of result) {
      if (!url.startsWith('file:')) continue
      const path = relative(root, fileURLToPath(url))
      if (!path.startsWith('src/')) continue
      covered[path] ??= []
      covered[path].push(...functions.flatMap(({ ranges }) => ranges))
    }
  }
  return covered
}

/** Whether this run came to the place: what the smallest range around it counted, in any process. */
export function comesTo({ covered }: TestRun, path: string, offset: number): boolean {
  const around = (covered[path] ?? []).filter(
    ({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset,
  )
  const smallest = Math.min(...around.map(sizeOf))
  return around.some((range) => sizeOf(range) === smallest && range.count > 0)
}

function sizeOf({ startOffset, endOffset }: Range): number {
  return endOffset - startOffset
}
