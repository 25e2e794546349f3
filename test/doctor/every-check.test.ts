// Tests that every check of the doctor finds the fault that is planted for it. The faults of proxies are in
// bad-proxies.ts.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { buildFaultLibrary } from '../support/faults.ts'
import { createDatabaseFile } from '../support/import-workspace.ts'
import { execute, POSTGRES_DIRECTORY, POSTGRES_URL, temporaryDatabase, temporaryServer } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine } from '../support/workspaces.ts'
import { BAD_PROXIES, PASTED_PROXIES } from './bad-proxies.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const WORLD = documentLine('project', ANA, '{"id":"p"}')
const HOUR_MS = 3_600_000
/** The server reloads its settings after it has answered. */
const RELOADED = { timeout: 60_000 }
const library = buildFaultLibrary('../doctor/lying-machine.c')
const TMPFS = 0x01021994
const hasMemoryDisk = process.platform === 'linux' && statfsSync('/dev/shm').type === TMPFS
if (!hasMemoryDisk) console.warn('skipped: a database in memory needs /dev/shm')

interface Finding {
  readonly check: string
  readonly problem: string
  readonly fix: Readonly<Record<string, string>>
}

async function examine(args: readonly string[], clock = Date.now): Promise<readonly Finding[]> {
  const { stdout, stderr } = await runHere(['doctor', '--format', 'json', ...args], { clock })
  expect(stderr).toBe('')
  return (JSON.parse(stdout) as { findings: readonly Finding[] }).findings
}

/** Makes a file with a secret that can encrypt keys, and returns its path. */
function secretFile(mode = 0o600): string {
  const path = join(temporaryDirectory(), 'key')
  writeFileSync(path, Buffer.alloc(32, Math.floor(Math.random() * 255)).toString('base64'), { mode })
  return path
}

interface Planted {
  readonly what: string
  readonly checks: readonly string[]
  /** What one of the findings has to say. */
  readonly says: RegExp
  readonly isThere?: boolean
  readonly plant: () => Promise<readonly Finding[]>
}

const ON_SQLITE: readonly Planted[] = [
  {
    what: 'a guard that refuses everybody behind the proxy, too much memory, a missing secret file and a readable one',
    checks: ['configuration', 'login-guard', 'memory', 'secret-files'],
    says: /nobody behind --trusted-proxy can sign in/,
    plant: async () =>
      examine([
        ...['--database', `file:${await createDatabaseFile(WORLD)}`, '--trusted-proxy', '127.0.0.1'],
        ...['--in-flight-bytes', '900000000000', '--import-token-file', secretFile(0o644)],
        ...['--shadow-headers', '/nowhere/headers'],
      ]),
  },
  {
    what: 'a guard that prevents the start, and missing backups',
    checks: ['configuration', 'backups'],
    says: /does not start/,
    plant: async () =>
      examine([
        '--database',
        `file:${await createDatabaseFile(WORLD)}`,
        '--host',
        '0.0.0.0',
        '--backups',
        temporaryDirectory(),
      ]),
  },
  {
    what: 'keys in clear although a secret is configured',
    checks: ['signing-keys'],
    says: /stored unencrypted/,
    async plant() {
      const database = ['--database', `file:${await createDatabaseFile(WORLD)}`]
      expect((await runHere(['keys', 'rotate', ...database])).exitCode).toBe(0)
      return examine([...database, '--key-encryption-key-file', secretFile()])
    },
  },
  {
    what: 'keys that are encrypted with another secret',
    checks: ['signing-keys'],
    says: /cannot be used/,
    async plant() {
      const database = ['--database', `file:${await createDatabaseFile(WORLD)}`]
      const secret = ['--key-encryption-key-file', secretFile()]
      expect((await runHere(['keys', 'rotate', ...database, ...secret])).exitCode).toBe(0)
      expect(await examine([...database, ...secret])).toEqual([])
      return examine([...database, '--key-encryption-key-file', secretFile()])
    },
  },
  {
    what: 'more memory than the machine has for a worker on each processor',
    checks: ['memory'],
    says: /large answers and the reply cache may use/,
    isThere: availableParallelism() > 1,
    plant: async () =>
      examine([
        ...['--database', `file:${await createDatabaseFile(WORLD)}`, '--workers', 'auto'],
        ...['--in-flight-bytes', String(Math.floor(availableBytes() / 2))],
      ]),
  },
  {
    what: 'a database of a newer version',
    checks: ['schema-version'],
    says: /will not start/,
    plant: async () => examine(['--database', `file:${await withVersion((known) => known + 1)}`]),
  },
  {
    what: 'a database that this version has not served yet',
    checks: ['schema-version'],
    says: /this version has not served it yet/,
    plant: async () => examine(['--database', `file:${await withVersion((known) => known - 1)}`]),
  },
  {
    what: 'a damaged page, with which the gateway would not start',
    checks: ['database'],
    says: /is damaged .*Restore a backup/,
    async plant() {
      const path = await createDatabaseFile(WORLD)
      const file = openSync(path, 'r+')
      // The last page may be unused, but not the third.
      writeSync(file, Buffer.alloc(4_096, 255), 0, 4_096, 2 * 4_096)
      closeSync(file)
      expect(await examine(['--database', `file:${path}`, '--check', 'off'])).toEqual([])
      return examine(['--database', `file:${path}`])
    },
  },
  {
    what: 'a folder in which others may replace the database',
    checks: ['file-permissions'],
    says: /put another file in place/,
    async plant() {
      const path = await createDatabaseFile(WORLD)
      chmodSync(join(path, '..'), 0o777)
      return examine(['--database', `file:${path}`])
    },
  },
  {
    what: 'a database in memory, where no write reaches a disk',
    checks: ['disk-sync', 'file-system'],
    says: /is in memory/,
    isThere: hasMemoryDisk,
    async plant() {
      const directory = mkdtempSync('/dev/shm/workspace-gateway-doctor-')
      onTestFinished(() => rmSync(directory, { recursive: true }))
      const database = `file:${join(directory, 'workspace.db')}`
      await runHere(['import', '-', '--database', database], { stdin: WORLD })
      return examine(['--database', database])
    },
  },
  {
    what: 'a disk that does not sync, is remote and full, and a low limit of open files',
    // The store does not open there either.
    checks: ['database', 'disk-sync', 'file-system', 'disk-space', 'open-files'],
    says: /no disk can do: a power cut loses/,
    isThere: library !== null,
    async plant() {
      const command = 'ulimit -n 1000 && LD_PRELOAD=$1 exec "$2" "$3" doctor --format json --database "$4"'
      const database = `file:${await createDatabaseFile(WORLD)}`
      const args = ['-c', command, 'sh', library ?? '', process.execPath, MAIN, database]
      const { stdout, stderr } = spawnSync('/bin/sh', args, { encoding: 'utf8' })
      expect(stderr).toBe('')
      return JSON.parse(stdout).findings
    },
  },
]

