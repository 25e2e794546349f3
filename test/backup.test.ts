// Backups and restores, on SQLite and on PostgreSQL.
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { constants, getPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { copyDatabase, verifyDatabase } from '../src/store/sqlite/backup.ts'
import { runHere, serveForTest, startRunForTest } from './support/command-line.ts'
import { ask, bearer, openSession, startGateway } from './support/gateway.ts'
import { createWorkspace } from './support/import-workspace.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'
import { PROGRAM } from './support/program.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, documentLine, SMALL_WORLD } from './support/workspaces.ts'

/** `npm run test:backup` kills 100 times. */
const KILLS = Number(process.env.TEST_BACKUP_KILLS ?? 3)

const { PRIORITY_BELOW_NORMAL } = constants.priority

const changed = documentLine('project', ANA, '{"id":"p2","ref":"app","name":"changed"}')

const projectsAt = (url: string, accessToken: string, headers = {}) =>
  ask(`${url}/projects`, { headers: { ...bearer(accessToken), ...headers } })

/** Runs a command whose working directory was removed. */
function runInRemovedFolder(...args: readonly string[]) {
  const folder = temporaryDirectory()
  const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
  return spawnSync('sh', ['-c', script, 'sh', folder, process.execPath, PROGRAM, ...args], { encoding: 'utf8' })
}

describe('an SQLite backup', () => {
  test('takes absolute paths if its working directory is gone, and refuses relative ones in one sentence', async () => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD)
    const copy = workspace.path('copy.db')
    const made = runInRemovedFolder('backup', copy, ...workspace.flags)
    expect([made.status, made.stderr]).toEqual([0, ''])
    verifyDatabase(copy)
    for (const args of [
      ['backup', workspace.path('other.db'), '--database', 'file:workspace.db'],
      ['backup', 'other.db', ...workspace.flags],
    ]) {
      const refused = runInRemovedFolder(...args)
      expect([refused.status, refused.stderr.trim().split('\n')], args.join(' ')).toEqual([2, [expect.any(String)]])
      expect(existsSync('/other.db')).toBe(false)
    }
    expect(existsSync(workspace.path('other.db'))).toBe(false)
  })

  test('contains one state, and ends, whatever others commit between its steps', async () => {
    const path = join(temporaryDirectory(), 'workspace.db')
    const writer = new Database(path)
    onTestFinished(() => void writer.close())
    writer.pragma('journal_mode = WAL')
    writer.exec('create table count (value int); insert into count values (0); create table filler (bytes blob)')
    writer.exec(`insert into filler select zeroblob(1000000) from json_each('[${Array(30).fill(0)}]')`)
    const copy = join(temporaryDirectory(), 'copy.db')
    writeFileSync(copy, '')
    let commits = 0
    let isOver = false
    const writing = (async () => {
      for (; !isOver; commits += 1) {
        writer.exec('update count set value = value + 1; insert into filler values (zeroblob(1000))')
        await setImmediate()
      }
    })()
    const stop = () => {
      isOver = true
    }
    onTestFinished(stop)
    await copyDatabase(path, copy)
    stop()
    await writing
    expect(commits).toBeGreaterThan(3)
    verifyDatabase(copy)
    const copied = new Database(copy, { readonly: true })
    onTestFinished(() => void copied.close())
    const { value } = copied.prepare('select value from count').get() as { value: number }
    expect(copied.prepare('select count(*) as rows from filler').get()).toEqual({ rows: 30 + value })
    expect(value).toBeLessThan(2)
    expect(readdirSync(dirname(copy))).toEqual(['copy.db'])
    // A copy has no log mode: there is no file beside it that could be written to meanwhile.
    const again = join(temporaryDirectory(), 'again.db')
    writeFileSync(again, '')
    await copyDatabase(copy, again)
    verifyDatabase(again)
    expect(statSync(again).size).toBe(statSync(copy).size)
  })

  test('is made while a gateway serves, and restored only when none does', async () => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD)
    const before = await workspace.dump()
    const serving = await serveForTest(workspace.flags)
    const [kept, ended] = [await openSession(serving.url, ANA), await openSession(serving.url, ANA)]
    const backup = workspace.path('backup.db')
    const made = await workspace.run('backup', backup)
    expect([made.exitCode, made.stderr]).toEqual([0, ''])
    const digest = /sha256 ([0-9a-f]{64})\n$/.exec(made.stdout)?.[1]
    expect(readFileSync(`${backup}.sha256`, 'utf8')).toBe(`${digest}  backup.db\n`)
    for (const file of [backup, `${backup}.sha256`]) expect(statSync(file).mode & 0o077, file).toBe(0)
    expect(await workspace.run('backup', backup)).toMatchObject({ exitCode: 2 })

    await workspace.load(changed)
    const logout = { method: 'POST', body: JSON.stringify({ refreshToken: ended.refreshToken }) }
    expect((await ask(`${serving.url}/logout`, logout)).status).toBe(200)
    const newer = await projectsAt(serving.url, kept.accessToken)
    expect(newer.text).toContain('changed')
    const refused = await workspace.run('restore', backup)
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('in use')])
    expect((await projectsAt(serving.url, kept.accessToken)).text).toBe(newer.text)
    await serving.kill('SIGTERM')
    const after = await workspace.dump()

    expect(await workspace.run('restore', backup)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('all sessions have ended'),
      stderr: '',
    })
    expect(await workspace.dump()).toBe(before)
    const files = readdirSync(workspace.directory)
    const beside = files.find((name) => name.startsWith('workspace.db.before-')) ?? ''
    expect((await runHere(['dump', '--database', `file:${workspace.path(beside)}`])).stdout).toBe(after)
    expect(files.filter((name) => name.includes('.part'))).toEqual([])
    expect(statSync(workspace.path('workspace.db')).mode & 0o077).toBe(0)

    const again = await serveForTest(workspace.flags)
    for (const { accessToken, refreshToken } of [kept, ended]) {
      expect((await projectsAt(again.url, accessToken)).status).toBe(401)
      const body = JSON.stringify({ refreshToken })
      const headers = { 'content-type': 'application/json' }
      expect((await ask(`${again.url}/token`, { method: 'POST', headers, body })).status).toBe(401)
    }
    const { accessToken } = await openSession(again.url, ANA)
    const etag = newer.headers.get('etag') ?? ''
    expect((await projectsAt(again.url, accessToken, { 'if-none-match': etag })).status).toBe(200)
  })

  test('has a low priority, so that a gateway on the same machine has the processor first', async () => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD)
    // Both commands wait for this lock.
    const locking = new Database(workspace.path('workspace.db'))
    onTestFinished(() => void locking.close())
    locking.pragma('locking_mode = exclusive')
    locking.exec('begin exclusive; create table lock (held)')
    const children = [workspace.path('backup.db'), '-'].map((place) => {
      return startRunForTest(['backup', place, ...workspace.flags, '--lock-timeout', '60000'])
    })
    // Each thread has its own. A child starts with that of this process, which may be low already.
    const yielded = Math.max(getPriority(), PRIORITY_BELOW_NORMAL)
    for (const { process: child } of children) {
      const priorities = () => readdirSync(`/proc/${child.pid}/task`).map((thread) => getPriority(Number(thread)))
      await expect.poll(() => new Set(priorities())).toEqual(new Set([yielded]))
    }
    locking.close()
    for (const { ended } of children) expect((await ended).exitCode).toBe(0)
  })

  test('gives its priority back at its end, where the system allows that', async () => {
    const module = new URL('../src/cli/backup/yield-processor.ts', import.meta.url)
    const script = `
      import { constants, getPriority } from 'node:os'
      import { yieldProcessor } from ${JSON.stringify(module)}
      yieldProcessor()[Symbol.dispose]()
      console.log(getPriority())`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const before = getPriority()
    // Only root may raise the priority again.
    const after = process.getuid?.() === 0 ? before : Math.max(before, PRIORITY_BELOW_NORMAL)
    expect((await text(child.stdout)).trim()).toBe(String(after))
  })

  test('keeps its sessions if the restore is told to, with other state versions', async () => {
    const gateway = await startGateway()
    await gateway.load(SMALL_WORLD)
    const { accessToken, refreshToken } = await gateway.login(ANA)
    const directory = temporaryDirectory()
    const [backup, copy] = [join(directory, 'backup.db'), `file:${join(directory, 'copy.db')}`]
    expect(await runHere(['backup', backup, '--database', gateway.databaseUrl])).toMatchObject({ exitCode: 0 })
    await gateway.send('POST', '/logout', JSON.stringify({ refreshToken }))
    expect(await runHere(['restore', backup, '--keep-sessions', '--database', copy])).toMatchObject({ exitCode: 0 })
    const restored = await startGateway({ databaseUrl: copy })
    expect((await restored.get('/projects', accessToken)).status).toBe(200)
    const stateVersions = await Promise.all(
      [gateway, restored].map(async ({ store, login, now }) => {
        const other = await login(ANA)
        const claims = JSON.parse(Buffer.from(other.accessToken.split('.')[1] ?? '', 'base64url').toString())
        return (await store.liveSessions([claims.sid], now()))[0]?.stateVersion
      }),
    )
    expect(new Set([...stateVersions, undefined]).size).toBe(3)
  })

  test('replaces nothing if it is damaged or no backup', async () => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD)
    const backup = workspace.path('backup.db')
    await workspace.run('backup', backup)
    await workspace.load(changed)
    const before = await workspace.dump()
    const whole = readFileSync(backup)
    const restore = async (reason: RegExp, path = backup) => {
      const { exitCode, stderr } = await workspace.run('restore', path)
      expect([exitCode, stderr]).toEqual([expect.toSatisfy((code) => code !== 0), expect.stringMatching(reason)])
      expect(await workspace.dump()).toBe(before)
    }
    truncateSync(backup, whole.length - 8_192)
    await restore(/does not match the digest/)
    writeFileSync(`${backup}.sha256`, '')
    await restore(/does not match the digest/)
    const rest = workspace.path('backup.db.sha256')
    writeFileSync(rest, `${'0'.repeat(64)}  backup.db\n`)
    await restore(/does not match the digest/)
    rmSync(rest)
    mkdirSync(rest)
    await restore(/cannot read .*backup\.db\.sha256: /)
    const other = workspace.path('other.db')
    writeFileSync(other, whole.subarray(0, whole.length - 8_192))
    expect(await workspace.run('restore', other)).toMatchObject({ exitCode: 2 })
    writeFileSync(other, whole)
    // Its last page holds a long text, so that everything needed to open the database is there.
    const longer = new Database(other)
    longer.exec('create table longer (text); insert into longer values (hex(zeroblob(20000)))')
    longer.close()
    truncateSync(other, statSync(other).size - 1)
    await restore(/^the file is damaged: its end is missing\n$/, other)
    writeFileSync(other, whole.fill(7, 20_000, 40_000))
    expect(await workspace.run('restore', other)).toMatchObject({ exitCode: 2 })
    for (const text of ['no backup\n', SMALL_WORLD]) {
      writeFileSync(other, text)
      expect(await workspace.run('restore', other)).toMatchObject({ exitCode: 1, stderr: 'this is not a backup\n' })
    }
    const refused = {
      exitCode: 2,
      stderr: expect.stringMatching(
        /^cannot read .*: (there is no such file|it is a folder|not a file|it is compressed.*)\n$/,
      ),
    }
    const [pipe, packed] = [workspace.path('pipe'), workspace.write('packed', gzipSync('{"type":"backup"}'))]
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0)
    for (const path of [workspace.path('missing'), workspace.directory, pipe, packed]) {
      expect(await workspace.run('restore', path)).toMatchObject(refused)
    }
    expect(await workspace.dump()).toBe(before)
    expect(readdirSync(workspace.directory).filter((name) => /part|before/.test(name))).toEqual([])
  })

  test('is not restored to a path that cannot be written, and the error says so', async () => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD)
    const backup = workspace.path('backup.db')
    await workspace.run('backup', backup)
    // The last is a folder that cannot be made, which Node tries to make forever.
    const nowhere = [join(backup, 'workspace.db'), join(backup, 'folder', 'workspace.db'), '/proc/nowhere/workspace.db']
    for (const database of nowhere) {
      const { exitCode, stderr } = await runHere(['restore', backup, '--database', `file:${database}`])
      expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^cannot write .*\n$/)])
    }
  })

  test('does not replace a file that cannot be read until that is moved away', async () => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD)
    const before = await workspace.dump()
    const backup = workspace.path('backup.db')
    await workspace.run('backup', backup)
    const database = workspace.write('workspace.db', 'x'.repeat(20_000))
    const { exitCode, stderr } = await workspace.run('restore', backup)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('move it away')])
    expect(readFileSync(database, 'utf8')).toMatch(/^x+$/)
    renameSync(database, `${database}.broken`)
    expect(await workspace.run('restore', backup)).toMatchObject({ exitCode: 0 })
    expect(await workspace.dump()).toBe(before)
  })

  test('leaves nothing or the whole under its name, whenever it is killed', { timeout: 600_000 }, async () => {
    const workspace = createWorkspace()
    const lines = Array.from({ length: 3_000 }, (_, n) =>
      documentLine('template', ANA, `{"id":${n},"text":"${'x'.repeat(4_000)}"}`),
    )
    await workspace.load(SMALL_WORLD + lines.join(''))
    const before = await workspace.dump()
    const startedAt = performance.now()
    expect(await workspace.run('backup', workspace.path('first.db'))).toMatchObject({ exitCode: 0 })
    const takesMs = performance.now() - startedAt + 400
    for (let round = 0; round < KILLS; round += 1) {
      const backup = workspace.path(`backup-${round}.db`)
      const { ended, kill } = startRunForTest(['backup', backup, ...workspace.flags])
      await Promise.race([delay((takesMs * (round + 1)) / KILLS), ended])
      await kill()
      if (!existsSync(backup)) continue
      const copy = `file:${workspace.path(`copy-${round}.db`)}`
      expect(await runHere(['restore', backup, '--database', copy])).toMatchObject({ exitCode: 0 })
      expect((await runHere(['dump', '--database', copy])).stdout === before, `round ${round}`).toBe(true)
    }
  })
})

