// Tests serve --read-only: on a read-only disk, beside a gateway that writes, and where it is refused.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { run, runHere, type ServingProcess, serveForTest } from '../support/command-line.ts'
import { canMount } from '../support/faults.ts'
import { type Answer, ask, bearer } from '../support/gateway.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const MIB = 1_048_576
const QUIET = ['--log-level', 'warn']

function post(url: string, path: string, body: object, method = 'POST'): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  return ask(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
}

const projects = ({ url }: ServingProcess, accessToken: string) =>
  ask(`${url}/projects`, { headers: bearer(accessToken) })

/** Mounts a disk with a workspace, which can be made read-only. It is unmounted at the end of the test. */
async function diskWithWorkspace() {
  const path = mkdtempSync(join(tmpdir(), 'workspace-gateway-disk-'))
  const mount = (...options: string[]) => execFileSync('mount', [...options, path])
  mount('-t', 'tmpfs', '-o', `size=${16 * MIB}`, 'tmpfs')
  onTestFinished(() => {
    execFileSync('umount', ['-l', path])
    rmSync(path, { recursive: true, force: true })
  })
  const database = `file:${join(path, 'workspace.db')}`
  await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
  return {
    path,
    flags: ['--database', database, ...QUIET],
    readOnly: () => mount('-o', 'remount,ro'),
    writable: () => mount('-o', 'remount,rw'),
  }
}

describe.skipIf(!canMount())('a gateway on a read-only disk', () => {
  test('with --read-only answers reads and refreshes, refuses login and logout, and leaves no file', async () => {
    const disk = await diskWithWorkspace()
    const before = await serveForTest(disk.flags)
    const { accessToken, refreshToken } = (await post(before.url, '/login', { email: ANA })).json()
    const wanted = await projects(before, accessToken)
    await before.kill('SIGTERM')
    disk.readOnly()

    const refused = await run(['serve', '--port', '0', ...disk.flags])
    expect([refused.exitCode, refused.stderr.trim().split('\n').length]).toEqual([1, 1])
    expect(refused.stderr).toContain('the disk is read-only')
    expect(refused.stderr).toContain('serve --read-only')

    const env = { TMPDIR: temporaryDirectory() }
    // Nobody can sign in, so the gateway may be reachable from everywhere.
    const serving = await serveForTest([...disk.flags, '--read-only', '--host', '0.0.0.0'], { env })
    const url = serving.url.replace('0.0.0.0', '127.0.0.1')
    const read = await ask(`${url}/projects`, { headers: bearer(accessToken) })
    expect([read.status, read.text]).toEqual([200, wanted.text])
    const headers = { ...bearer(accessToken), 'if-none-match': wanted.headers.get('etag') ?? '' }
    expect((await ask(`${url}/projects`, { headers })).status).toBe(304)
    expect((await ask(`${url}/readyz`)).status).toBe(200)
    const refreshed = await post(url, '/token', { refreshToken })
    expect(refreshed.status).toBe(200)
    const again = await ask(`${url}/exports?r=site`, { headers: bearer(refreshed.json().accessToken) })
    expect(again.status).toBe(200)
    const refusals = [
      await post(url, '/login', { email: ANA }),
      await post(url, '/logout', { refreshToken }, 'DELETE'),
      await post(url, '/logout', { refreshToken }),
    ]
    expect(refusals.map((answer) => [answer.status, answer.json().code])).toEqual(Array(3).fill([403, 'READ_ONLY']))
    const mutation = `mutation { login(email: "${ANA}") { accessToken } }`
    const graphql = await post(url, '/graphql', { query: mutation })
    expect(graphql.json().errors[0].extensions.code).toBe('READ_ONLY')
    expect(graphql.text).not.toContain('wgr_')
    const ending = await post(url, '/graphql', { query: `mutation { logout(refreshToken: "${refreshToken}") }` })
    expect(ending.json().errors[0].extensions.code).toBe('READ_ONLY')
    expect((await ask(`${url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
    expect(await serving.kill('SIGTERM')).toBe(0)
    expect(serving.stderr()).not.toMatch(/"level":[56]0/)
    expect(readdirSync(env.TMPDIR)).toEqual([])
  })

  test('shows what is only in the log, and ends when the database is written to after all', async () => {
    const disk = await diskWithWorkspace()
    const killed = await serveForTest(disk.flags)
    const { accessToken } = (await post(killed.url, '/login', { email: ANA })).json()
    await killed.kill('SIGKILL')
    rmSync(join(disk.path, 'workspace.db-shm'))
    expect(readdirSync(disk.path)).toContain('workspace.db-wal')
    disk.readOnly()
    for (const TMPDIR of [join(disk.path, 'missing'), disk.path]) {
      const refused = await run(['serve', '--port', '0', ...disk.flags, '--read-only'], { env: { TMPDIR } })
      expect([refused.exitCode, refused.stderr.trim().split('\n').length]).toEqual([1, 1])
      expect(refused.stderr).toContain('name another folder with TMPDIR')
    }
    const serving = await serveForTest([...disk.flags, '--read-only'])
    expect((await projects(serving, accessToken)).status).toBe(200)
    disk.writable()
    const flags = disk.flags.slice(0, 2)
    await runHere(['import', '-', ...flags], { stdin: documentLine('project', ANA, '{"id":"new"}') })
    await expect.poll(() => serving.process.exitCode).toBe(1)
    expect(serving.stderr()).toContain('was written to')
  })
})

test('a read-only gateway beside one that writes is never stale, in documents and in sessions', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const writing = await serveForTest([...workspace.flags, ...QUIET])
  const { accessToken, refreshToken } = (await post(writing.url, '/login', { email: ANA })).json()
  const reading = await serveForTest([...workspace.flags, '--read-only', '--check', 'full', ...QUIET])
  expect((await projects(reading, accessToken)).status).toBe(200)
  await workspace.load(documentLine('project', ANA, '{"id":"written-later"}'))
  expect((await projects(reading, accessToken)).text).toContain('written-later')
  expect((await post(writing.url, '/logout', { refreshToken }, 'DELETE')).status).toBe(200)
  expect((await projects(reading, accessToken)).status).toBe(401)
  expect((await post(reading.url, '/token', { refreshToken })).status).toBe(401)
})

test('--read-only is refused where it cannot work, and the message says what to do', async () => {
  const workspace = createWorkspace()
  const start = (...args: string[]) => workspace.run('serve', '--port', '0', '--read-only', ...args)
  expect(await start()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('there is no database') })
  await workspace.load(SMALL_WORLD)
  expect(await start()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('no signing key') })
  const token = workspace.write('token', 'x'.repeat(40))
  const { exitCode, stderr } = await start('--import-token-file', token, '--database-next', 'file:x.db')
  expect([exitCode, stderr.trim().split('\n').length]).toEqual([2, 2])
  expect(await start('--database', 'postgres://localhost/x')).toMatchObject({ exitCode: 2 })
})
