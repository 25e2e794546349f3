// Commands on a database that a move or a restore fills, or has filled and that nobody uses yet.
import { copyFileSync, existsSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openActiveStore } from '../../src/cli/open-active-store.ts'
import { move } from '../../src/migration/offline.ts'
import { openStore } from '../../src/store/open-store.ts'
import { newSession, put } from '../contract/values.ts'
import { runHere, serveForTest, serveHereForTest } from '../support/command-line.ts'
import { ask, bearer, openSession } from '../support/gateway.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const file = async () => `file:${join(temporaryDirectory(), 'workspace.db')}`

const OPTIONS = {
  lockTimeoutMs: 5_000,
  connectTimeoutMs: 10_000,
  statementTimeoutMs: 10_000,
  poolSize: 2,
  onFatal() {},
}

const ENGINES = [
  { engine: 'SQLite', isThere: true, make: file },
  { engine: 'PostgreSQL', isThere: POSTGRES_URL !== null, make: () => temporaryDatabase() },
]

const READING = [
  ['dump'],
  ['users', 'list'],
  ['users', 'show', ANA],
  ['sessions', 'list'],
  ['clients', 'list'],
  ['keys', 'list'],
  ['audit'],
  ['ledger'],
]

/** Commands that show who may sign in, which a database that has moved never shows. */
const REFUSED_ONCE_MOVED = ['clients', 'keys']

const WRITING = [
  ['keys', 'rotate'],
  ['keys', 'retire', 'kid'],
  ['clients', 'add', 'mover', '--email-domains', 'example.com'],
  ['clients', 'remove', 'mover'],
  ['sessions', 'revoke', '--email', ANA],
  ['users', 'remove', ANA],
  ['vacuum'],
]

describe.each(ENGINES)('on $engine', ({ isThere, make }) => {
  test.skipIf(!isThere)('commands neither read nor change a database that is being filled', async () => {
    const database = await make()
    {
      await using store = await openStore(database, OPTIONS)
      expect(await store.reserveTarget({ id: 'move', other: 'source' })).toBe(true)
      expect(await store.applyCopies('move', [{ type: 'putUser', id: 1, email: ANA }])).toBe(true)
    }
    const backup = join(temporaryDirectory(), 'copy.backup')
    for (const command of [...READING, ...WRITING, ['backup', backup]]) {
      const args = [...command, '--database', database, '--connect-timeout', '60000']
      const { exitCode, stdout, stderr } = await runHere(args)
      const said = [exitCode, stdout, stderr]
      expect(said, command.join(' ')).toEqual([2, '', expect.stringMatching(/^the database is being filled by .*\n$/)])
    }
    expect(existsSync(backup)).toBe(false)
    await using store = await openStore(database, OPTIONS)
    expect([await store.signingKeys(), await store.clients()]).toEqual([[], []])
  })

  test.skipIf(!isThere)(
    'commands show what a moved database held and warn that it has moved, or refuse to show who may sign in or to back it up',
    async () => {
      const [home, away] = [await make(), await make()]
      await runHere(['import', '-', '--database', home], { stdin: SMALL_WORLD })
      const show = (command: readonly string[], database: string) => runHere([...command, '--database', database])
      const before = await Promise.all(READING.map((command) => show(command, home)))
      expect((await runHere(['move', '--from', home, '--to', away, '--online'])).exitCode).toBe(0)
      for (const [index, command] of READING.entries()) {
        const { stderr, ...shown } = await show(command, home)
        const isRefused = REFUSED_ONCE_MOVED.includes(command[0] ?? '')
        expect(stderr, command.join(' ')).toMatch(
          isRefused ? /^the database has moved to another one.*\n$/ : /^warning: the database has moved.*\n$/,
        )
        expect({ ...shown, stderr: '' }, command.join(' ')).toEqual(
          isRefused ? { exitCode: 2, stdout: '', stderr: '' } : before[index],
        )
        expect((await show(command, away)).stderr, command.join(' ')).toBe('')
      }
      const folder = temporaryDirectory()
      const refused = await show(['backup', '--keep-newest', '3', folder], home)
      expect([refused.exitCode, refused.stdout, refused.stderr]).toEqual([
        2,
        '',
        expect.stringMatching(/^the database has moved to another one.*\n$/),
      ])
      expect(readdirSync(folder)).toEqual([])
      const made = await show(['backup', join(folder, 'copy.backup')], away)
      expect([made.exitCode, made.stderr]).toEqual([0, ''])
    },
  )

  test.skipIf(!isThere)(
    'a session that an operator ended in the target stays ended, because the move refuses to run again',
    async () => {
      const [home, away] = [await make(), await make()]
      await runHere(['import', '-', '--database', home], { stdin: SMALL_WORLD })
      const before = await serveHereForTest(['--database', home, '--log-level', 'silent'])
      const session = await openSession(before.url, ANA)
      await before.kill('SIGTERM')
      expect((await runHere(['move', '--from', home, '--to', away])).exitCode).toBe(0)
      const ended = await runHere(['sessions', 'revoke', '--email', ANA, '--database', away])
      expect([ended.exitCode, ended.stdout]).toEqual([0, '1 session ended\n'])
      const again = await runHere(['move', '--from', home, '--to', away])
      expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('not used since')])
      const after = await serveHereForTest(['--database', away, '--log-level', 'silent'])
      expect((await ask(`${after.url}/projects`, { headers: bearer(session.accessToken) })).status).toBe(401)
    },
  )

  test.skipIf(!isThere)('import --dry-run reports changes of a filled target without taking it into use', async () => {
    const [home, away] = [await make(), await make()]
    await runHere(['import', '-', '--database', home], { stdin: SMALL_WORLD })
    const args = ['move', '--from', home, '--to', away]
    expect((await runHere(args)).exitCode).toBe(0)
    const imported = (...options: string[]) =>
      runHere(['import', '-', '--database', away, '--replace', ...options], { stdin: SMALL_WORLD })
    const tried = await imported('--dry-run')
    expect([tried.exitCode, tried.stdout]).toEqual([
      0,
      expect.stringMatching(/^would import .* 8 unchanged, 0 removed/),
    ])
    const again = await runHere(args)
    expect([again.exitCode, again.stdout]).toEqual([0, expect.stringContaining('2 users (2 were there already)')])
    expect((await imported()).exitCode).toBe(0)
    expect((await runHere(args)).stderr).toContain('not used since')
  })
})

