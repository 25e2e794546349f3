// Runs `conformance` against a server, in this process, and parses its report.
import { runHere } from './command-line.ts'
import { ANA } from './workspaces.ts'

export interface ConformanceReport {
  readonly counts: Readonly<Record<string, number>>
  readonly checks: readonly { group: string; name: string; source: string; outcome: string; found: string }[]
  readonly sessionsLeftOpen: number
}

export async function conformance(url: string, ...options: readonly string[]) {
  const user = options.includes('--email') ? [] : ['--email', ANA]
  const { exitCode, stdout, stderr } = await runHere(['conformance', url, ...user, '--format', 'json', ...options])
  return { exitCode, stderr, ...(JSON.parse(stdout) as ConformanceReport) }
}
