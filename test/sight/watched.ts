// Starts a gateway with an admin port and reads its metrics.
import { expect } from 'vitest'
import { type RunOptions, type ServingProcess, serveForTest } from '../support/command-line.ts'
import { ask, openSession } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

export const DEMO = 'demo@example.com'

export interface Watched {
  readonly serving: ServingProcess
  readonly adminUrl: string
  readonly accessToken: string
  readonly metrics: () => Promise<string>
}

export async function startWatched(args: readonly string[] = []): Promise<Watched> {
  const { serving, adminUrl, metrics } = await serveWatched(args)
  const { accessToken } = await openSession(serving.url, DEMO)
  return { serving, adminUrl, metrics, accessToken }
}

/** Starts a gateway in the same way, without a session. */
export async function serveWatched(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  options: Pick<RunOptions, 'maxOpenFiles'> = {},
): Promise<Omit<Watched, 'accessToken'>> {
  const serving = await serveForTest(['--admin-port', '0', ...args], { ...options, cwd: temporaryDirectory(), env })
  const adminUrl = await urlIn(serving)
  return { serving, adminUrl, metrics: async () => (await ask(`${adminUrl}/metrics`)).text }
}

/** Returns the URL of the admin port. The log names it, perhaps after the first line. */
async function urlIn({ stderr }: ServingProcess): Promise<string> {
  const find = () => /"url":"(\S+?)","msg":"metrics and health are served"/.exec(stderr())?.[1]
  await expect.poll(find, { timeout: 10_000 }).toBeDefined()
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