describe.skipIf(POSTGRES_URL === null)('a PostgreSQL backup', () => {
  test('fills an empty database of either engine with the same data', async () => {
    const gateway = await startGateway({ databaseUrl: await temporaryDatabase() })
    await gateway.load(SMALL_WORLD)
    await gateway.load(documentLine('project', ANA, '{"id":"hostile","ref":"h","text":"\\u0000 \u2028 1.0","n":1.0}'))
    const { accessToken } = await gateway.login(ANA)
    const answers = async (of: typeof gateway, token: string) =>
      Promise.all(['/projects', '/exports?r=site'].map(async (path) => (await of.get(path, token)).text))
    const wanted = await answers(gateway, accessToken)
    const directory = temporaryDirectory()
    const backup = join(directory, 'backup.ndjson')
    const made = await runHere(['backup', backup, '--database', gateway.databaseUrl])
    expect([made.exitCode, made.stderr]).toEqual([0, ''])
    expect(statSync(backup).mode & 0o077).toBe(0)

    for (const url of [await temporaryDatabase(), `file:${join(directory, 'restored.db')}`]) {
      const again = ['restore', backup, '--database', url]
      expect(await runHere([...again, '--keep-sessions'])).toMatchObject({
        exitCode: 0,
        stdout: expect.not.stringContaining('sessions'),
        stderr: '',
      })
      const restored = await startGateway({ databaseUrl: url })
      expect(await answers(restored, accessToken)).toEqual(wanted)
      expect(await runHere(again)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('must be empty') })
      expect(await answers(restored, accessToken)).toEqual(wanted)
    }
    const empty = await temporaryDatabase()
    expect(await runHere(['restore', backup, '--database', empty])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('all sessions have ended'),
    })
    const restored = await startGateway({ databaseUrl: empty })
    expect((await restored.get('/projects', accessToken)).status).toBe(401)
    expect(await answers(restored, (await restored.login(ANA)).accessToken)).toEqual(wanted)
  })

  test('fills nothing if it is cut off or changed', async () => {
    const gateway = await startGateway({ databaseUrl: await temporaryDatabase() })
    await gateway.load(SMALL_WORLD)
    const backup = join(temporaryDirectory(), 'backup.ndjson')
    await runHere(['backup', backup, '--database', gateway.databaseUrl])
    const lines = readFileSync(backup, 'utf8')
    const empty = await temporaryDatabase()
    for (const broken of [
      lines.split('\n').slice(0, -2).join('\n'),
      lines.replace('new.html', 'bad.html'),
      lines.replace('"format":2', '"format":3'),
      lines.replace(/.*sealExport.*\n/, ''),
      `${lines}{"type":"dropUser","id":1}\n`,
    ]) {
      const path = join(temporaryDirectory(), 'broken.ndjson')
      writeFileSync(path, broken)
      expect(await runHere(['restore', path, '--database', empty])).toMatchObject({ exitCode: 1 })
    }
    expect((await runHere(['restore', backup, '--database', empty])).exitCode).toBe(0)
  })
})
