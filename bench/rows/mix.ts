// The row with a realistic mix: popular and rare users, REST and GraphQL reads, logins, refreshes, and concurrent
// changes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { emailOf, signIn } from '../data/workspaces.ts'
import { zipfPlan } from '../load/plan.ts'
import { sideBySide } from '../measuring/side-by-side.ts'
import type { Row } from '../row.ts'
import { startGateway, startPeer } from '../servers/start.ts'
import { PROJECT_LIST, PROJECTS } from './requests.ts'
import { LOGIN, REFRESH } from './sign-in.ts'

const WRITER = fileURLToPath(new URL('../programs/document-writer.ts', import.meta.url))
const DOCUMENTS_PER_SECOND = 20
/** Long enough for the popular users to be cached, as in a server that has run for a while. */
const WARM_UP_SECONDS = 8
/**
 * Keeps the first sessions open: each measurement starts with the first tokens again, and popular users have signed in
 * hundreds of times by then.
 */
const KEEPS_SESSIONS = ['--sessions-per-user', '100000'] as const

export const MIX_ROW: Row = {
  name: 'mix',
  async run(bench) {
    // A database of its own: its popular users sign in so often that the limit of sessions would later end those of
    // other rows.
    const database = join(bench.directory, 'mix.db')
    await copyFile((await bench.workspace()).database, database)
    const databaseUrl = `file:${database}`
    const emails = Array.from({ length: bench.users }, (_, user) => emailOf(user))
    const users = await signIn(bench, databaseUrl, emails)
    const plan = zipfPlan(
      [
        { share: 60, request: PROJECTS },
        { share: 33, request: PROJECT_LIST },
        { share: 5, request: { ...REFRESH, adopts: ['accessToken'] } },
        { share: 2, request: { ...LOGIN, adopts: ['accessToken', 'refreshToken'] } },
      ],
      users,
    )
    const meanwhile = () => startWriter(database, bench.users)
    return sideBySide(bench, {
      plan,
      // Not every request once: first requests of rare users are part of the mix.
      warmUpSeconds: WARM_UP_SECONDS,
      contenders: [
        { name: 'gateway', start: () => startGateway(bench, databaseUrl, ...KEEPS_SESSIONS), meanwhile },
        {
          name: 'fastify + mercurius',
          start: () => startPeer(bench, 'fastify-mercurius', { DATABASE: database }),
          meanwhile,
        },
      ],
      subject: 'gateway',
      goals: [
        {
          against: 'fastify + mercurius',
          atLeast: 3,
          why: 'most of what a profile shows are answers sent, tokens seen for the first time, commits and reads of rare users',
        },
      ],
    })
  },
}

/** Disposing of it throws when the writer has ended by itself. */
function startWriter(database: string, users: number): AsyncDisposable {
  const args = [WRITER, database, String(users), String(DOCUMENTS_PER_SECOND)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  return {
    async [Symbol.asyncDispose]() {
      const isRunning = child.exitCode === null
      child.kill('SIGTERM')
      await ended
      if (!isRunning) throw new Error('the writer of documents ended by itself')
    },
  }
}
