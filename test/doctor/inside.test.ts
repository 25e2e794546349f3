// Tests the doctor on the machine of the gateway: its database, secrets, backups and options.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Finished, run, runHere } from '../support/command-line.ts'
import { canMount, smallDisk } from '../support/faults.ts'
import { freePort } from '../support/free-port.ts'
import { createDatabaseFile } from '../support/import-workspace.ts'
import { HAS_PGBOUNCER, startPgbouncer } from '../support/pgbouncer.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine } from '../support/workspaces.ts'

const WORLD = documentLine('project', ANA, '{"id":"p"}')

const isRoot = process.getuid?.() === 0
if (!isRoot) console.warn('skipped: only root can make a secret that belongs to another user than the gateway')

interface Report {
  readonly findings: readonly {
    readonly check: string
    readonly problem: string
    readonly fix: { readonly run?: string; readonly gateway?: string }
  }[]
  readonly passed: readonly string[]
  readonly notChecked: readonly { readonly check: string; readonly reason: string }[]
}

/** Runs the doctor in this process, where nobody serves: closing a SQLite file ends the locks of a process on it. */
async function examine(args: readonly string[]) {
  return reportOf(await runHere(['doctor', '--format', 'json', ...args]))
}

async function examineWith(env: Readonly<Record<string, string>>, args: readonly string[]) {
  return reportOf(await run(['doctor', '--format', 'json', ...args], { env }))
}

function reportOf({ stdout, stderr, exitCode }: Finished) {
  expect(stderr).toBe('')
  const report = JSON.parse(stdout) as Report
  return { exitCode, report, found: report.findings.map(({ check }) => check) }
}

