import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run, runHere, serveForTest } from './support/command-line.ts'
import { ask, bearer } from './support/gateway.ts'
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

const file = () => `file:${join(temporaryDirectory(), 'workspace.db')}`
const json = (body: object) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const QUIET = ['--log-level', 'silent']

describe.skipIf(POSTGRES_URL === null)('move', () => {
  test('takes everything there and back; users stay signed in, and who signed out stays out', async () => {
    const [home, away, back] = [file(), await temporaryDatabase(), file()]
    await runHere(['import', '-', '--database', home], { stdin: SMALL_WORLD + MANY })
    const before = await serveForTest(['--database', home, ...QUIET])
    const login = async () => (await ask(`${before.url}/login`, { method: 'POST', ...json({ email: ANA }) })).json()
    const [staying, leaving] = [await login(), await login()]
    const read = async (url: string) => (await ask(`${url}/projects`, { headers: bearer(staying.accessToken) })).text
    const projects = await read(before.url)
    const dump = async (database: string) => (await runHere(['dump', '--database', database])).stdout

    const first = await run(['move', '--from', home, '--to', away])
    expect([first.exitCode, first.stderr]).toEqual([0, ''])
    expect(first.stdout).toMatch(/^moved 42 users, 45 documents, 123 exports, 2 sessions, 1 signing keys; all compared/)

    await ask(`${before.url}/logout`, { method: 'DELETE', ...json(leaving) })
    await before.kill('SIGTERM')
    const again = await runHere(['move', '--from', home, '--to', away])
    expect(again.stdout).toContain('42 users (42 were there already)')
    expect((await runHere(['move', '--from', away, '--to', back])).exitCode).toBe(0)
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

  test('goes on where it was broken off, and says when the two differ', async () => {
    const [home, away] = [file(), await temporaryDatabase()]
    await runHere(['import', '-', '--database', home], { stdin: MANY })
    await runHere(['import', '-', '--database', away], { stdin: MANY.split('\n').slice(0, 22).join('\n') })
    const resumed = await runHere(['move', '--from', home, '--to', away])
    expect(resumed.stdout).toContain('40 users (5 were there already)')
    await execute(away, `update workspace_gateway.document set text = '{"id":"p","n":0}' where user_id = 1`)
    expect((await runHere(['move', '--from', home, '--to', away])).stdout).toContain('(39 were there already)')
    await execute(away, `insert into workspace_gateway.document values (1, 'template', 1, 'x', null, '{}')`)
    const differing = await runHere(['move', '--from', home, '--to', away])
    expect([differing.exitCode, differing.stderr]).toEqual([1, expect.stringContaining('not the same')])
  })

  test('refuses a target that is somebody else’s, and two names for one database', async () => {
    const [home, away] = [file(), await temporaryDatabase()]
    await runHere(['import', '-', '--database', home], { stdin: SMALL_WORLD })
    await runHere(['import', '-', '--database', away], { stdin: MANY })
    const refused = await runHere(['move', '--from', home, '--to', away])
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('must be empty')])
    expect((await runHere(['move', '--from', home, '--to', home])).exitCode).toBe(2)
    expect((await runHere(['move', '--from', home])).stderr).toContain('--to')
  })
})