test('restore refuses a copy of a database that has moved or that a move fills', async () => {
  const [home, away, half] = [await file(), await file(), await file()]
  await runHere(['import', '-', '--database', home], { stdin: SMALL_WORLD })
  {
    await using store = await openStore(half, OPTIONS)
    expect(await store.reserveTarget({ id: 'move', other: 'source' })).toBe(true)
  }
  expect((await runHere(['move', '--from', home, '--to', away, '--online'])).exitCode).toBe(0)
  const dump = async () => (await runHere(['dump', '--database', away])).stdout
  const before = await dump()
  for (const [database, reason] of [
    [home, 'had moved to another one'],
    [half, 'being filled by a move'],
  ] as const) {
    const copy = join(temporaryDirectory(), 'copy.db')
    copyFileSync(database.slice('file:'.length), copy)
    const { exitCode, stdout, stderr } = await runHere(['restore', copy, '--database', away])
    expect([exitCode, stdout, stderr.trim().split('\n')]).toEqual([2, '', [expect.stringContaining(reason)]])
    expect(await dump()).toBe(before)
  }
  const folder = dirname(away.slice('file:'.length))
  expect(readdirSync(folder).filter((name) => /part|before/.test(name))).toEqual([])
})

test('a repeated move does not remove what was written through a store that was opened before the first move', async () => {
  const [home, away] = [await file(), await file()]
  await using from = await openStore(home, OPTIONS)
  await using to = await openStore(away, OPTIONS)
  // At this time the database is empty, and may be used.
  await using importing = await openActiveStore({ database: away }, OPTIONS)
  const change = (email: string) => put({ email })
  await from.applyChanges([change(ANA)])
  const options = { onProgress() {}, onTracesLeft() {}, stop: new AbortController().signal }
  const identity = (await from.moveState()).identity
  expect(await to.reserveTarget({ id: 'm', other: identity })).toBe(true)
  await expect((async () => importing.applyChanges([change('ben@example.com')]))()).rejects.toThrow('is being filled')
  await move(from, to, options)
  expect((await to.moveState()).phase).toBe('filled')
  expect(await importing.applyChanges([change('ben@example.com')])).toEqual(['added'])
  expect((await to.moveState()).phase).toBe('live')
  await expect(move(from, to, options)).rejects.toThrow('not used since')
  expect((await to.usersAfter('', 9)).map(({ email }) => email)).toEqual([ANA, 'ben@example.com'])
})

test('the sweeps of a gateway take a filled database into use only when they remove something', async () => {
  const [home, away] = [await file(), await file()]
  await using from = await openStore(home, OPTIONS)
  await using to = await openStore(away, OPTIONS)
  await using serving = await openActiveStore({ database: away }, OPTIONS)
  await from.applyChanges([put()])
  await from.addSessions([newSession()])
  const options = { onProgress() {}, onTracesLeft() {}, stop: new AbortController().signal }
  await move(from, to, options)
  expect(await serving.dropExpiredSessions(0)).toBe(true)
  expect(await serving.removeAuditEntries(0, 10)).toBe(0)
  await serving.removeRestCalls('1970-01-01', 10)
  expect((await to.moveState()).phase).toBe('filled')
  expect(await move(from, to, options)).toMatchObject({ usersThereBefore: 1 })
  expect(await serving.dropExpiredSessions(Number.MAX_SAFE_INTEGER)).toBe(true)
  expect(await to.sessionsAfter('', 9)).toEqual([])
  expect((await to.moveState()).phase).toBe('live')
  await expect(move(from, to, options)).rejects.toThrow('not used since')
})

test('a move warns of a gateway that uses the source, even when it is given a symbolic link to the source', async () => {
  const home = await file()
  await runHere(['import', '-', '--database', home], { stdin: SMALL_WORLD })
  const link = join(temporaryDirectory(), 'link.db')
  symlinkSync(home.slice('file:'.length), link)
  const serving = await serveForTest(['--database', home, '--log-level', 'silent'])
  const beside = await runHere(['move', '--from', `file:${link}`, '--to', await file()])
  expect([beside.exitCode, beside.stderr]).toEqual([
    0,
    expect.stringContaining(`warning: --from is in use (process ${serving.process.pid})`),
  ])
})
