// `move --online`: moving to another database while gateways serve and clients work.
import { EventEmitter, once } from 'node:events'
import { existsSync, mkdirSync, rmdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { runCommandLine } from '../src/cli/command-line.ts'
import { run, runHere, serveForTest } from './support/command-line.ts'
import { ask, bearer } from './support/gateway.ts'
import { type MoveLoadOptions, startMoveLoad } from './support/move-load.ts'
import { moveAndKill, moveUntil, phaseOf } from './support/move-process.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'
import { createSeededRandom, randomSeed } from './support/seeded-random.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, documentLine, SMALL_WORLD } from './support/workspaces.ts'

const QUIET = ['--log-level', 'silent']
const file = async () => `file:${join(temporaryDirectory(), 'workspace.db')}`
/** With `TEST_MOVES=all` (`npm run test:move`): every direction, more kills, more users, and clients that pause less. */
const isLong = process.env.TEST_MOVES === 'all'
const MOST_KILLS = isLong ? 3 : 1
const WAYS = [
  { name: 'SQLite to PostgreSQL', openFrom: file, openTo: temporaryDatabase },
  { name: 'PostgreSQL to SQLite', openFrom: temporaryDatabase, openTo: file },
  { name: 'SQLite to SQLite', openFrom: file, openTo: file },
  { name: 'PostgreSQL to PostgreSQL', openFrom: temporaryDatabase, openTo: temporaryDatabase },
]
  .filter(({ openFrom, openTo }) => isLong || openFrom !== openTo || POSTGRES_URL === null)
  .filter(({ openFrom, openTo }) => POSTGRES_URL !== null || (openFrom === file && openTo === file))
/** Projects of users that nobody works with meanwhile, so that copying takes a while. */
const OTHERS = Array.from({ length: isLong ? 400 : 200 }, (_, index) =>
  documentLine('project', `other-${index}@example.com`, `{"id":"p","n":${index}.0,"text":"${'x'.repeat(2_000)}"}`),
).join('')

async function startWorkers(from: string, to: string, more: Pick<MoveLoadOptions, 'random'>) {
  const args = ['--database', from, '--database-next', to, '--log-level', 'error']
  const gateways = [await serveForTest(args), await serveForTest([...args, '--workers', '2'])]
  let database = from
  const load = await startMoveLoad({
    gateways: gateways.map(({ url }) => url),
    database: () => database,
    onMoved() {
      database = to
    },
    file: join(temporaryDirectory(), 'import.ndjson'),
    people: 3,
    pauseMs: isLong ? 20 : 60,
    importPauseMs: isLong ? 20 : 250,
    ...more,
  })
  return { gateways, load }
}

describe.each(WAYS)('an online move from $name', ({ openFrom, openTo }) => {
  test('goes unnoticed by active clients, even after earlier attempts were killed', async () => {
    const seed = Number(process.env.TEST_MOVES_SEED ?? randomSeed())
    const random = createSeededRandom(seed)
    const [from, to] = [await openFrom(), await openTo()]
    await runHere(['import', '-', '--database', from], { stdin: SMALL_WORLD + OTHERS })
    const { load, gateways } = await startWorkers(from, to, { random })
    const args = ['--from', from, '--to', to, '--online']

    const exitCodes: (number | null)[] = []
    for (let kill = 0; kill < MOST_KILLS && !exitCodes.includes(0); kill += 1) {
      exitCodes.push((await moveAndKill(args, 300 + random.below(isLong ? 1_500 : 700))).exitCode)
    }
    const moved = await run(['move', ...args])
    expect([moved.exitCode, moved.stderr]).toEqual([0, ''])
    expect(moved.stdout).toMatch(/writes were stopped for \d+ ms.*--to has taken over|has taken over already/)
    await load.importedElsewhere()
    const report = await load.stop()
    const logs = gateways.map(({ stderr }) => stderr()).join('')
    expect(report.wrong.slice(0, 10), `seed ${seed}\n${logs}`).toEqual([])
    expect(Math.min(report.logins, report.logouts, report.imports), JSON.stringify(exitCodes)).toBeGreaterThan(2)

    // The old database only reports that it has moved; gateways that know the next database use that one.
    const imported = await runHere(['import', '-', '--database', from], { stdin: SMALL_WORLD })
    expect([imported.exitCode, imported.stderr]).toEqual([2, expect.stringContaining('has moved')])
    const refused = await run(['serve', '--port', '0', '--database', from])
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('has moved')])
    const [session] = report.live
    const urls = [...gateways.map(({ url }) => url)]
    for (const database of [
      ['--database', from, '--database-next', to],
      ['--database', to],
    ]) {
      urls.push((await serveForTest([...database, ...QUIET])).url)
    }
    for (const url of urls) {
      const { status } = await ask(`${url}/projects`, { headers: bearer(session?.accessToken ?? '') })
      expect(status).toBe(200)
    }
    expect((await runHere(['move', ...args])).stdout).toContain('has taken over already')
  })
})