describe('doctor', () => {
  test('finds nothing in a database as the gateway makes it', async () => {
    const path = await createDatabaseFile(WORLD)
    const backups = temporaryDirectory()
    writeFileSync(join(backups, 'workspace.db'), 'a backup')
    const { exitCode, report } = await examine(['--database', `file:${path}`, '--backups', backups])
    const reason = 'name the URL of the gateway to have it checked'
    expect(report).toMatchObject({ findings: [], notChecked: [{ check: 'outside', reason }] })
    expect(exitCode).toBe(0)
    const asked = await examine(['--database', `file:${path}`, '--backups', backups, '--look', 'inside'])
    expect(asked.report).toMatchObject({ findings: [], notChecked: [] })
    // The file with which it measures the disk is gone.
    expect(readdirSync(dirname(path)).filter((name) => name.startsWith('.'))).toEqual([])
  })

  test('examines a gateway with --read-only as one that writes nothing and signs nobody in', async () => {
    const database = ['--database', `file:${await createDatabaseFile(WORLD)}`, '--look', 'inside']
    const { report } = await examine([...database, '--read-only', '--host', '0.0.0.0'])
    const reason = 'with --read-only the gateway writes nothing'
    expect(report.findings).toEqual([])
    expect(report.notChecked).toEqual([
      { check: 'disk-sync', reason },
      { check: 'disk-space', reason },
      { check: 'wal-size', reason },
      expect.objectContaining({ check: 'backups' }),
    ])
  })

  test('names the option of the database, not of a key, for a database that has moved', async () => {
    const path = await createDatabaseFile(WORLD)
    const moved = await run(['move', '--from', `file:${path}`, '--to', `file:${path}.next`, '--online'])
    expect(moved.exitCode).toBe(0)
    const { report } = await examine(['--database', `file:${path}`])
    expect(report.findings).toEqual([
      expect.objectContaining({
        check: 'database',
        problem: expect.stringContaining('the database has moved'),
        fix: { gateway: expect.stringMatching(/^--database /) },
      }),
    ])
  })

  test('finds a reachable gateway without rate limits, with or without a proxy', async () => {
    const database = ['--database', `file:${await createDatabaseFile(WORLD)}`, '--attempts-per-minute', '0']
    const checks = async (...args: readonly string[]) => (await examine([...database, ...args])).found
    expect(await checks()).toEqual([])
    for (const reached of [
      ['--host', '0.0.0.0', '--login-guard', 'client'],
      ['--login-guard', 'client', '--trusted-proxy', '127.0.0.1'],
    ])
      expect(await checks(...reached)).toEqual(['rate-limits'])
  })

  test('recommends options with which the gateway starts, or the command that says what is missing', async () => {
    const database = ['--database', `file:${await createDatabaseFile(WORLD)}`]
    const fixFor = async (check: string, ...args: readonly string[]) => {
      const { report } = await examine([...database, ...args])
      expect(report.findings).toMatchObject([{ check }])
      return report.findings[0]?.fix ?? {}
    }
    const behindProxy = ['--trusted-proxy', '127.0.0.1']
    for (const [args, kept] of [
      [behindProxy, behindProxy],
      [['--login-guard', 'open'], []],
    ] as const) {
      const { gateway = '' } = await fixFor('login-guard', ...args)
      const filled = gateway.replace('ADDRESS', 'gateway@example.com').split(' ')
      const check = ['config', 'check', ...database, ...kept, ...filled]
      expect(await runHere(check)).toMatchObject({ exitCode: 0, stderr: '' })
    }
    for (const [args, missing] of [
      [['--login-guard', 'mail'], 'mail-url'],
      [['--proxy-protocol'], '--trusted-proxy'],
      [['--sunset', '/nowhere=2027-01-31'], '/nowhere'],
      [['--import-token-file', '/nowhere/token'], 'there is no such file'],
      [['--read-only', '--database-next', 'postgres://h/d'], '--database-next'],
      [['--host', '0.0.0.0'], '--login-guard assertion'],
    ] as const) {
      const { run: command = '' } = await fixFor('configuration', ...args)
      const [program, ...words] = command.split(' ')
      expect(program).toBe('workspace-gateway')
      const { exitCode, stderr } = await runHere([...words, ...database, ...args])
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(missing)])
    }
  })

  test('finds headers for the old server that others can read', async () => {
    const headers = join(temporaryDirectory(), 'headers')
    writeFileSync(headers, 'x-api-key: must not appear', { mode: 0o644 })
    const old = ['--shadow', 'https://old.example.com', '--shadow-headers', headers]
    const { found, report } = await examine(['--database', `file:${await createDatabaseFile(WORLD)}`, ...old])
    expect(found).toEqual(['secret-files'])
    expect(JSON.stringify(report)).not.toContain('must not appear')
  })

  test('finds a readable configuration file that contains a secret, and no other', async () => {
    const folder = temporaryDirectory()
    const database = ['--database', `file:${await createDatabaseFile(WORLD)}`, '--login-guard', 'none']
    for (const [line, expected] of [
      ['serve:\n  mail-url: smtps://gateway:hunter2@mail.example.com', ['secret-files']],
      ['assertion-secret: must-not-appear-anywhere-at-all', ['secret-files']],
      ['import:\n  database: postgres://workspace:hunter2@db.example.com/workspace', ['secret-files']],
      ['database: postgres://workspace@db.example.com/workspace?sslpassword=hunter2', ['secret-files']],
      ['mail-url: smtps://mail.example.com', []],
      // Public addresses and paths.
      ['assertion-keys: https://tenant.b2clogin.com/keys?p=B2C_1_signin', []],
      ['deprecation-link: /projects=https://medium.example.com/@team/retiring?title=keys', []],
      ['import:\n  database: postgres://gw@db.example.com/ws?sslkey=/etc/ssl/client.key&passfile=/etc/pgpass', []],
    ] as const) {
      const path = join(folder, 'gateway.yaml')
      writeFileSync(path, `${line}\n`, { mode: 0o644 })
      const { found, report } = await examine([...database, '--config', path])
      expect([line, found]).toEqual([line, expected])
      expect(JSON.stringify(report)).not.toMatch(/hunter2|must-not-appear/)
      chmodSync(path, 0o600)
      expect((await examine([...database, '--config', path])).found).toEqual([])
      rmSync(path)
    }
  })

  test.skipIf(!isRoot)('recommends nothing that locks the gateway out of a secret of another user', async () => {
    const [uid, gid] = [64_001, 64_002]
    const folder = temporaryDirectory()
    chmodSync(folder, 0o755)
    const token = join(folder, 'token')
    writeFileSync(token, 'secret-import-token-of-an-operator')
    const secretFiles = async () => {
      const args = ['doctor', '--look', 'inside', '--format', 'json', '--import-token-file', token]
      const { report, found } = reportOf(await run(args, { user: { uid, gid }, cwd: folder }))
      expect(found).not.toContain('configuration')
      return report.findings.find(({ check }) => check === 'secret-files')?.fix.run
    }
    chmodSync(token, 0o644)
    const advice = await secretFiles()
    expect(advice).toBe(`chgrp ${gid} ${token} && chmod 640 ${token}`)
    execFileSync('sh', ['-c', String(advice)])
    expect(await secretFiles()).toBeUndefined()
  })

  test.skipIf(!isRoot)('finds a file beside the database that root has left there', async () => {
    const [uid, gid] = [64_001, 64_002]
    const path = await createDatabaseFile(WORLD)
    for (const name of [dirname(path), path]) chownSync(name, uid, gid)
    const inspect = async () => {
      const args = ['doctor', '--look', 'inside', '--format', 'json', '--database', `file:${path}`]
      const { report } = reportOf(await run(args, { user: { uid, gid }, cwd: dirname(path) }))
      return report.findings.find(({ check }) => check === 'file-permissions')?.fix.run
    }
    writeFileSync(`${path}-shm`, '', { mode: 0o600 })
    const advice = await inspect()
    expect(advice).toBe(`chown ${uid} ${path}-shm && chmod 600 ${path}-shm`)
    execFileSync('sh', ['-c', String(advice)])
    expect(await inspect()).toBeUndefined()
  })

  test('calls a database path that is no file that, without reading a pipe', async () => {
    const folder = temporaryDirectory()
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    // With a writer, a read that should not be tried fails. Without one it would hold up this process for ever.
    const writer = openSync(pipe, 'r+')
    for (const [path, kind] of [
      [folder, 'it is a folder'],
      [pipe, 'it is not a file'],
    ]) {
      const { exitCode, report } = await examine(['--look', 'inside', '--database', `file:${path}`])
      const problem = `the database cannot be used: cannot open ${path}: ${kind}`
      expect([exitCode, report.findings]).toMatchObject([1, [{ check: 'database', problem }]])
    }
    closeSync(writer)
  })

  test('finds each fault of a database file, of secrets, backups and the configuration', async () => {
    const path = await createDatabaseFile(WORLD)
    const [folder, backups] = [temporaryDirectory(), temporaryDirectory()]
    const token = join(folder, 'token')
    writeFileSync(token, 'secret-import-token-of-an-operator', { mode: 0o644 })
    chmodSync(path, 0o644)
    writeFileSync(`${path}-wal`, '')
    truncateSync(`${path}-wal`, 300 * 1_048_576)
    writeFileSync(join(backups, 'old.db'), 'a backup')
    utimesSync(join(backups, 'old.db'), 0, 0)
    const options = ['--database', `file:${path}`, '--import-token-file', token, '--backups', backups]
    const guards = ['--login-guard', 'open', '--rate-limits', 'off']
    const { exitCode, found, report } = await examine([...options, ...guards])
    expect(new Set(found)).toEqual(
      new Set(['file-permissions', 'wal-size', 'secret-files', 'backups', 'login-guard', 'rate-limits']),
    )
    expect(JSON.stringify(report)).not.toContain('secret-import-token-of-an-operator')
    expect(exitCode).toBe(1)
  })

  test('recommends what shrinks a large -wal: the command that does, or checkpoints', async () => {
    const path = await createDatabaseFile(WORLD)
    writeFileSync(`${path}-wal`, '', { mode: 0o600 })
    truncateSync(`${path}-wal`, 300 * 1_048_576)
    const database = ['--database', `file:${path}`]
    const external = await examine([...database, '--checkpoints', 'external'])
    expect(external.report.findings).toMatchObject([{ check: 'wal-size', fix: { gateway: '--checkpoints own' } }])
    const { report } = await examine(database)
    expect(report.findings).toMatchObject([{ check: 'wal-size' }])
    // As it is: it names the database that the doctor was asked about.
    const [, ...command] = report.findings[0]?.fix.run?.split(' ') ?? []
    expect(await runHere(command)).toMatchObject({ exitCode: 0 })
    expect((await examine(database)).found).toEqual([])
  })

  test.skipIf(!canMount())(
    'recommends --read-only where the disk is mounted so, and room where it is full',
    async () => {
      const disk = smallDisk(4 * 1_048_576)
      copyFileSync(await createDatabaseFile(WORLD), join(disk.path, 'workspace.db'))
      const fixOfSync = async () => {
        const { report } = await examine(['--database', `file:${join(disk.path, 'workspace.db')}`])
        return report.findings.find(({ check }) => check === 'disk-sync')?.fix
      }
      disk.fill()
      expect(await fixOfSync()).toEqual({ run: `df -h ${disk.path}` })
      execFileSync('mount', ['-o', 'remount,ro', disk.path])
      expect(await fixOfSync()).toEqual({ gateway: '--read-only' })
    },
  )

  test('finds the faults of a database behind a link, and names its real folder', async () => {
    const path = await createDatabaseFile(WORLD)
    writeFileSync(`${path}-wal`, '')
    truncateSync(`${path}-wal`, 300 * 1_048_576)
    const link = join(temporaryDirectory(), 'link.db')
    symlinkSync(path, link)
    chmodSync(dirname(path), 0o777)
    const { found, report } = await examine(['--database', `file:${link}`])
    expect(new Set(found)).toEqual(new Set(['file-permissions', 'wal-size']))
    expect(JSON.stringify(report)).toContain(dirname(path))
  })

  test('quotes paths in the commands that it recommends', async () => {
    const folder = join(temporaryDirectory(), "it's a folder")
    mkdirSync(folder, { mode: 0o700 })
    const [path, token] = [join(folder, 'my workspace.db'), join(folder, 'a token')]
    await run(['import', '-', '--database', `file:${path}`], { stdin: WORLD })
    chmodSync(path, 0o644)
    writeFileSync(token, 'secret-import-token-of-an-operator', { mode: 0o644 })
    const options = ['--database', `file:${path}`, '--import-token-file', token, '--backups', folder]
    const { report } = await examine([...options, '--backup-max-age', '0'])
    const commands = report.findings.flatMap(({ fix }) => fix.run ?? [])
    expect(commands.toSorted()).toEqual([
      expect.stringMatching(/^chmod 600 '/),
      expect.stringMatching(/^chmod 600 '/),
      expect.stringMatching(/^workspace-gateway backup --database '.*' --keep-newest 14 '/),
    ])
    for (const command of commands.filter((line) => line.startsWith('chmod'))) execFileSync('sh', ['-c', command])
    expect([path, token].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600])
  })

  test('recommends commands with the options that it was given itself, and without their secrets', async () => {
    const folder = temporaryDirectory()
    const url = 'postgres://gateway:its-password@127.0.0.1:1/workspace'
    const file = join(temporaryDirectory(), 'config.yaml')
    writeFileSync(file, 'login-guard: mail\n', { mode: 0o600 })
    const given = ['--config', file, '--database', url, '--no-demo', '--look', 'inside', '--backups', folder]
    const { report } = await examine(given)
    const commands = new Map(report.findings.map(({ check, fix }) => [check, fix.run]))
    const database = "--database 'postgres://gateway:[hidden]@127.0.0.1:1/workspace'"
    // Each has those of its own options: `backup` knows nothing of the demo.
    expect(commands.get('configuration')).toBe(`workspace-gateway config check ${database} --no-demo --config ${file}`)
    expect(commands.get('backups')).toBe(
      `workspace-gateway backup ${database} --config ${file} --keep-newest 14 ${folder}`,
    )
  })

  test('finds that no backup is complete, or that the folder is missing', async () => {
    const path = await createDatabaseFile(WORLD)
    const backups = temporaryDirectory()
    for (const name of ['workspace.db.0a1b2c3d.part', 'workspace.db.0a1b2c3d.part-journal', 'workspace.db.sha256'])
      writeFileSync(join(backups, name), 'x')
    writeFileSync(join(backups, 'empty.db'), '')
    for (const [folder, problem] of [
      [backups, `no backup is recent enough in ${backups}: there is none`],
      [join(backups, 'none'), 'the folder of the backups cannot be read: there is no such folder'],
      [join(backups, 'empty.db'), 'the folder of the backups cannot be read: it is not a folder'],
    ] as const) {
      const { exitCode, report } = await examine(['--database', `file:${path}`, '--backups', folder])
      expect([exitCode, report.findings], folder).toEqual([1, [expect.objectContaining({ check: 'backups', problem })]])
    }
  })

  test('finds missing backups although one is dated ahead of the clock', async () => {
    const path = await createDatabaseFile(WORLD)
    const backups = temporaryDirectory()
    const inAMonth = Date.now() / 1_000 + 30 * 86_400
    writeFileSync(join(backups, 'ahead.db'), 'a backup')
    utimesSync(join(backups, 'ahead.db'), inAMonth, inAMonth)
    const alone = await examine(['--database', `file:${path}`, '--backups', backups])
    expect(alone.found).toEqual(['backups'])
    expect(JSON.stringify(alone.report)).toContain('there is none, but 1 dated ahead of the clock')
    writeFileSync(join(backups, 'old.db'), 'a backup')
    utimesSync(join(backups, 'old.db'), 0, 0)
    expect((await examine(['--database', `file:${path}`, '--backups', backups])).found).toEqual(['backups'])
    writeFileSync(join(backups, 'new.db'), 'a backup')
    expect((await examine(['--database', `file:${path}`, '--backups', backups])).found).toEqual([])
  })

  test('finds that the database is missing or of another program', async () => {
    const folder = temporaryDirectory()
    expect((await examine(['--database', `file:${join(folder, 'none.db')}`])).found).toEqual(['database'])
    mkdirSync(join(folder, 'other'))
    writeFileSync(join(folder, 'other', 'notes.db'), 'x'.repeat(200))
    expect((await examine(['--database', `file:${join(folder, 'other', 'notes.db')}`])).found).toEqual(['database'])
  })

  test('prints a table of findings, each with the command that fixes it', async () => {
    const path = await createDatabaseFile(WORLD)
    chmodSync(path, 0o640)
    const { stdout, exitCode } = await run(['doctor', '--database', `file:${path}`])
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/FOUND +file-permissions .*\n +run: chmod 600 /)
    expect(stdout).toMatch(/^skipped +outside +name the URL of the gateway to have it checked$/m)
    expect(stdout).toContain('1 found')
  })

  test('distinguishes a URL where no gateway answers from findings', async () => {
    const { exitCode, stderr } = await run(['doctor', 'http://127.0.0.1:1', '--look', 'outside'])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('nothing answers')])
  })

  test.skipIf(POSTGRES_URL === null)('says why a PostgreSQL database cannot be used', async () => {
    const [mistaken, closed] = [new URL(POSTGRES_URL ?? ''), new URL(POSTGRES_URL ?? '')]
    mistaken.password = 'wrong'
    closed.port = String(await freePort('127.0.0.1'))
    for (const [url, reason] of [
      [mistaken, 'cannot open the database: password authentication failed for user "postgres"'],
      [closed, `no database server that accepts writes can be reached: connect ECONNREFUSED ${closed.host}`],
    ] as const) {
      const { report } = await examine(['--look', 'inside', '--database', url.href])
      expect(report.findings).toMatchObject([{ check: 'database', problem: `the database cannot be used: ${reason}` }])
    }
  })

  test('says that a PostgreSQL server that never answers gives no connection', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const url = `postgres://u@127.0.0.1:${(silent.address() as AddressInfo).port}/d?connect_timeout=1`
    const { report } = await examine(['--look', 'inside', '--database', url])
    const problem = 'the database cannot be used: no connection to the database became free in time'
    expect(report.findings).toMatchObject([{ check: 'database', problem }])
  })

  test.skipIf(POSTGRES_URL === null || !HAS_PGBOUNCER)(
    'finds a pooler that the options do not name, and a server that does not sync',
    async () => {
      const url = await temporaryDatabase()
      await run(['import', '-', '--database', url], { stdin: WORLD })
      await using pooler = await startPgbouncer(url, { connections: 3 })
      const of = (database: string, ...args: readonly string[]) =>
        examineWith({ WORKSPACE_GATEWAY_DATABASE: database }, args)
      // The tests' server runs without fsync.
      expect((await of(url)).found).toEqual(['server-sync'])
      expect((await of(pooler.through(url))).found).toEqual(['server-sync'])
      const { found, report } = await of(pooler.through(url), '--database-pooling', 'session')
      expect(found, JSON.stringify(report.findings)).toEqual(['server-sync', 'pooler'])
      expect(JSON.stringify(report)).not.toContain(new URL(url).password)
    },
  )
})

test('the commands on the page of the doctor find nothing, or say that nothing answers', async () => {
  const paper = readFileSync(new URL('../../docs/operate/doctor.md', import.meta.url), 'utf8')
  const commands = [...paper.matchAll(/^npx workspace-gateway (doctor.*)$/gm)].map(([, command = '']) =>
    command.split(' '),
  )
  const path = await createDatabaseFile(WORLD)
  const exitCodes = commands.map(async (args) => (await run([...args, '--database', `file:${path}`])).exitCode)
  expect(await Promise.all(exitCodes)).toEqual([0, 2])
})
