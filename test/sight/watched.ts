// Starts a gateway with an admin port and reads its metrics.
import { join } from 'node:path'
import { expect } from 'vitest'
import {
  type RunOptions,
  runHere,
  type Serving,
  type ServingProcess,
  serveForTest,
  serveHereForTest,
} from '../support/command-line.ts'
import { ask, openSession } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { documentLine } from '../support/workspaces.ts'

export const DEMO = 'demo@example.com'

export interface Watched<S extends Serving = ServingProcess> {
  readonly serving: S
  readonly adminUrl: string
  readonly accessToken: string
  readonly metrics: () => Promise<string>
}

export async function startWatched(args: readonly string[] = []): Promise<Watched> {
  const { serving, adminUrl, metrics } = await serveWatched(args)
  const { accessToken } = await openSession(serving.url, DEMO)
  return { serving, adminUrl, metrics, accessToken }
}

/** Starts a gateway in this process, for a user who has one project instead of the demo. */
export async function startWatchedHere(
  args: readonly string[] = [],
  database = `file:${join(temporaryDirectory(), 'workspace.db')}`,
): Promise<Watched<Serving>> {
  await runHere(['import', '-', '--database', database], { stdin: documentLine('project', DEMO, '{"id":"1"}') })
  const serving = await serveHereForTest(['--admin-port', '0', '--database', database, ...args])
  const { accessToken } = await openSession(serving.url, DEMO)
  return { serving, accessToken, ...(await adminOf(serving)) }
}

/** Starts a gateway in a process of its own, without a session. */
export async function serveWatched(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  options: Pick<RunOptions, 'maxOpenFiles'> = {},
): Promise<Omit<Watched, 'accessToken'>> {
  const serving = await serveForTest(['--admin-port', '0', ...args], { ...options, cwd: temporaryDirectory(), env })
  return { serving, ...(await adminOf(serving)) }
}

async function adminOf(serving: Serving): Promise<Pick<Watched, 'adminUrl' | 'metrics'>> {
  const adminUrl = await urlIn(serving)
  return { adminUrl, metrics: async () => (await ask(`${adminUrl}/metrics`)).text }
}

/** Returns the URL of the admin port. The log names it, perhaps after the first line. */
async function urlIn({ stderr }: Serving): Promise<string> {
  const find = () => /"url":"(\S+?)","msg":"metrics and health are served"/.exec(stderr())?.[1]
  await expect.poll(find).toBeDefined()
  return find() ?? ''
}

/** Adds up the samples that have these labels, whatever other labels they have. */
export function sumOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  const fitting = lines.filter((line) =>
    Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`)),
  )
  return fitting.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

export function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\S+)/gm)].flatMap(([, name]) => name ?? [])
}