describe('an online move', () => {
  test('leaves everything as it was when it is stopped, or cancelled after it was killed', async () => {
    const [from, to] = [await file(), await file()]
    await runHere(['import', '-', '--database', from], { stdin: SMALL_WORLD + OTHERS })
    const gateway = await serveForTest(['--database', from, ...QUIET])
    const args = ['--from', from, '--to', to, '--online']
    expect((await moveUntil(args, () => phaseOf(from) === 'copying', 'SIGKILL')).exitCode).toBe(null)
    expect((await run(['serve', '--port', '0', '--database', to])).stderr).toContain(
      'being filled by a move or a restore',
    )
    expect((await runHere(['import', '-', '--database', to])).exitCode).toBe(2)
    expect(phaseOf(from)).toBe('copying')
    expect((await runHere(['move', '--from', from, '--cancel'])).stdout).toContain('nothing of a move is left')
    expect(phaseOf(from)).toBe('live')
    expect((await login(gateway.url)).status).toBe(200)

    const stopped = await moveUntil(args, () => phaseOf(from) === 'copying', 'SIGTERM')
    expect([stopped.exitCode, stopped.stderr]).toEqual([1, expect.stringContaining('stopped')])
    expect(phaseOf(from)).toBe('live')
    expect((await login(gateway.url)).status).toBe(200)
    expect((await runHere(['move', ...args])).exitCode).toBe(0)
    expect((await runHere(['move', '--from', from, '--cancel'])).stderr).toContain('too late')
  })

  test('does not claim that nothing happened when it is stopped too late and then fails', async () => {
    const [from, to] = [await file(), await file()]
    await runHere(['import', '-', '--database', from], { stdin: SMALL_WORLD })
    await runHere(['import', '-', '--database', to, '--audit-retention', '0'])
    const hand = new Database(to.slice('file:'.length))
    hand.exec(`create trigger stop before update on move when new.phase = 'live' begin select raise(abort, 'no'); end`)
    const signals = new EventEmitter()
    let said = ''
    const stderr = new Writable({
      write(chunk, _, done) {
        said += chunk
        if (String(chunk).endsWith('switching')) signals.emit('SIGTERM')
        done()
      },
    })
    const io = { stdin: Readable.from([]), stdout: new PassThrough(), stderr, isTerminal: true, clock: Date.now }
    const args = ['--from', from, '--to', to, '--online']
    expect(await runCommandLine(['move', ...args], io, signals)).toBe(1)
    expect(phaseOf(from)).toBe('moved')
    expect(said).not.toContain('continues as before')
    expect(said).toContain('--from has moved: run it again, so that --to takes over\n')
    hand.exec('drop trigger stop')
    hand.close()
    // Nothing is compared again, and the output must not say so.
    const again = await runHere(['move', ...args])
    expect(again.stdout).toMatch(/^moved before: --to has taken over already \(\d+\.\d s\)\n$/)
  })

  test('gives up after ten attempts that do not fit into --max-pause, and the source continues', async () => {
    const [from, to] = [await file(), await file()]
    await runHere(['import', '-', '--database', from], { stdin: SMALL_WORLD })
    const hand = new Database(from.slice('file:'.length))
    // As if the fence had expired before each cutover.
    hand.exec(`create trigger stay before update on move when new.phase = 'moved' begin select raise(ignore); end`)
    hand.close()
    const moved = await runHere(['move', '--from', from, '--to', to, '--online', '--max-pause', '1234'])
    expect(moved).toMatchObject({ exitCode: 1, stdout: '' })
    expect(moved.stderr).toMatch(
      /^the last changes cannot be copied within 1234 ms: .* The source continues as before\n$/,
    )
    expect(phaseOf(from)).toBe('live')
  })

  test('makes gateways that do not know the next database answer 503', async () => {
    const [from, to] = [await file(), await file()]
    await runHere(['import', '-', '--database', from], { stdin: SMALL_WORLD })
    const gateway = await serveForTest(['--database', from, ...QUIET])
    const { accessToken, refreshToken } = (await login(gateway.url)).json()
    expect((await runHere(['move', '--from', from, '--to', to, '--online'])).exitCode).toBe(0)
    const answers = [
      await ask(`${gateway.url}/projects`, { headers: bearer(accessToken) }),
      await login(gateway.url),
      await ask(`${gateway.url}/logout`, { method: 'DELETE', ...json({ refreshToken }) }),
      await ask(`${gateway.url}/token`, { method: 'POST', ...json({ refreshToken }) }),
      await ask(`${gateway.url}/readyz`),
    ]
    for (const { status, headers } of answers) expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    const after = await serveForTest(['--database', to, ...QUIET])
    const read = await ask(`${after.url}/projects`, { headers: bearer(accessToken) })
    expect(read.status).toBe(200)
  })

  test('allows the next database to be created again before the cutover: gateways keep serving, start, and follow', async () => {
    const [from, to] = [await file(), await file()]
    const path = to.slice('file:'.length)
    const remove = () => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
    }
    await runHere(['import', '-', '--database', from], { stdin: SMALL_WORLD })
    const args = ['--database', from, '--database-next', to, '--log-level', 'warn']
    const first = await serveForTest(args)
    remove()
    await expect.poll(first.stderr).toContain('--database-next cannot be used')
    expect((await login(first.url)).status).toBe(200)
    expect(existsSync(`${path}.lost`)).toBe(false)
    // A directory in place of the database file.
    mkdirSync(path)
    const second = await serveForTest(args)
    expect(second.stderr()).toContain('--database-next cannot be used')
    const { accessToken } = (await login(second.url)).json()
    rmdirSync(path)
    expect((await runHere(['move', '--from', from, '--to', to, '--online'])).exitCode).toBe(0)
    for (const { url } of [first, second]) {
      expect((await ask(`${url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
      expect((await login(url)).status).toBe(200)
    }
    // After the cutover, losing the next database means losing the database.
    remove()
    for (const { process: child } of [first, second]) if (child.exitCode === null) await once(child, 'close')
    expect([first.process.exitCode, second.process.exitCode, existsSync(`${path}.lost`)]).toEqual([1, 1, true])
  })

  test('makes a gateway that cannot open the next database say so, and follow once it can', async () => {
    const [from, to] = [await file(), await file()]
    await runHere(['import', '-', '--database', from], { stdin: SMALL_WORLD })
    const path = join(temporaryDirectory(), 'next.db')
    // A directory in place of the database file.
    mkdirSync(path)
    const next = ['--database-next', `file:${path}`]
    const gateway = await serveForTest(['--database', from, ...next, '--log-level', 'warn'])
    expect(gateway.stderr()).toContain('the database cannot move there until this is fixed')
    expect((await runHere(['move', '--from', from, '--to', to, '--online'])).exitCode).toBe(0)
    expect((await login(gateway.url)).status).toBe(503)
    await expect.poll(gateway.stderr).toContain('has moved to that of the option database-next, which cannot be used: ')
    expect(gateway.stderr()).not.toContain('give it with the option database-next')
    rmdirSync(path)
    symlinkSync(to.slice('file:'.length), path)
    expect((await login(gateway.url)).status).toBe(200)
  })

  test('does not stop writes for longer than it announced when it is stuck', async () => {
    const [from, to] = [await file(), await file()]
    await runHere(['import', '-', '--database', from], { stdin: SMALL_WORLD })
    const gateway = await serveForTest(['--database', from, '--database-next', to, ...QUIET])
    const hand = new Database(from.slice('file:'.length))
    hand.exec(`update move set phase = 'closed', move_id = 'gone', other = 'nobody',
      closed_until = cast((julianday('now') - 2440587.5) * 86400000 as integer) + 300`)
    hand.close()
    expect((await login(gateway.url)).status).toBe(200)
    expect((await runHere(['move', '--from', from, '--to', to, '--online'])).exitCode).toBe(0)
    expect((await login(gateway.url)).status).toBe(200)
  })
})

const json = (body: object) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const login = (url: string) => ask(`${url}/login`, { method: 'POST', ...json({ email: ANA }) })
