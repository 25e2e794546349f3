// npm run test:move [-- DOCUMENTS [SESSIONS]]: moves everything there and back, first offline, then online under load.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openStore } from '../../src/store/open-store.ts'
import { createClient, requireSession, type Session } from '../support/client.ts'
import { run, serve } from '../support/command-line.ts'
import { startMoveLoad } from '../support/move-load.ts'
import { startPostgres, unpackPostgres } from '../support/postgres-server.ts'
import { createSeededRandom, randomSeed } from '../support/seeded-random.ts'
import { documentLine, exportLine } from '../support/workspaces.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const DOCUMENTS_PER_USER = 100
const EXPORTS_PER_USER = 10
const CLIENTS = 8
const QUIET = ['--log-level', 'error']

const [, , documents = '100000', sessionCount = '1000'] = process.argv
const userCount = Math.ceil(Number(documents) / DOCUMENTS_PER_USER)
const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-move-'))
const seed = randomSeed()
let failures = 0
let versionsBefore = 0

await using binaries = await unpackPostgres()
await using server = await startPostgres(binaries, { settings: { fsync: 'on' } })
const databases = {
  home: `file:${join(directory, 'home.db')}`,
  away: server.url('postgres'),
  back: `file:${join(directory, 'back.db')}`,
  onlineAway: server.url('template1'),
  onlineBack: `file:${join(directory, 'online-back.db')}`,
}

try {
  console.log(`${documents} documents of ${userCount} users, ${sessionCount} sessions, seed ${seed}`)
  writeWorld(join(directory, 'world.ndjson'))
  console.log(await requireRun(['import', join(directory, 'world.ndjson'), '--database', databases.home]))
  const sessions = await signIn(databases.home)

  await moveOffline('home', 'away')
  await moveOffline('away', 'back')
  await compare(['home', 'away', 'back'])
  await moveOnline('back', 'onlineAway', sessions)
  await moveOnline('onlineAway', 'onlineBack', sessions)
  await compare(['home', 'back', 'onlineAway', 'onlineBack'], isWorkers)
} finally {
  rmSync(directory, { recursive: true })
}
process.exitCode = failures > 0 ? 1 : 0

function check(what: string, isSo: boolean): void {
  console.log(`${isSo ? 'ok  ' : 'FAIL'}  ${what}`)
  if (!isSo) failures += 1
}

function emailOf(user: number): string {
  return `user-${user}@example.com`
}

function writeWorld(path: string): void {
  for (let user = 0; user < userCount; user += 1) {
    const email = emailOf(user)
    const lines = Array.from({ length: DOCUMENTS_PER_USER }, (_, index) => {
      const kind = (['project', 'project', 'template', 'uiLibrary'] as const)[index % 4] ?? 'project'
      return documentLine(kind, email, `{"id":"d${index}","n":${user}.0,"text":"${'\\u00e9é'.repeat(50)}"}`)
    })
    for (let index = 0; index < EXPORTS_PER_USER; index += 1) {
      const elements = Array.from(
        { length: 5 },
        (_, n) => `{"path":"${n}.html","n":${index}.0,"x":"${'x'.repeat(200)}"}`,
      )
      lines.push(
        exportLine(email, { r: `d${index - (index % 2)}`, createdAt: `2026-01-01T00:00:0${index}Z`, elements }),
      )
    }
    appendFileSync(path, lines.join(''))
  }
}

