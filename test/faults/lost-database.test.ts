// Tests a database that was deleted while a gateway served it, and what the next start does.
import {
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { runHere, type Serving, serveForTest, serveHereForTest } from '../support/command-line.ts'
import { type Answer, ask, bearer, postJson } from '../support/gateway.ts'
import { IMPORT_TOKEN as TOKEN } from '../support/importing-gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const ADVICE = '; name the database of the gateway with --database'
const SERVE_ADVICE = '; name the right one with --database, or mount the volume that holds it'

async function imported(): Promise<string> {
  const path = join(temporaryDirectory(), 'workspace.db')
  expect((await runHere(['import', '-', '--database', `file:${path}`], { stdin: SMALL_WORLD })).exitCode).toBe(0)
  return path
}

const login = ({ url }: Serving): Promise<Answer> => postJson(`${url}/login`, { email: ANA })

/** Expects what a supervisor gets when it restarts the gateway. */
async function expectRefusedStart(path: string, remains: RegExp): Promise<void> {
  const { exitCode, stdout, stderr } = await runHere(['serve', '--port', '0', '--database', `file:${path}`])
  expect([exitCode, stdout, stderr.trim().split('\n').length]).toEqual([1, '', 1])
  expect(stderr).toMatch(/was deleted or emptied: put it back, or restore a backup/)
  expect(stderr).toMatch(remains)
  expect(existsSync(path)).toBe(false)
}

test('a start after a loss refuses to make an empty database, and serves once the file is put back', async () => {
  const path = await imported()
  const serving = await serveHereForTest(['--database', `file:${path}`])
  const { accessToken } = (await login(serving)).json()
  linkSync(path, `${path}.elsewhere`)
  rmSync(path)
  expect(await serving.ended).toBe(1)
  await expectRefusedStart(path, /remove \S+workspace\.db\.lost( and \S+workspace\.db-wal)?$/m)
  // Every further start is refused as well.
  await expectRefusedStart(path, /workspace\.db\.lost/)
  renameSync(`${path}.elsewhere`, path)
  const again = await serveHereForTest(['--database', `file:${path}`])
  expect((await ask(`${again.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
  expect(existsSync(`${path}.lost`)).toBe(false)
})

test('a database without writes since the start leaves no -wal, and its loss is reported all the same', async () => {
  const path = await imported()
  const first = await serveHereForTest(['--database', `file:${path}`])
  expect(await first.kill('SIGTERM')).toBe(0)
  const serving = await serveHereForTest(['--database', `file:${path}`])
  rmSync(path)
  expect(await serving.ended).toBe(1)
  rmSync(`${path}-wal`, { force: true })
  await expectRefusedStart(path, /remove \S+workspace\.db\.lost$/m)
})

test('the note of a loss overwrites no file that somebody has linked to in its place', async () => {
  const path = await imported()
  const serving = await serveHereForTest(['--database', `file:${path}`])
  const linked = join(temporaryDirectory(), 'linked')
  writeFileSync(linked, 'not to be overwritten')
  symlinkSync(linked, `${path}.lost`)
  rmSync(path)
  expect(await serving.ended).toBe(1)
  expect(readFileSync(linked, 'utf8')).toBe('not to be overwritten')
})

test('a read-only gateway ends when its database is deleted, and leaves nothing in the folder', async () => {
  const path = await imported()
  // Makes the signing key.
  const first = await serveHereForTest(['--database', `file:${path}`])
  expect(await first.kill('SIGTERM')).toBe(0)
  const serving = await serveHereForTest(['--database', `file:${path}`, '--read-only'])
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  expect(await serving.ended).toBe(1)
  expect(readdirSync(dirname(path))).toEqual([])
})

test('a database whose folder was moved away counts as lost, and serves once the folder is back', async () => {
  const path = join(dirname(await imported()), 'folder', 'workspace.db')
  const database = ['--database', `file:${path}`]
  const serving = await serveForTest(database)
  expect(serving.stderr()).toContain(`there was no database at ${path}: made an empty one`)
  expect((await login(serving)).status).toBe(200)
  renameSync(dirname(path), `${dirname(path)}.elsewhere`)
  expect(await serving.ended).toBe(1)
  await expectRefusedStart(path, /remove \S+workspace\.db\.lost$/m)
  rmSync(dirname(path), { recursive: true })
  renameSync(`${dirname(path)}.elsewhere`, dirname(path))
  const again = await serveForTest(database)
  expect(again.stderr()).not.toContain('made an empty one')
})

test('an emptied database counts as lost, not as new', async () => {
  const path = await imported()
  const serving = await serveForTest(['--database', `file:${path}`])
  truncateSync(path, 0)
  expect(await serving.ended).toBe(1)
  rmSync(path)
  await expectRefusedStart(path, /workspace\.db\.lost/)
})

test('a database that was deleted after kill -9 is recognized by its -wal', async () => {
  const path = await imported()
  const serving = await serveForTest(['--database', `file:${path}`])
  expect((await login(serving)).status).toBe(200)
  await serving.kill('SIGKILL')
  rmSync(path)
  await expectRefusedStart(path, /remove \S+workspace\.db-wal$/m)
})

test('a start makes an empty database after the files that the message names were removed', async () => {
  const path = await imported()
  const serving = await serveHereForTest(['--database', `file:${path}`])
  rmSync(path)
  expect(await serving.ended).toBe(1)
  for (const remains of [`${path}.lost`, `${path}-wal`]) rmSync(remains, { force: true })
  const again = await serveHereForTest(['--database', `file:${path}`])
  const { accessToken } = (await login(again)).json()
  expect((await ask(`${again.url}/projects`, { headers: bearer(accessToken) })).status).toBe(404)
})

test('a backup is restored in place of a lost database, without anything from the old log', async () => {
  const path = await imported()
  const database = ['--database', `file:${path}`]
  const backup = join(temporaryDirectory(), 'backup.db')
  expect((await runHere(['backup', backup, ...database])).exitCode).toBe(0)
  const serving = await serveForTest(database)
  expect((await login(serving)).status).toBe(200)
  await serving.kill('SIGKILL')
  rmSync(path)
  const restored = await runHere(['restore', backup, ...database])
  expect([restored.exitCode, restored.stderr]).toEqual([0, ''])
  expect(existsSync(`${path}-wal`)).toBe(false)
  const again = await serveHereForTest([...database, '--check', 'full'])
  const { accessToken } = (await login(again)).json()
  expect((await ask(`${again.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
})

test('a backup that was copied over a database is not opened beside the log of that database', async () => {
  const path = await imported()
  const database = ['--database', `file:${path}`]
  const backup = join(temporaryDirectory(), 'backup.db')
  expect((await runHere(['backup', backup, ...database])).exitCode).toBe(0)
  const stored = (await runHere(['dump', ...database])).stdout
  const serving = await serveForTest(database)
  expect((await runHere(['users', 'remove', ANA, ...database])).exitCode).toBe(0)
  expect((await login(serving)).status).toBe(200)
  await serving.kill('SIGKILL')
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
  copyFileSync(backup, path)
  const contents = () => ['', '-wal'].map((end) => readFileSync(path + end, 'base64'))
  const before = contents()
  for (const command of ['dump', `users remove ${ANA}`, 'import -', 'serve --port 0', 'serve --port 0 --read-only']) {
    const { exitCode, stdout, stderr } = await runHere([...command.split(' '), ...database])
    const sentence = expect.stringMatching(/^\S+workspace\.db-wal belongs to another database, [^\n]+\n$/)
    expect([command, exitCode, stdout, stderr]).toEqual([command, 1, '', sentence])
  }
  const examined = (await runHere(['doctor', ...database])).stdout
  expect(examined).toMatch(/^FOUND +database +.*workspace\.db-wal belongs to another database/m)
  expect(contents()).toEqual(before)
  const restored = await runHere(['restore', backup, ...database])
  expect([restored.exitCode, restored.stderr]).toEqual([0, ''])
  expect((await runHere(['dump', ...database])).stdout).toBe(stored)
  // With the log and its own database, if that was moved away, nothing is lost.
  const [, copy = '', log = ''] = /what was there before is (\S+) and (\S+)\n/.exec(restored.stdout) ?? []
  expect([copy, log].map((name) => readFileSync(name, 'base64'))).toEqual(before)
})

test('a backup of lines is restored in place of a database that was deleted while it was served', async () => {
  const path = await imported()
  const database = ['--database', `file:${path}`]
  const lines = join(temporaryDirectory(), 'backup')
  writeFileSync(lines, (await runHere(['backup', '-', ...database])).stdout)
  const serving = await serveHereForTest(database)
  expect((await login(serving)).status).toBe(200)
  rmSync(path)
  expect(await serving.ended).toBe(1)
  const [note, log] = [readFileSync(`${path}.lost`), readFileSync(`${path}-wal`)]
  writeFileSync(`${lines}.cut`, readFileSync(lines).subarray(0, -200))
  expect((await runHere(['restore', `${lines}.cut`, ...database])).exitCode).not.toBe(0)
  expect([readFileSync(`${path}.lost`), readFileSync(`${path}-wal`)]).toEqual([note, log])
  const restored = await runHere(['restore', lines, ...database])
  expect([restored.exitCode, restored.stderr]).toEqual([0, ''])
  const [, kept = ''] = /what was there before is (\S+)\n/.exec(restored.stdout) ?? []
  expect(readFileSync(kept)).toEqual(log)
  const again = await serveHereForTest([...database, '--check', 'full'])
  expect(existsSync(`${path}.lost`)).toBe(false)
  const { accessToken } = (await login(again)).json()
  expect((await ask(`${again.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
})

test.each(['-wal', '-shm'])('the %s of a database behind a link is watched where the database is', async (end) => {
  const path = await imported()
  const link = join(temporaryDirectory(), 'link.db')
  symlinkSync(path, link)
  const serving = await serveHereForTest(['--database', `file:${link}`])
  expect((await login(serving)).status).toBe(200)
  expect((await ask(`${serving.url}/readyz`)).status).toBe(200)
  rmSync(path + end)
  expect(await serving.ended).toBe(1)
})

test.each([
  ['is removed', () => {}],
  ['points to a missing file', (link: string) => symlinkSync(`${link}.elsewhere`, link)],
])(
  'a database whose link %s while it is served is not recreated, and is served once the link is back',
  async (_, change) => {
    const path = await imported()
    const link = join(temporaryDirectory(), 'link.db')
    symlinkSync(path, link)
    const database = ['--database', `file:${link}`]
    const serving = await serveHereForTest(database)
    expect((await login(serving)).status).toBe(200)
    rmSync(link)
    change(link)
    expect(await serving.ended).toBe(1)
    const { exitCode, stderr } = await runHere(['serve', '--port', '0', ...database])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('was deleted or emptied')])
    expect(existsSync(link)).toBe(false)
    rmSync(link, { force: true })
    symlinkSync(path, link)
    const again = await serveHereForTest(database)
    const { accessToken } = (await login(again)).json()
    expect((await ask(`${again.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
    expect(existsSync(`${link}.lost`)).toBe(false)
  },
)

test('a database that was deleted behind its link is not recreated while its log exists', async () => {
  const path = await imported()
  const link = join(temporaryDirectory(), 'link.db')
  symlinkSync(path, link)
  const database = ['--database', `file:${link}`]
  const serving = await serveForTest(database)
  expect((await login(serving)).status).toBe(200)
  await serving.kill('SIGKILL')
  rmSync(path)
  const { exitCode, stderr } = await runHere(['serve', '--port', '0', ...database])
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`the database ${path} was deleted or emptied`)])
  expect([existsSync(path), existsSync(`${path}-wal`)]).toEqual([false, true])
})

test.each(['PASSIVE', 'TRUNCATE'])(
  'an import that begins a new log after the old one was deleted is not acknowledged (%s)',
  async (checkpoint) => {
    const path = await imported()
    const token = join(temporaryDirectory(), 'token')
    writeFileSync(token, TOKEN)
    const serving = await serveForTest(['--database', `file:${path}`, '--import-token-file', token])
    const other = new Database(path)
    // The log is wholly in the database now, so no read would notice that it is missing.
    const [row] = other.pragma(`wal_checkpoint(${checkpoint})`) as readonly { busy: number }[]
    expect(row?.busy).toBe(0)
    rmSync(`${path}-wal`)
    const sent = fetch(`${serving.url}/import`, { method: 'POST', headers: bearer(TOKEN), body: SMALL_WORLD })
    const answer = await sent.then((response) => response.text()).catch(() => 'the connection was closed')
    expect(answer).not.toContain('"imported"')
    expect(await serving.ended).toBe(1)
    other.close()
  },
)

test('--must-exist also refuses a first start', async () => {
  const path = join(temporaryDirectory(), 'workspace.db')
  const { exitCode, stderr } = await runHere(['serve', '--port', '0', '--database', `file:${path}`, '--must-exist'])
  expect([exitCode, stderr]).toEqual([2, `there is no database ${path}${SERVE_ADVICE}\n`])
  expect(existsSync(path)).toBe(false)
})

test('an empty file is not a database to commands that create none', async () => {
  const path = join(temporaryDirectory(), 'workspace.db')
  writeFileSync(path, '')
  for (const args of [['serve', '--port', '0', '--must-exist'], ['serve', '--port', '0', '--read-only'], ['dump']]) {
    const { exitCode, stderr } = await runHere([...args, '--database', `file:${path}`])
    const advice = args[0] === 'dump' ? ADVICE : SERVE_ADVICE
    expect([exitCode, stderr]).toEqual([2, `there is no database in ${path}: the file is empty${advice}\n`])
  }
  expect(readdirSync(dirname(path))).toEqual(['workspace.db'])
})

test('whatever is no file is called that, and stays as it is', async () => {
  const folder = temporaryDirectory()
  for (const [path, kind] of [
    [folder, 'it is a folder'],
    ['/dev/null', 'it is not a file'],
  ]) {
    for (const args of [['serve', '--port', '0'], ['serve', '--port', '0', '--read-only'], ['dump'], ['import', '-']]) {
      const { exitCode, stderr } = await runHere([...args, '--database', `file:${path}`])
      expect([exitCode, stderr], args.join(' ')).toEqual([2, `cannot open ${path}: ${kind}\n`])
    }
  }
  expect(readdirSync(folder)).toEqual([])
})

test('a command that finds no database says how to name the right one, and creates none', async () => {
  const path = join(temporaryDirectory(), 'workspace.db')
  for (const args of [['dump'], ['users', 'list'], ['keys', 'rotate'], ['backup', `${path}.backup`]]) {
    const { exitCode, stderr } = await runHere([...args, '--database', `file:${path}`])
    expect([exitCode, stderr], args.join(' ')).toEqual([2, `there is no database ${path}${ADVICE}\n`])
  }
  expect(readdirSync(dirname(path))).toEqual([])
})
