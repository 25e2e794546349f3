// Runs some test files as a process group of its own: whatever a mutant does, nothing of it is left afterwards.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** The limit for one test: a mutant may wait forever. */
const MAX_TEST_MS = 30_000

export interface RunContext {
  readonly env: Readonly<Record<string, string>>
  /** Ends the run, which then throws. */
  readonly stop: AbortSignal
}

export interface RunOptions extends RunContext {
  readonly maxMs: number
}

/** `failed` names the first file that failed; null if the run ended without naming one. */
export type TestOutcome =
  | { readonly type: 'passed' }
  | { readonly type: 'failed'; readonly file: string | null }
  | { readonly type: 'timedOut' }

interface Report {
  readonly testResults: readonly { readonly name: string; readonly status: string }[]
}

/** Runs the files in the project at `root`, one after another, until one fails. */
export async function runTests(
  root: string,
  files: readonly string[],
  { maxMs, env, stop }: RunOptions,
): Promise<TestOutcome> {
  const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-mutant-'))
  // If the tests run as root, PostgreSQL runs as another user.
  chmodSync(directory, 0o755)
  const report = join(directory, 'report.json')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const reporter = ['--reporter', 'json', '--outputFile', report]
  const bounds = ['--bail', '1', '--maxWorkers', '1', '--testTimeout', String(MAX_TEST_MS)]
  const child = spawn(process.execPath, [vitest, 'run', ...reporter, ...bounds, ...files], {
    cwd: root,
    // Files that are left behind in the temporary folder are removed with it. The program is not built, because a
    // single mutant is not worth a build.
    env: { ...process.env, TMPDIR: directory, TEST_PROGRAM: join(root, 'src/main.ts'), ...env },
    stdio: 'ignore',
    detached: true,
  })
  const endGroup = () => killGroup(child.pid)
  stop.addEventListener('abort', endGroup)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    endGroup()
  }, maxMs)
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  endGroup()
  stop.removeEventListener('abort', endGroup)
  try {
    stop.throwIfAborted()
    if (isLate) return { type: 'timedOut' }
    return code === 0 ? { type: 'passed' } : { type: 'failed', file: failedFile(root, report) }
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Also kills the servers and commands that the tests had started. */
function killGroup(id: number | undefined): void {
  try {
    if (id !== undefined) process.kill(-id, 'SIGKILL')
  } catch {
    // Nobody is left.
  }
}

function failedFile(root: string, report: string): string | null {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
    const failed = testResults.find(({ status }) => status === 'failed')
    return failed ? relative(root, failed.name) : null
  } catch {
    return null
  }
}
