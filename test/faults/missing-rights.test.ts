// Tests commands of another user than the gateway's, and paths that lead nowhere: they read what is readable, and
// otherwise fail with one sentence.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { run, serveForTest } from '../support/command-line.ts'
import { ask, bearer, postJson } from '../support/gateway.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { SERVER_USER } from '../support/postgres-server.ts'
import { PROGRAM } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

/** Runs a command as a user who, unlike root, is bound by permissions. */
function runBound(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    ...SERVER_USER,
    cwd: '/',
    encoding: 'utf8',
  })
  return { exitCode: status, stdout, stderr }
}

/** Makes a folder that everybody may enter, with a database that everybody may read and nobody may write. */
async function makeShown() {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  chmodSync(workspace.directory, 0o755)
  const folder = workspace.path('shown')
  mkdirSync(folder)
  const path = join(folder, 'workspace.db')
  copyFileSync(workspace.path('workspace.db'), path)
  chmodSync(path, 0o444)
  chmodSync(folder, 0o555)
  onTestFinished(() => chmodSync(folder, 0o755))
  return { folder, path, stored: await workspace.dump() }
}

describe.skipIf(runBound('--version').exitCode !== 0)('a command of another user', () => {
  test('reads a database in a folder that it may not write to, and leaves nothing there', async () => {
    const { folder, path, stored } = await makeShown()
    const flags = ['--database', `file:${path}`]
    expect(runBound('dump', ...flags)).toEqual({ exitCode: 0, stdout: stored, stderr: '' })
    expect(runBound('users', 'list', ...flags)).toMatchObject({ exitCode: 0, stderr: '' })
    const sentence = expect.stringMatching(/^cannot write to [^\n]*\n$/)
    expect(runBound('users', 'remove', ANA, ...flags)).toEqual({ exitCode: 1, stdout: '', stderr: sentence })
    expect(readdirSync(folder)).toEqual(['workspace.db'])
  })

  test('makes a backup of its own database in a folder that it may not write to', async () => {
    const { folder, path, stored } = await makeShown()
    chownSync(path, SERVER_USER.uid ?? -1, SERVER_USER.gid ?? -1)
    chmodSync(path, 0o600)
    const made = temporaryDirectory()
    chmodSync(made, 0o777)
    const backup = join(made, 'backup.db')
    expect(runBound('backup', backup, '--database', `file:${path}`)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(readdirSync(folder)).toEqual(['workspace.db'])
    const restored = createWorkspace()
    expect(await restored.run('restore', backup)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await restored.dump()).toBe(stored)
  })

  test('says which file of a database it may not read', async () => {
    const { path } = await makeShown()
    chmodSync(path, 0o600)
    for (const command of [['dump'], ['users', 'list'], ['serve', '--port', '0', '--read-only']]) {
      const refused = { exitCode: 1, stdout: '', stderr: `cannot read ${path}: permission denied\n` }
      expect(runBound(...command, '--database', `file:${path}`), command.join(' ')).toEqual(refused)
    }
  })

  test('says which file beside a database it may not open', async () => {
    for (const end of ['-wal', '-shm']) {
      const { folder, path, stored } = await makeShown()
      for (const name of [folder, path]) chownSync(name, SERVER_USER.uid ?? -1, SERVER_USER.gid ?? -1)
      chmodSync(folder, 0o755)
      chmodSync(path, 0o600)
      writeFileSync(path + end, '', { mode: 0o600 })
      if (SERVER_USER.uid === undefined) chmodSync(path + end, 0o000)
      const flags = ['--database', `file:${path}`]
      for (const command of [
        ['users', 'remove', ANA],
        ['serve', '--port', '0', '--no-demo'],
      ]) {
        const { exitCode, stderr } = runBound(...command, ...flags)
        expect([exitCode, stderr], command.join(' ')).toEqual([
          1,
          expect.stringMatching(new RegExp(`^cannot write to [^\\n]*permission denied[^\\n]*${end}'[^\\n]*\\n$`)),
        ])
      }
      rmSync(path + end)
      expect(runBound('dump', ...flags)).toEqual({ exitCode: 0, stdout: stored, stderr: '' })
    }
  })

  test('reads a database behind a link together with what is only in its log', async () => {
    const { folder, path } = await makeShown()
    const links = temporaryDirectory()
    chmodSync(links, 0o755)
    const link = join(links, 'link.db')
    symlinkSync(path, link)
    const flags = ['--database', `file:${link}`]
    chmodSync(folder, 0o755)
    chmodSync(path, 0o644)
    const database = new SqliteDatabase(path)
    database.pragma('journal_mode = WAL')
    database.exec(`update user set email = 'zoe@example.com' where email = '${ANA}'`)
    copyFileSync(path, `${path}.copy`)
    copyFileSync(`${path}-wal`, `${path}.copy-wal`)
    database.close()
    for (const end of ['', '-wal']) {
      renameSync(`${path}.copy${end}`, path + end)
      chmodSync(path + end, 0o444)
    }
    chmodSync(folder, 0o555)
    const { exitCode, stdout, stderr } = runBound('dump', ...flags)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain('zoe@example.com')
    expect(stdout).not.toContain(ANA)
  })

  test('a gateway that may no longer enter its folder serves reads, and writes again once it may', async () => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD)
    chmodSync(workspace.directory, 0o755)
    const folder = workspace.path('served')
    mkdirSync(folder)
    const path = join(folder, 'workspace.db')
    copyFileSync(workspace.path('workspace.db'), path)
    const { uid = -1, gid = -1 } = SERVER_USER
    for (const name of [folder, path]) chownSync(name, uid, gid)
    const flags = ['--database', `file:${path}`, '--login-guard', 'open']
    const serving = await serveForTest(flags, { user: SERVER_USER, cwd: '/' })
    const readiness = async () => (await ask(`${serving.url}/readyz`)).status
    const login = () => postJson(`${serving.url}/login`, { email: ANA })
    const { accessToken } = (await login()).json()
    expect(await readiness()).toBe(200)

    chmodSync(folder, 0o000)
    onTestFinished(() => chmodSync(folder, 0o755))
    const refused = await login()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await readiness()).toBe(503)
    expect((await ask(`${serving.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)

    chmodSync(folder, 0o755)
    expect((await login()).status).toBe(200)
    expect(await readiness()).toBe(200)
    expect(await serving.kill('SIGTERM')).toBe(0)
  })

  test('fails with one sentence when it may not enter the folder', async () => {
    const { folder, path } = await makeShown()
    chmodSync(folder, 0o000)
    for (const command of [['dump'], ['users', 'remove', ANA], ['import', PROGRAM], ['serve', '--port', '0']]) {
      const sentence = expect.stringMatching(/^cannot open [^\n]*EACCES[^\n]*\n$/)
      const refused = { exitCode: 1, stdout: '', stderr: sentence }
      expect(runBound(...command, '--database', `file:${path}`), command.join(' ')).toEqual(refused)
    }
  })
})

test('a path that is a circular link or too long fails with one sentence', async () => {
  const folder = temporaryDirectory()
  const circle = join(folder, 'circle.db')
  symlinkSync('circle.db', circle)
  for (const path of [circle, join(folder, 'x'.repeat(300))]) {
    for (const command of [
      ['dump'],
      ['users', 'remove', ANA],
      ['import', '-'],
      ['serve', '--port', '0'],
      ['serve', '--port', '0', '--read-only'],
    ]) {
      const { exitCode, stdout, stderr } = await run([...command, '--database', `file:${path}`])
      const sentence = expect.stringMatching(/^cannot open [^\n]*(ELOOP|ENAMETOOLONG)[^\n]*\n$/)
      expect([exitCode, stdout, stderr], command.join(' ')).toEqual([1, '', sentence])
    }
  }
  expect(existsSync(`${circle}.lost`)).toBe(false)
})
