// `move`: copying a whole database to another one, without --online.
import { copyFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { run, runHere, serveForTest } from './support/command-line.ts'
import { ask, bearer, openSession } from './support/gateway.ts'
import { moveUntil, valueIn } from './support/move-process.ts'
import { execute, POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

const MANY = Array.from(
  { length: 40 },
  (_, index) =>
    documentLine('project', `u${index}@example.com`, `{"id":"p","n":${index}.0}`) +
    exportLine(`u${index}@example.com`, {
      r: 'p',
      createdAt: '2026-01-01T00:00:00Z',
      elements: ['1.0', `"${index}"`],
    }) +
    exportLine(`u${index}@example.com`, { r: 'p', createdAt: '2026-01-01T00:00:00Z', elements: ['2'] }) +
    exportLine(`u${index}@example.com`, { r: 'later', createdAt: '2026-01-01T00:00:00Z', elements: [] }),
).join('')

const OTHERS = Array.from({ length: 400 }, (_, index) =>
  documentLine('project', `other-${index}@example.com`, `{"id":"p","n":${index}.0,"text":"${'x'.repeat(500)}"}`),
).join('')

const file = () => `file:${join(temporaryDirectory(), 'workspace.db')}`
const json = (body: object) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const QUIET = ['--log-level', 'silent']

/** More than one page of each kind, and more than one transaction. */
const LARGE =
  Array.from({ length: 2_300 }, (_, index) =>
    documentLine('project', 'large@example.com', `{"id":"p${index}","text":"${'x'.repeat(2_000)}"}`),
  ).join('') +
  Array.from({ length: 300 }, (_, index) => documentLine('template', 'large@example.com', `{"id":"t${index}"}`)).join(
    '',
  ) +
  exportLine('large@example.com', {
    r: 'p7',
    createdAt: '2026-01-01T00:00:00Z',
    elements: Array.from({ length: 1_300 }, (_, index) => `${index}.0`),
  })

describe.skipIf(POSTGRES_URL === null)('move', () => {
  test('copies everything there and back; users stay signed in, and those who signed out stay signed out', async () => {
    const [home, away, back] = [file(), await temporaryDatabase(), file()]
    await runHere(['import', '-', '--database', home], { stdin: SMALL_WORLD + MANY })
    const before = await serveForTest(['--database', home, ...QUIET])
    const [staying, leaving] = [await openSession(before.url, ANA), await openSession(before.url, ANA)]
    const read = async (url: string) => (await ask(`${url}/projects`, { headers: bearer(staying.accessToken) })).text
    const projects = await read(before.url)
    const dump = async (database: string) => (await runHere(['dump', '--database', database])).stdout

    const first = await run(['move', '--from', home, '--to', away])
    expect([first.exitCode, first.stderr]).toEqual([0, expect.stringContaining(`(process ${before.process.pid})`)])
    expect(first.stdout).toMatch(/^moved 42 users, 45 documents, 123 exports, 2 sessions, 1 signing keys; all compared/)

    await ask(`${before.url}/logout`, { method: 'DELETE', ...json(leaving) })
    await before.kill('SIGTERM')
    const again = await runHere(['move', '--from', home, '--to', away])
    expect([again.stdout, again.stderr]).toEqual([expect.stringContaining('42 users (42 were there already)'), ''])
    const homewards = await runHere(['move', '--from', away, '--to', back])
    expect([homewards.exitCode, homewards.stderr]).toEqual([0, ''])
    expect(await dump(away)).toBe(await dump(home))
    expect(await dump(back)).toBe(await dump(home))

    for (const database of [away, back]) {
      const after = await serveForTest(['--database', database, ...QUIET])
      expect(await read(after.url)).toBe(projects)
      const refresh = (tokens: object) => ask(`${after.url}/token`, { method: 'POST', ...json(tokens) })
      expect((await refresh(staying)).status).toBe(200)
      expect((await refresh(leaving)).status).toBe(401)
      expect((await ask(`${after.url}/projects`, { headers: bearer(leaving.accessToken) })).status).toBe(401)
    }
  })

  test('warns of a gateway that uses the source or the target, but not of one that has ended', async () => {
    const home = await temporaryDatabase()
    await runHere(['import', '-', '--database', home], { stdin: SMALL_WORLD })
    const serving = await serveForTest(['--database', home, ...QUIET])
    const args = () => ['move', '--from', home, '--to', file()]
    const beside = await runHere(args())
    expect([beside.exitCode, beside.stderr]).toEqual([0, expect.stringMatching(/^warning: .*\d connections? from .*/)])
    expect((await runHere([...args(), '--online', '--cancel'])).stderr).toBe('')
    const target = await runHere(['move', '--from', file(), '--to', home])
    expect(target.stderr).toMatch(/^warning: --to is in use \(\d connections? from .*may be removed/m)
    await serving.kill('SIGTERM')
    expect((await runHere(args())).stderr).toBe('')
  })

  test('copies workspaces that exceed a page and a transaction, and again after half of one has changed', async () => {
    const [home, away, back] = [file(), await temporaryDatabase(), file()]
    await runHere(['import', '-', '--database', home], { stdin: LARGE })
    const dump = async (database: string) => (await runHere(['dump', '--database', database])).stdout
    expect((await runHere(['move', '--from', home, '--to', away])).stderr).toBe('')
    expect((await runHere(['move', '--from', away, '--to', back])).stderr).toBe('')
    expect(await dump(away)).toBe(await dump(home))
    expect(await dump(back)).toBe(await dump(home))

    await execute(away, 'delete from workspace_gateway.document where position % 2 = 0')
    const elsewhere = documentLine('project', 'large@example.com', '{"id":"p7","ref":"elsewhere"}')
    await runHere(['import', '-', '--database', home], { stdin: LARGE.replaceAll('0"', '0","new":1') + elsewhere })
    expect(await dump(home)).toContain('"r":"elsewhere"')
    const again = await runHere(['move', '--from', home, '--to', away])
    expect([again.exitCode, again.stderr]).toEqual([0, ''])
    expect(await dump(away)).toBe(await dump(home))
  })

  test('refuses a target with other data, and two names of the same database', async () => {
    const [home, away] = [file(), await temporaryDatabase()]
    await runHere(['import', '-', '--database', home], { stdin: SMALL_WORLD })
    await runHere(['import', '-', '--database', away], { stdin: MANY })
    const refused = await runHere(['move', '--from', home, '--to', away])
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('must be empty')])
    const [path, copy, link] = [home.slice('file:'.length), `${home}-copy`, `${home}-link`]
    copyFileSync(path, copy.slice('file:'.length))
    symlinkSync(path, link.slice('file:'.length))
    for (const other of [home, copy, link]) {
      const same = await runHere(['move', '--from', home, '--to', other])
      expect([same.exitCode, same.stderr], other).toEqual([expect.toBeOneOf([1, 2]), expect.stringContaining('same')])
    }
    expect((await runHere(['move', '--from', home])).stderr).toContain('--to')
  })
})

test('a gateway does not start if its next database is its own, by another name too', async () => {
  const home = file()
  await runHere(['import', '-', '--database', home], { stdin: SMALL_WORLD })
  const link = `${home}-link`
  symlinkSync(home.slice('file:'.length), link.slice('file:'.length))
  for (const next of [home, link]) {
    const { exitCode, stderr } = await runHere(['serve', '--database', home, '--database-next', next, ...QUIET])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('is the same database as --database')])
  }
})