/** The tests' server runs without fsync, so this is always found. */
const ON_POSTGRES: readonly Planted[] = [
  {
    what: 'a server with another time, and more connections than it allows',
    checks: ['server-sync', 'server-clock', 'server-connections'],
    says: /clock here differ by 3600\.\d s/,
    plant: async () =>
      examine(['--database', await filled(), '--workers', '40', '--pool-size', '20'], () => Date.now() + HOUR_MS),
  },
  {
    what: 'more connections for a worker on each processor than the server allows',
    checks: ['server-sync', 'server-connections'],
    says: /this machine alone may open \d+ connections \(workers × \(pool size \+ 4\)\)/,
    isThere: availableParallelism() > 1,
    async plant() {
      const url = await filled()
      const [{ max } = { max: 0 }] = await execute(url, `select current_setting('max_connections')::int as max`)
      const poolSize = String(Math.floor(Number(max) / 2) + 1)
      expect((await examine(['--database', url, '--pool-size', poolSize])).map(({ check }) => check)).toEqual([
        'server-sync',
      ])
      // It would fit without the connections on which answers are read anew.
      const tooLarge = await examine(['--database', url, '--pool-size', String(Number(max) - 3)])
      expect(tooLarge.map(({ check }) => check)).toContain('server-connections')
      return examine(['--database', url, '--workers', 'auto', '--pool-size', poolSize])
    },
  },
  {
    what: 'an unencrypted connection to the server',
    checks: ['server-sync', 'server-tls'],
    says: /to the database unencrypted/,
    // An address of this machine that is not known to be its own.
    plant: async () => examine(['--database', (await filled()).replace(/127\.0\.0\.1|localhost/, '0.0.0.0')]),
  },
]

/** Returns the memory as the doctor counts it: of the machine, or of the container. */
function availableBytes(): number {
  return Math.min(process.constrainedMemory() || totalmem(), totalmem())
}

async function withVersion(change: (known: number) => number): Promise<string> {
  const path = await createDatabaseFile(WORLD)
  using database = disposable(new Database(path))
  const known = Number(database.value.pragma('user_version', { simple: true }))
  database.value.pragma(`user_version = ${change(known)}`)
  return path
}

