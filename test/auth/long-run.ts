// npm run test:sessions [-- RACES [ROTATIONS [SESSIONS]]]: races session ends against reads and rotates keys under
// load, over four gateways on each engine; then opens 10,000 sessions of one user against the limit.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../support/client.ts'
import { run, serve } from '../support/command-line.ts'
import { startPostgres, unpackPostgres } from '../support/postgres-server.ts'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'
import { ROTATION_WORKSPACE, runKeyRotation } from './races/key-rotation.ts'
import { racers, runRevokeRaces } from './races/revoke-races.ts'

const GATEWAYS = 4
const CONCURRENCY = 16
const LIMIT = 100

const [, , races = '10000', rotations = '20', sessions = '10000'] = process.argv
const directory = makeDirectory()
await using binaries = await unpackPostgres()
await using server = await startPostgres(binaries, { settings: { fsync: 'on' } })
try {
  await runOn('SQLite', `file:${join(directory, 'workspace.db')}`)
  await runOn('PostgreSQL', server.url('postgres'))
} finally {
  removeDirectory(directory)
}

async function runOn(engine: string, database: string): Promise<void> {
  const options = ['--database', database]
  const file = join(directory, 'workspaces.ndjson')
  writeFileSync(file, racers(CONCURRENCY) + ROTATION_WORKSPACE)
  await run(['import', file, ...options])
  const gateways = await Promise.all(
    Array.from({ length: GATEWAYS }, () =>
      serve([...options, '--sessions-per-user', String(LIMIT), '--log-level', 'warn']),
    ),
  )
  const urls = gateways.map(({ url }) => url)
  try {
    const raced = await runRevokeRaces({ urls, races: Number(races), concurrency: CONCURRENCY })
    say(raced.lateSuccesses === 0, `${engine}: ${JSON.stringify(raced)}`)
    const { failures, ...rotated } = await runKeyRotation({
      urls,
      rotations: Number(rotations),
      concurrency: CONCURRENCY,
      requestsPerRotation: 2_000,
      async rotate() {
        const { exitCode, stderr } = await run(['keys', 'rotate', ...options])
        if (exitCode !== 0) throw new Error(stderr)
      },
    })
    const first = failures.length === 0 ? '' : `, the first ${failures[0]}`
    say(
      failures.length === 0,
      `${engine}: keys: ${JSON.stringify(rotated)}, ${failures.length} failed requests${first}`,
    )
    const left = await openMany(urls)
    say(left === LIMIT, `${engine}: ${sessions} logins of one user, ${left} sessions are left`)
  } finally {
    for (const gateway of gateways) await gateway.kill('SIGTERM')
  }
}

/** Returns how many of the sessions are valid in the end. */
async function openMany(urls: readonly string[]): Promise<number> {
  const clients = urls.map((url) => createClient(url, { connections: CONCURRENCY }))
  const tokens: string[] = []
  async function open(worker: number): Promise<void> {
    for (let count = worker; count < Number(sessions); count += CONCURRENCY) {
      const client = clients[count % clients.length]
      const answer = await client?.login('many@example.com')
      tokens.push(JSON.parse(answer?.text ?? '{}').refreshToken)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, (_, worker) => open(worker)))
  let alive = 0
  for (const token of tokens) if ((await clients[0]?.refresh(token))?.status === 200) alive += 1
  for (const client of clients) client[Symbol.dispose]()
  return alive
}

function say(isGood: boolean, text: string): void {
  console.log(`${isGood ? 'good' : 'BAD'}: ${text}`)
  if (!isGood) process.exitCode = 1
}