async function requireRun(args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(args)
  if (exitCode !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

async function signIn(database: string): Promise<readonly Session[]> {
  const gateway = await serve(['--database', database, ...QUIET])
  using client = createClient(gateway.url, { connections: CLIENTS })
  const sessions = await Promise.all(
    Array.from({ length: Number(sessionCount) }, (_, index) => requireSession(client, emailOf(index % userCount))),
  )
  await gateway.kill('SIGTERM')
  return sessions
}

async function moveOffline(from: keyof typeof databases, to: keyof typeof databases): Promise<void> {
  console.log(`${from} -> ${to}: ${await requireRun(['move', '--from', databases[from], '--to', databases[to]])}`)
}

async function moveOnline(
  from: keyof typeof databases,
  to: keyof typeof databases,
  sessions: readonly Session[],
): Promise<void> {
  // However long the run takes, no session may be ended because its user has many others.
  const many = ['--sessions-per-user', '100000']
  const args = ['--database', databases[from], '--database-next', databases[to], ...many, ...QUIET]
  const gateways = [await serve(args), await serve([...args, '--workers', '2'])]
  let database = databases[from]
  const load = await startMoveLoad({
    gateways: gateways.map(({ url }) => url),
    random: createSeededRandom(seed),
    database: () => database,
    onMoved() {
      database = databases[to]
    },
    file: join(directory, `load-${from}.ndjson`),
    people: 6,
    pauseMs: 10,
    versionsBefore,
  })
  const moved = await requireRun(['move', '--from', databases[from], '--to', databases[to], '--online'])
  console.log(`${from} -> ${to}, online: ${moved}`)
  await load.importedElsewhere()
  const { wrong, live, ended, longestWriteMs, longestReadMs, ...counts } = await load.stop()
  versionsBefore = counts.version
  console.log(`  meanwhile ${JSON.stringify(counts)}`)
  console.log(
    `  the longest that anybody waited: ${Math.ceil(longestWriteMs)} ms for a write, ${Math.ceil(longestReadMs)} ms for a read`,
  )
  for (const line of wrong.slice(0, 20)) console.log(`  ${line}`)
  check(`${counts.requests} requests, none failed, none stale`, wrong.length === 0)
  check(`${live.length} sessions of the time of the move are open, ${ended.length} are closed`, wrong.length === 0)
  using client = createClient(gateways[0]?.url ?? '', { connections: CLIENTS })
  const statuses = await Promise.all(sessions.map(({ refreshToken }) => client.refresh(refreshToken)))
  const lost = statuses.filter(({ status }) => status !== 200).length
  check(`${sessions.length} sessions from before the move, ${lost} lost`, lost === 0)
  for (const gateway of gateways) {
    for (const line of gateway.stderr().split('\n').filter(Boolean)) console.log(`  ${line}`)
    await gateway.kill('SIGTERM')
  }
}

/** Lines of the users whose workspaces change during the online moves. */
function isWorkers(line: string): boolean {
  return line.includes('"worker-')
}

async function compare(
  names: readonly (keyof typeof databases)[],
  isLeftOut: (line: string) => boolean = () => false,
): Promise<void> {
  const dumps = new Map<string, string>()
  const sessions = new Map<string, string>()
  for (const name of names) {
    dumps.set(name, await dumpDigest(databases[name], isLeftOut))
    sessions.set(name, await sessionsDigest(databases[name]))
    console.log(`  ${name}: documents and exports ${dumps.get(name)}, sessions ${sessions.get(name)}`)
  }
  check(`dumps of ${names.join(', ')} are the same`, new Set(dumps.values()).size === 1)
  // The users of the load have opened other sessions meanwhile.
  if (!names.includes('onlineAway')) check('sessions are the same', new Set(sessions.values()).size === 1)
}

async function dumpDigest(database: string, isLeftOut: (line: string) => boolean): Promise<string> {
  const child = spawn(process.execPath, [MAIN, 'dump', '--database', database], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const hash = createHash('sha256')
  for await (const line of createInterface({ input: child.stdout })) if (!isLeftOut(line)) hash.update(`${line}\n`)
  await ended
  if (child.exitCode !== 0) throw new Error('dump failed')
  return hash.digest('hex').slice(0, 16)
}

async function sessionsDigest(database: string): Promise<string> {
  await using store = await openStore(database, {
    lockTimeoutMs: 5_000,
    connectTimeoutMs: 3_000,
    statementTimeoutMs: 10_000,
    poolSize: 2,
    onFatal() {},
  })
  const hash = createHash('sha256')
  for (let after = ''; ; ) {
    const page = await store.sessionsAfter(after, 1_000)
    for (const { refreshHash, ...session } of page) {
      hash.update(JSON.stringify({ ...session, refreshHash: Buffer.from(refreshHash).toString('hex') }))
    }
    const last = page.at(-1)
    if (!last) return hash.digest('hex').slice(0, 16)
    after = last.id
  }
}
