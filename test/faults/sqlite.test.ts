// Tests faults of a SQLite database: damaged pages, files taken away, a full disk, and a disk that fails.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { networkFileSystem } from '../../src/store/sqlite/engine/faults/startup-check.ts'
import { run, runHere, type Serving, serveForTest, serveHereForTest } from '../support/command-line.ts'
import {
  buildFaultLibrary,
  canMount,
  type DiskFault,
  damageFile,
  damageTables,
  failingDisk,
  smallDisk,
} from '../support/faults.ts'
import { type Answer, ask, bearer, postJson } from '../support/gateway.ts'
import { IMPORT_BEARER, IMPORT_TOKEN } from '../support/importing-gateway.ts'
import { PROGRAM } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'

const LIBRARY = buildFaultLibrary()
const CAN_MOUNT = canMount()

const elements = (count: number) =>
  Array.from({ length: count }, (_, n) => `{"path":"f${n}","content":"${'words and more words '.repeat(45)}"}`)
/** An export that is most of the database. Its size decides whether it is read whole or streamed. */
const WORLD_OF = (count: number) =>
  [
    SMALL_WORLD,
    documentLine('project', ANA, '{"id":"big"}'),
    exportLine(ANA, { r: 'big', createdAt: '2026-01-01T00:00:00Z', elements: elements(count) }),
  ].join('')

async function imported(directory = temporaryDirectory(), world = WORLD_OF(900)): Promise<string> {
  const path = join(directory, 'workspace.db')
  expect((await runHere(['import', '-', '--database', `file:${path}`], { stdin: world })).exitCode).toBe(0)
  return path
}

function login({ url }: Serving, email = ANA): Promise<Answer> {
  return postJson(`${url}/login`, { email })
}

async function printed(command: 'audit' | 'ledger', path: string, ...options: string[]): Promise<string> {
  return (await runHere([command, '--database', `file:${path}`, ...options])).stdout
}

const statusOf = async (answer: Promise<Answer>) =>
  answer.then(
    ({ status }) => status,
    () => 'no answer',
  )

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly incident?: string
  readonly sentBytes?: number
  readonly err?: { readonly message: string; readonly code?: string; readonly cause?: { readonly code?: string } }
}

function logOf({ stderr }: Serving): readonly LogLine[] {
  return stderr()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []))
}

const FATAL = 60

function expectOneFatalLine(serving: Serving, reason: string | RegExp): void {
  const fatal = logOf(serving).filter(({ level }) => level === FATAL)
  expect(fatal).toHaveLength(1)
  expect(fatal[0]?.err?.message).toMatch(reason)
  // No stack trace outside the log: every error was caught.
  expect(serving.stderr()).not.toMatch(/^\s+at /m)
}