function disposable(value: Database.Database) {
  return { value, [Symbol.dispose]: () => void value.close() }
}

async function filled(): Promise<string> {
  const url = await temporaryDatabase()
  await runHere(['import', '-', '--database', url], { stdin: WORLD })
  return url
}

/** The checks whose faults are planted in other tests of this folder, with the words that show it. */
const ELSEWHERE = {
  'inside.test.ts': {
    database: "'database'",
    'wal-size': "'wal-size'",
    'rate-limits': "'rate-limits'",
    pooler: "'pooler'",
  },
  'outside.test.ts': {
    tls: "toContain('tls')",
    'tls-certificate': "'tls-certificate'",
    clock: '/^clock: ',
    'metrics-open': "'metrics-open'",
    bytes: "'bytes'",
    'public-keys': "'public-keys'",
  },
}

describe('doctor finds', () => {
  const rows = [
    ...ON_SQLITE,
    ...ON_POSTGRES.map((row) => ({ ...row, isThere: POSTGRES_URL !== null && row.isThere !== false })),
  ]
  for (const { what, checks, says, isThere = true, plant } of rows) {
    test.runIf(isThere)(what, async () => {
      const findings = await plant()
      expect(findings.map(({ check }) => check).toSorted()).toEqual(checks.toSorted())
      expect(findings.map(({ problem }) => problem).join('\n')).toMatch(says)
      for (const { fix } of findings) expect(Object.values(fix).join('')).not.toBe('')
      // The doctor cannot know whose package a global or latest one is.
      expect(JSON.stringify(findings)).not.toMatch(/--global|@latest/)
    })
  }

  test.runIf(POSTGRES_URL !== null)('too many connections, and recommends options with which they fit', async () => {
    const database = ['--database', await filled()]
    for (const [flag, value] of [
      ['--workers', '40'],
      ['--workers', '16'],
      ['--pool-size', '1000'],
    ] as const) {
      const found = (await examine([...database, flag, value])).find(({ check }) => check === 'server-connections')
      const better = found?.fix.gateway?.split(' ') ?? []
      const kept = better.includes(flag) ? [] : [flag, value]
      const left = await examine([...database, ...kept, ...better])
      expect([better[0], left.map(({ check }) => check)]).toEqual([expect.stringMatching(/^--/), ['server-sync']])
    }
  })

  test.runIf(POSTGRES_DIRECTORY !== null)(
    'a setting of PostgreSQL, and recommends a line that changes it',
    async () => {
      const url = (await temporaryServer({ settings: { fsync: 'on' } })).url('postgres')
      const paste = async (line: string) => {
        // As psql does: `alter system` refuses to be sent with others.
        for (const statement of line.split(/(?<=;) /)) await execute(url, statement)
      }
      const findings = () => examine(['--database', url])
      await runHere(['import', '-', '--database', url], { stdin: WORLD })
      await paste('alter system set full_page_writes = off; select pg_reload_conf();')
      await expect
        .poll(findings, RELOADED)
        .toMatchObject([{ problem: expect.stringContaining('full_page_writes = off') }])
      const [found] = await findings()
      await paste(found?.fix.postgresql ?? '')
      await expect.poll(findings, RELOADED).toEqual([])
    },
  )

  test('a planted fault for each of its checks, and its page names every check', () => {
    const folder = new URL('../../src/cli/doctor/', import.meta.url)
    const sources = ['inside', 'outside'].flatMap((part) =>
      readdirSync(new URL(part, folder)).map((file) => readFileSync(new URL(`${part}/${file}`, folder), 'utf8')),
    )
    const names = sources.flatMap((source) => [...source.matchAll(/\{ name: '([\w-]+)', run/g)].map(([, name]) => name))
    const planted = new Set([
      ...[...ON_SQLITE, ...ON_POSTGRES].flatMap(({ checks }) => checks),
      ...BAD_PROXIES.map(({ check }) => check),
      ...PASTED_PROXIES.flatMap(({ checks }) => checks),
      ...Object.values(ELSEWHERE).flatMap(Object.keys),
    ])
    expect(new Set(names)).toEqual(planted)
    for (const [file, checks] of Object.entries(ELSEWHERE)) {
      const source = readFileSync(new URL(file, import.meta.url), 'utf8')
      for (const words of Object.values(checks)) expect(source.includes(words), `${file}: ${words}`).toBe(true)
    }
    const paper = readFileSync(new URL('../../docs/operate/doctor.md', import.meta.url), 'utf8')
    for (const name of new Set(names)) expect(paper).toContain(`\`${name}\``)
  })
})