test('move resumes where it was killed, and repairs a changed target until somebody uses it', async () => {
  const [home, away] = [file(), file()]
  await runHere(['import', '-', '--database', home], { stdin: MANY + OTHERS })
  const args = ['--from', home, '--to', away]
  const hasBegun = () => Number(valueIn(away, 'select count(*) from user')) > 20
  expect((await moveUntil(args, hasBegun, 'SIGKILL')).exitCode).toBe(null)
  const resumed = await runHere(['move', ...args])
  expect(resumed.stdout).toMatch(/440 users \((?:[2-9]\d|\d{3}) were there already\), 440 documents, 120 exports/)
  const dump = async (database: string) => (await runHere(['dump', '--database', database])).stdout
  expect(await dump(away)).toBe(await dump(home))

  const hand = new Database(away.slice('file:'.length))
  hand.exec(`update document set text = '{"id":"p","n":0}' where user_id = 1; delete from export where user_id = 2;
    insert into document (key, user_id, kind, id, text) values ((3 << 28) | (2 << 26) | 1, 3, 'template', 'x', '{}');
    delete from user where id = 4; insert into user (email) values ('stranger@example.com');
    update user set email = 'renamed@example.com' where id = 5; update sqlite_sequence set seq = 9999;
    update document set ref = 'other' where user_id = 6`)
  hand.close()
  expect((await runHere(['move', ...args])).stdout).toContain('440 users (434 were there already)')
  expect(await dump(away)).toBe(await dump(home))

  await (await serveForTest(['--database', away, ...QUIET])).kill('SIGTERM')
  const late = await runHere(['move', ...args])
  expect([late.exitCode, late.stderr]).toEqual([1, expect.stringContaining('not used since')])
})