describe('an unreadable page', () => {
  test('causes a 500 with a logged instance, one fatal line and exit code 1; earlier reads succeed', async () => {
    const path = await imported()
    damageFile(path, 0.5, 3 * 8_192)
    const serving = await serveHereForTest(['--database', `file:${path}`, '--check', 'off'])
    const { accessToken } = (await login(serving)).json()
    expect((await ask(`${serving.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
    const failed = await ask(`${serving.url}/exports?r=big`, { headers: bearer(accessToken) })
    expect([failed.status, failed.json().code]).toEqual([500, 'INTERNAL'])
    expect(failed.text).not.toMatch(/malformed|SQLITE|workspace\.db/)
    expect(await serving.ended).toBe(1)
    expect(logOf(serving).map(({ incident }) => incident)).toContain(failed.json().instance)
    expectOneFatalLine(serving, 'malformed')
  })

  test('in the middle of a stream is logged with the bytes that were sent before', async () => {
    const path = await imported(temporaryDirectory(), WORLD_OF(4_000))
    damageFile(path, 0.6, 3 * 8_192)
    const serving = await serveHereForTest(['--database', `file:${path}`, '--check', 'off'])
    const { accessToken } = (await login(serving)).json()
    const headers = { ...bearer(accessToken), 'accept-encoding': 'identity' }
    await expect(ask(`${serving.url}/exports?r=big`, { headers })).rejects.toThrow()
    expect(await serving.ended).toBe(1)
    const [broken] = logOf(serving).filter(({ sentBytes }) => sentBytes !== undefined)
    expect(broken?.sentBytes).toBeGreaterThan(100_000)
    expect(broken?.err?.message).toMatch('malformed')
    expectOneFatalLine(serving, 'malformed')
  })

  test.each(['quick', 'full'])('is found by --check %s, and the start is refused with advice', async (check) => {
    const path = await imported()
    damageFile(path, 0.5, 3 * 8_192)
    const { exitCode, stderr, stdout } = await runHere([
      'serve',
      '--port',
      '0',
      '--database',
      `file:${path}`,
      '--check',
      check,
    ])
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^the database \S+ is damaged .*Restore a backup.*\.recover/)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  test.each(['serve --port 0', 'users list'])('that is the first of the file gives advice too: %s', async (command) => {
    const path = await imported(temporaryDirectory(), SMALL_WORLD)
    damageFile(path, 0, 8_192)
    const { exitCode, stderr } = await runHere([...command.split(' '), '--database', `file:${path}`])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^cannot open \S+: file is not a database\. If it was one.*restore a backup\n$/)
  })

  const DAMAGED =
    /^the database \S+workspace\.db is damaged \(.*malformed\)\. Restore a backup.*\.recover \| sqlite3 \S+$/

  test.each([
    'users list',
    `users remove ${ANA}`,
    'dump',
    'vacuum --full',
    'import -',
    'import - --replace',
    'exports prune --keep 1',
  ])('makes a command fail with the same sentence and exit code 1: %s', async (command) => {
    const path = await imported(temporaryDirectory(), SMALL_WORLD)
    damageTables(path, ['user', 'document', 'export'])
    const { exitCode, stderr } = await runHere([...command.split(' '), '--database', `file:${path}`], {
      stdin: SMALL_WORLD,
    })
    // A failed import is also recorded in the audit log, which is in the same file.
    const lines = stderr.trim().replace('the audit log could not be written\n', '').split('\n')
    expect([exitCode, lines]).toEqual([1, [expect.stringMatching(DAMAGED)]])
  })

  test('causes one fatal line and the sentence when a start with --check off needs it', async () => {
    const path = await imported(temporaryDirectory(), SMALL_WORLD)
    damageTables(path, ['signing_key'])
    const args = ['serve', '--port', '0', '--database', `file:${path}`, '--check', 'off']
    const { exitCode, stderr } = await runHere(args)
    expect(exitCode).toBe(1)
    const lines = stderr.trim().split('\n')
    expect(lines.filter((line) => line.startsWith(`{"level":${FATAL},`))).toHaveLength(1)
    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([expect.stringMatching(DAMAGED)])
  })
})

describe('a gateway that loses its files', () => {
  const TAKINGS: readonly (readonly [name: string, take: (path: string) => void, reason: RegExp])[] = [
    ['the database is deleted', (path) => rmSync(path), /workspace\.db was deleted/],
    ['its -wal is deleted', (path) => rmSync(`${path}-wal`), /workspace\.db-wal was deleted/],
    [
      'another file takes the place of the database',
      (path) => {
        copyFileSync(path, `${path}.copy`)
        renameSync(`${path}.copy`, path)
      },
      /workspace\.db was replaced/,
    ],
    // A concurrent read may reach the end of the file first.
    ['its -wal is truncated', (path) => truncateSync(`${path}-wal`), /workspace\.db-wal was cut short|disk I\/O error/],
    ['the database is truncated', (path) => truncateSync(path, 5 * 8_192), /was cut short|malformed|disk I\/O error/],
  ]

  test.each(TAKINGS)('acknowledges nothing more and ends with the reason when %s', async (_, take, reason) => {
    const path = await imported()
    const serving = await serveHereForTest(['--database', `file:${path}`])
    expect((await login(serving)).status).toBe(200)
    take(path)
    const logins = await Promise.all(
      Array.from({ length: 20 }, (_, n) => statusOf(login(serving, `u${n}@example.com`))),
    )
    expect(logins).not.toContain(200)
    expect(await serving.ended).toBe(1)
    expectOneFatalLine(serving, reason)
  })

  test('leaves a file that took the place of the database as it is, also when an import comes, and loses nothing', async () => {
    const path = join(temporaryDirectory(), 'workspace.db')
    const token = join(dirname(path), 'token')
    writeFileSync(token, IMPORT_TOKEN, { mode: 0o600 })
    const database = ['--database', `file:${path}`]
    const serving = await serveForTest([...database, '--import-token-file', token])
    const importing = () =>
      ask(`${serving.url}/import`, { method: 'POST', headers: IMPORT_BEARER, body: WORLD_OF(300) }).then(
        ({ text }) => text,
        String,
      )
    // Everything is in the log: with that, SQLite opens any file.
    expect(await importing()).toContain('"imported"')
    const { accessToken } = (await login(serving)).json()
    renameSync(path, `${path}.away`)
    const other = 'of somebody else'
    writeFileSync(path, other)
    expect(await importing()).not.toContain('"imported"')
    expect(await serving.ended).toBe(1)
    expect(readFileSync(path, 'utf8')).toBe(other)
    renameSync(`${path}.away`, path)
    const again = await serveHereForTest([...database, '--check', 'full'])
    expect((await ask(`${again.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
  })

  test('is not ready and ends with 1', async () => {
    const path = await imported()
    const serving = await serveHereForTest(['--database', `file:${path}`])
    rmSync(path)
    expect(await statusOf(ask(`${serving.url}/readyz`))).not.toBe(200)
    expect(await serving.ended).toBe(1)
  })

  test('notices it without a request and ends with 1', async () => {
    const path = await imported()
    const serving = await serveHereForTest(['--database', `file:${path}`])
    rmSync(path)
    expect(await serving.ended).toBe(1)
    expectOneFatalLine(serving, /deleted/)
    expect(existsSync(path)).toBe(false)
  })
})

describe('all workers', () => {
  test('end when the database is deleted, and none makes an empty one', async () => {
    const path = await imported()
    const serving = await serveForTest(['--database', `file:${path}`, '--workers', '2'])
    expect((await login(serving)).status).toBe(200)
    rmSync(path)
    expect(await serving.ended).toBe(1)
    expect(existsSync(path)).toBe(false)
    expect(serving.stderr()).not.toContain('starting another')
    expect(logOf(serving).some(({ level, err }) => level === FATAL && err?.message.includes('was deleted'))).toBe(true)
  })

  test('end when one of them cannot read a page', async () => {
    const path = await imported()
    damageFile(path, 0.5, 3 * 8_192)
    const serving = await serveForTest(['--database', `file:${path}`, '--check', 'off', '--workers', '2'])
    const { accessToken } = (await login(serving)).json()
    expect(await statusOf(ask(`${serving.url}/exports?r=big`, { headers: bearer(accessToken) }))).toBe(500)
    expect(await serving.ended).toBe(1)
    expect(serving.stderr()).not.toContain('starting another')
    expectOneFatalLine(serving, 'malformed')
  })
})

describe.skipIf(!CAN_MOUNT)('a gateway on a full disk', () => {
  test('fails writes and readiness with 503 and Retry-After, answers reads, and recovers by itself', async () => {
    const disk = smallDisk(4 * 1_048_576)
    const path = await imported(disk.path, SMALL_WORLD)
    const serving = await serveForTest(['--database', `file:${path}`])
    const { accessToken, refreshToken } = (await login(serving)).json()
    disk.fill()
    expect((await ask(`${serving.url}/readyz`)).status).toBe(503)
    // First, the logins use up the room in the log of the database.
    await expect.poll(() => statusOf(login(serving, BEN)), { interval: 0 }).toBe(503)
    for (let n = 0; n < 20; n += 1) {
      const refused = await login(serving, BEN)
      expect([refused.status, refused.json().code, refused.headers.get('retry-after')]).toEqual([
        503,
        'UNAVAILABLE',
        '1',
      ])
    }
    expect((await ask(`${serving.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
    expect((await ask(`${serving.url}/readyz`)).status).toBe(503)
    expect((await ask(`${serving.url}/healthz`)).status).toBe(200)
    disk.empty()
    await expect.poll(() => statusOf(ask(`${serving.url}/readyz`))).toBe(200)
    expect((await login(serving, BEN)).status).toBe(200)
    const logout = { method: 'DELETE', headers: { 'content-type': 'application/json' } }
    expect((await ask(`${serving.url}/logout`, { ...logout, body: JSON.stringify({ refreshToken }) })).status).toBe(200)
    expect((await ask(`${serving.url}/projects`, { headers: bearer(accessToken) })).status).toBe(401)
    expect(logOf(serving).filter(({ level }) => level === FATAL)).toEqual([])
    expect(await serving.kill('SIGTERM')).toBe(0)
    const audit = (await runHere(['audit', '--database', `file:${path}`, '--kind', 'login'])).stdout
    expect(audit).toMatch(/"result":"failed".*"detail":"UNAVAILABLE"/)
    expect(audit).not.toContain('INTERNAL')
  })

  test('fails to start with one sentence', async () => {
    const disk = smallDisk(1_048_576)
    disk.fill()
    const { exitCode, stderr } = await run(['serve', '--port', '0', '--database', `file:${disk.path}/workspace.db`])
    expect([exitCode, stderr.trim().split('\n').length]).toEqual([1, 1])
    expect(stderr).toMatch(/disk.* is full/)
  })
})

describe.skipIf(LIBRARY === null)('a failing disk', () => {
  test.each(['fsync', 'write'] as const)(
    'ends the gateway with 1 on a failed %s, and no unsynced write is acknowledged',
    async (fault) => {
      const path = await imported()
      const disk = failingDisk(LIBRARY ?? '')
      const serving = await serveForTest(['--database', `file:${path}`], { env: disk.env })
      const { accessToken } = (await login(serving)).json()
      disk.fail(fault)
      const logins = await Promise.all(
        Array.from({ length: 10 }, (_, n) => statusOf(login(serving, `u${n}@example.com`))),
      )
      expect(logins).not.toContain(200)
      expect(await serving.ended).toBe(1)
      expectOneFatalLine(serving, 'disk I/O error')
      // The earlier session still exists. Nothing is promised about the refused ones.
      const again = await serveHereForTest(['--database', `file:${path}`])
      expect((await ask(`${again.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
    },
  )

  test('that fails on fsync does not stop the counting of calls, and ends the gateway at the next login', async () => {
    const path = await imported()
    const disk = failingDisk(LIBRARY ?? '')
    const serving = await serveForTest(['--database', `file:${path}`], { env: disk.env })
    const { accessToken } = (await login(serving)).json()
    // The audit entry of the login waits for the disk as the login does.
    await expect.poll(() => printed('audit', path)).toMatch('login')
    disk.fail('fsync')
    for (let calls = 0; calls < 3; calls += 1) {
      expect((await ask(`${serving.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
    }
    await expect.poll(() => printed('ledger', path, '--json')).toMatch(/GET \/projects.*"count":3/)
    expect((await ask(`${serving.url}/readyz`)).status).toBe(200)
    expect(await statusOf(login(serving, BEN))).not.toBe(200)
    expect(await serving.ended).toBe(1)
  })

  test('that loses the database during the commit of a login prevents its acknowledgement', async () => {
    const path = await imported()
    const disk = failingDisk(LIBRARY ?? '')
    const serving = await serveForTest(['--database', `file:${path}`], { env: disk.env })
    expect((await login(serving)).status).toBe(200)
    // After this, only the next login has something to sync.
    await expect.poll(() => printed('audit', path)).toMatch('login')
    disk.fail('delete')
    expect(await statusOf(login(serving, BEN))).not.toBe(200)
    expect(await serving.ended).toBe(1)
    expectOneFatalLine(serving, /workspace\.db was deleted/)
    expect(existsSync(path)).toBe(false)
  })

  test('ends the gateway with 1 on read, and the request gets a 500', async () => {
    const path = await imported()
    async function readOnceItFails(): Promise<number | string> {
      const disk = failingDisk(LIBRARY ?? '')
      const serving = await serveForTest(['--database', `file:${path}`], { env: disk.env })
      const { accessToken } = (await login(serving)).json()
      disk.fail('read')
      const status = await statusOf(ask(`${serving.url}/exports?r=big`, { headers: bearer(accessToken) }))
      expect(await serving.ended).toBe(1)
      expectOneFatalLine(serving, /disk I\/O error|malformed|EIO/)
      return status
    }
    // A background check of the database may meet the fault first and end the gateway before the request is answered.
    // In that case, it is tried again.
    const seen = new Set<number | string>()
    for (let attempt = 0; attempt < 5 && !seen.has(500); attempt += 1) seen.add(await readOnceItFails())
    seen.delete('no answer')
    expect([...seen]).toEqual([500])
  })

  test('that is a network file system is refused at start with one sentence, and nothing on it is touched', async () => {
    const path = await imported(temporaryDirectory(), SMALL_WORLD)
    const [empty, nested] = [join(temporaryDirectory(), 'workspace.db'), join(temporaryDirectory(), 'new/folder/w.db')]
    // The log of another machine must stay as it is.
    const other = await serveForTest(['--database', `file:${path}`])
    expect((await login(other)).status).toBe(200)
    await other.kill('SIGKILL')
    const log = readFileSync(`${path}-wal`)
    const disk = failingDisk(LIBRARY ?? '')
    disk.fail('network')
    for (const [file, ...flags] of [[path], [path, '--read-only'], [empty], [nested]]) {
      const args = ['serve', '--port', '0', '--database', `file:${file}`, ...flags]
      const { exitCode, stdout, stderr } = await run(args, { env: disk.env })
      expect([exitCode, stdout, stderr.trim().split('\n').length]).toEqual([1, '', 1])
      expect(stderr).toContain(`${file} is on a network file system (NFS)`)
    }
    expect(readFileSync(`${path}-wal`)).toEqual(log)
    expect([existsSync(empty), existsSync(dirname(dirname(nested)))]).toEqual([false, false])
  })

  test.each<DiskFault>(['full', 'quota'])(
    'without room for a commit (%s) loses nothing, and is used again once it has room',
    async (fault) => {
      const path = await imported()
      const disk = failingDisk(LIBRARY ?? '')
      const serving = await serveForTest(['--database', `file:${path}`], { env: disk.env })
      disk.fail(fault)
      const refused = await login(serving)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      // The limit is a quota that the file system does not report, so only a write reveals it.
      expect((await ask(`${serving.url}/readyz`)).status).toBe(503)
      disk.recover()
      expect((await ask(`${serving.url}/readyz`)).status).toBe(200)
      expect((await login(serving)).status).toBe(200)
      expect(readdirSync(dirname(path)).filter((name) => name.includes('quota'))).toEqual([])
    },
  )

  test('whose temporary folder has no quota left is not called failed by vacuum --full, and the database stays', async () => {
    // The library makes writes to paths with `.db` fail. The content does not fit into the cache.
    const [path, TMPDIR] = [join(temporaryDirectory(), 'workspace.sqlite'), join(temporaryDirectory(), 'temporary.db')]
    mkdirSync(TMPDIR)
    const world = [1, 2, 3]
      .map((id) => documentLine('template', ANA, JSON.stringify({ id, text: 'x'.repeat(12_000_000) })))
      .join('')
    const database = ['--database', `file:${path}`]
    expect((await runHere(['import', '-', ...database], { stdin: world })).exitCode).toBe(0)
    const disk = failingDisk(LIBRARY ?? '')
    disk.fail('quota')
    const { exitCode, stdout, stderr } = await run(['vacuum', '--full', ...database], { env: { ...disk.env, TMPDIR } })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^the database could not be rewritten: a quota is used up, or a disk fails; .*TMPDIR.*\n$/)
    expect((await runHere(['users', 'list', ...database])).stdout).toContain(ANA)
  })
})

test.each(['serve --port 0', 'serve --port 0 --workers 2'])(
  '%s in a removed working directory exits with 1 and one sentence',
  (command) => {
    const gone = join(temporaryDirectory(), 'gone')
    mkdirSync(gone)
    const script = `cd '${gone}' && rmdir '${gone}' && exec '${process.execPath}' '${PROGRAM}' ${command}`
    const { status, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8', timeout: 120_000 })
    expect([status, stderr]).toEqual([1, 'cannot open ./data/workspace.db: the working directory was removed\n'])
  },
)

test.skipIf(process.platform !== 'linux')('serve in a folder that cannot be made exits with 1 and one sentence', () => {
  const args = [PROGRAM, 'serve', '--port', '0', '--database', 'file:/proc/no/such/folder/workspace.db']
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 120_000 })
  expect([status, stderr.trim().split('\n').length, stderr.includes('/proc/no')]).toEqual([1, 1, true])
})

test('network file systems are distinguished from local ones', () => {
  expect([0x6969, 0xff534d42, -11_317_950, 0x517b].map(networkFileSystem)).toEqual(['NFS', 'CIFS', 'CIFS', 'SMB'])
  // ext4, tmpfs, btrfs, xfs, overlay
  expect([0xef53, 0x01021994, 0x9123683e, 0x58465342, 0x794c7630].map(networkFileSystem)).toEqual(Array(5).fill(null))
})
