// Commands that list, show, remove and rename users and prune exports, and what a removal leaves in the files.
import { EventEmitter } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { type AuditStore, openAuditLog } from '../src/auth/audit/audit-log.ts'
import { StoreUnavailableError } from '../src/store/contract.ts'
import type { EditableStore } from '../src/store/workspace-edits.ts'
import { createClient, requireSession } from './support/client.ts'
import { runHere, serveForTest } from './support/command-line.ts'
import { startGateway, type TestGateway } from './support/gateway.ts'
import { createWorkspace } from './support/import-workspace.ts'
import { IMPORT_BEARER, startImporting } from './support/importing-gateway.ts'
import { createdDatabases, execute, POSTGRES_URL } from './support/postgres.ts'
import { openTestStore } from './support/sqlite-store.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

describe('on SQLite', () => describeUsers(async () => undefined))

describe.skipIf(POSTGRES_URL === null)('on PostgreSQL', () => describeUsers(createdDatabases()))

function describeUsers(databaseUrl: () => Promise<string | undefined>): void {
  test('a removed user is gone for every reader at once, and so are the user’s tokens', async () => {
    const url = await databaseUrl()
    const gateway = await startGateway(url === undefined ? {} : { databaseUrl: url })
    await gateway.load(SMALL_WORLD)
    const [ana, ben] = [await gateway.login(ANA), await gateway.login(BEN)]
    const before = await gateway.get('/projects', ana.accessToken)
    const flags = ['--database', gateway.databaseUrl]
    const { exitCode, stdout, stderr } = await runHere(['users', 'remove', 'ANA@example.com', ...flags])
    expect([exitCode, stdout, stderr]).toEqual([
      0,
      `removed ${ANA}: 2 projects, 1 template, 1 UI library, 2 exports (46 B), 1 session\n`,
      '',
    ])
    const etag = before.headers.get('etag') ?? ''
    expect((await gateway.get('/projects', ana.accessToken, { 'if-none-match': etag })).status).toBe(401)
    const refresh = await gateway.send('POST', '/token', JSON.stringify({ refreshToken: ana.refreshToken }))
    expect(refresh.status).toBe(401)
    expect((await gateway.get('/projects', ben.accessToken)).status).toBe(200)
    const again = await gateway.login(ANA)
    expect((await gateway.get('/projects', again.accessToken)).status).toBe(404)
    await gateway.load(documentLine('project', ANA, '{"id":"p9","ref":"site"}'))
    expect((await gateway.get('/exports?r=site', again.accessToken)).json().code).toBe('NO_EXPORT')
    const both = await runHere(['users', 'remove', 'Nobody@example.com', ANA, ...flags])
    expect([both.exitCode, both.stderr]).toEqual([1, 'nothing is stored for nobody@example.com\n'])
    expect(both.stdout).toContain(`removed ${ANA}: `)
  })

  test('users list and users show print what each user has, and commands say which of their emails is none', async () => {
    const workspace = createWorkspace(runHere, await databaseUrl())
    await workspace.load(SMALL_WORLD)
    const ben = `${BEN}\t1 project, 0 templates, 0 UI libraries, 1 export (20 B), 0 sessions\n`
    expect((await workspace.run('users', 'show', BEN)).stdout).toBe(ben)
    expect((await workspace.run('users', 'list')).stdout).toBe(
      `${ANA}\t2 projects, 1 template, 1 UI library, 2 exports (46 B), 0 sessions\n${ben}`,
    )
    const unknown = await workspace.run('users', 'show', 'nobody@example.com')
    expect([unknown.exitCode, unknown.stderr]).toEqual([1, 'nothing is stored for nobody@example.com\n'])
    for (const [command, sentence] of [
      [['show', 'no email'], 'this is not a valid email address'],
      [['rename', 'no email', BEN], 'the old email is not a valid email address'],
      [['rename', BEN, 'no email'], 'the new email is not a valid email address'],
      [['remove', BEN, 'no email'], 'email 2 is not a valid email address'],
    ] as const) {
      expect(await workspace.run('users', ...command)).toEqual({ exitCode: 2, stdout: '', stderr: `${sentence}\n` })
    }
    expect((await workspace.run('users', 'show', BEN)).stdout).toBe(ben)
  })

  test('a renamed user has everything under the new email, and nothing under the old one', async () => {
    const url = await databaseUrl()
    const gateway = await startGateway(url === undefined ? {} : { databaseUrl: url })
    await gateway.load(SMALL_WORLD)
    const [old, other] = [await gateway.login(ANA), await gateway.login('new@example.com')]
    const before = await gateway.get('/exports?r=site', old.accessToken)
    expect((await gateway.get('/projects', other.accessToken)).status).toBe(404)
    const flags = ['--database', gateway.databaseUrl]
    expect((await runHere(['users', 'rename', ANA, BEN, ...flags])).exitCode).toBe(1)
    const renamed = await runHere(['users', 'rename', ANA, 'new@example.com', ...flags])
    expect(renamed.stdout).toBe('renamed: everything is kept, 1 session of the old email ended\n')
    expect((await gateway.get('/projects', old.accessToken)).status).toBe(401)
    expect((await gateway.get('/exports?r=site', other.accessToken)).text).toBe(before.text)
    expect((await gateway.get('/projects', (await gateway.login(ANA)).accessToken)).status).toBe(404)
  })

  test('an audit log with clear emails keeps only the hash of a removed or renamed user, even in the entry of the removal', async () => {
    const url = await databaseUrl()
    const gateway = await startGateway(url === undefined ? {} : { databaseUrl: url })
    await gateway.load(SMALL_WORLD)
    const run = async (...args: string[]) => {
      const { exitCode, stdout, stderr } = await runHere([...args, '--database', gateway.databaseUrl], {
        clock: gateway.now,
      })
      expect([exitCode, stderr]).toEqual([0, ''])
      return stdout
    }
    const clear = ['--audit-emails', 'clear']
    for (const email of [ANA, BEN]) {
      await gateway.login(email)
      await run('sessions', 'revoke', '--email', email, ...clear)
    }
    expect(await run('audit')).toContain(`"who":"${ANA}"`)
    await run('users', 'remove', ANA, ...clear)
    await run('users', 'rename', BEN, 'new@example.com', ...clear)
    expect(await run('audit')).not.toContain('@')
    for (const email of [ANA, BEN]) {
      const kinds = (await run('audit', '--email', email)).match(/"kind":"\w+"/g)
      expect(kinds).toEqual(expect.arrayContaining(['"kind":"sessionsRevoked"', '"kind":"removal"']))
    }
  })

  test('an audit event that waits while its user is removed is written without the email, which is nowhere in the database', async () => {
    const url = await databaseUrl()
    const gateway = await startGateway(url === undefined ? {} : { databaseUrl: url })
    await gateway.load(SMALL_WORLD)
    let isHeld = true
    const store: AuditStore = {
      ...gateway.store,
      addAuditEntries(batch) {
        if (isHeld) throw new StoreUnavailableError('held back')
        return gateway.store.addAuditEntries(batch)
      },
    }
    await using log = await openAuditLog(store, {
      retentionMs: Number.POSITIVE_INFINITY,
      areEmailsClear: true,
      clock: gateway.now,
      onEntry() {},
      onFailure() {},
    })
    for (const email of [ANA, BEN]) log.record({ kind: 'login', result: 'done', email, address: '192.0.2.7' })
    await log.flush()
    const clear = ['--database', gateway.databaseUrl, '--audit-emails', 'clear']
    expect((await runHere(['users', 'remove', ANA, ...clear])).exitCode).toBe(0)
    isHeld = false
    await log.flush()
    const stored = await allRows(gateway)
    expect(stored).toContain(BEN)
    expect(stored).not.toContain(ANA)
    const ofAna = (await runHere(['audit', '--email', ANA, '--database', gateway.databaseUrl])).stdout
    expect(ofAna.match(/"kind":"\w+"/g)?.toSorted()).toEqual(['"kind":"login"', '"kind":"removal"'])
    const ofBen = (await runHere(['audit', '--email', BEN, '--database', gateway.databaseUrl])).stdout
    expect(ofBen).toContain(`"who":"${BEN}"`)
  })

  test('exports prune removes exports by number and age, and always keeps the newest', async () => {
    const workspace = createWorkspace(runHere, await databaseUrl())
    const made = (day: number) =>
      exportLine(ANA, { r: 'p', createdAt: `2026-01-0${day}T00:00:00Z`, elements: [`${day}`] })
    await workspace.load([documentLine('project', ANA, '{"id":"p"}'), ...[1, 2, 3, 4].map(made)].join(''))
    const prune = (...options: string[]) => {
      const now = Date.parse('2026-01-10T00:00:00Z')
      return runHere(['exports', 'prune', ...options, ...workspace.flags], { clock: () => now })
    }
    expect((await prune()).exitCode).toBe(2)
    expect((await prune('--older-than', 'soon')).exitCode).toBe(2)
    expect((await prune('--keep', '2', '--older-than', '8d')).stdout).toBe('removed 1 export (3 B)\n')
    expect((await prune('--keep', '3')).stdout).toBe('removed 0 exports (0 B)\n')
    expect((await prune('--older-than', '1d', '--email', ANA)).stdout).toBe('removed 2 exports (6 B)\n')
    expect(await workspace.dump()).toBe(`${documentLine('project', ANA, '{"id":"p"}')}${made(4)}`)
  })

  // The third age reaches back before the year 0, the last one before the first date of JavaScript.
  test('an age of 36500, 740000, 999999 or 999999999 days prunes no export', async () => {
    const workspace = createWorkspace(runHere, await databaseUrl())
    const made = (createdAt: string) => exportLine(ANA, { r: 'p', createdAt, elements: ['1'] })
    const dates = ['1960-01-01T00:00:00Z', '1999-01-01T00:00:00Z', '2026-01-01T00:00:00Z']
    await workspace.load([documentLine('project', ANA, '{"id":"p"}'), ...dates.map(made)].join(''))
    for (const age of ['36500d', '740000d', '999999d', '999999999d']) {
      const { exitCode, stdout } = await workspace.run('exports', 'prune', '--older-than', age)
      expect([age, exitCode, stdout]).toEqual([age, 0, 'removed 0 exports (0 B)\n'])
    }
  })
}

test('an exports prune that breaks off reports what it removed, also in the audit log, and continues when it is run again', async () => {
  const workspace = createWorkspace()
  const made = (email: string, day: number) =>
    exportLine(email, { r: 'p', createdAt: `2026-01-0${day}T00:00:00Z`, elements: [`${day}`] })
  const of = (email: string) => [documentLine('project', email, '{"id":"p"}'), made(email, 1), made(email, 2)]
  await workspace.load([...of(ANA), ...of(BEN)].join(''))
  const prune = (signals = new EventEmitter(), clock = Date.now) =>
    runHere(['exports', 'prune', '--keep', '1', '--older-than', '1d', ...workspace.flags], { signals, clock })
  const entries = async () => (await runHere(['audit', '--kind', 'removal', ...workspace.flags])).stdout

  const stopped = new EventEmitter()
  const early = await prune(stopped, () => {
    stopped.emit('SIGTERM')
    return Date.now()
  })
  expect(early).toEqual({ exitCode: 1, stdout: '', stderr: 'stopped: run it again to continue\n' })
  expect(await entries()).toBe('')

  const database = new Database(workspace.path('workspace.db'))
  const ben = database.prepare('select id from user where email = ?').pluck().get(BEN)
  database.exec(
    `create trigger stop before delete on export when old.user_id = ${ben} begin select raise(abort, 'no'); end`,
  )
  const broken = await prune()
  expect([broken.exitCode, broken.stdout]).toEqual([1, ''])
  expect(broken.stderr).toContain('interrupted: removed 1 export (3 B) so far; run it again to continue\n')
  expect(await entries()).toMatch(/"kind":"removal","result":"failed","detail":"broken off at 1 exports pruned"/)
  database.exec('drop trigger stop')
  database.close()
  expect((await prune()).stdout).toBe('removed 1 export (3 B)\n')
  expect(await entries()).toContain('"result":"done","detail":"1 exports pruned"')
})

test('rows of any other table with the email of a user are removed when the user is removed or renamed', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const database = new Database(workspace.path('workspace.db'))
  database.exec('create table pending_code (email text, code text)')
  const add = database.prepare('insert into pending_code values (?, 1)')
  for (const email of [ANA, BEN, 'cat@example.com']) add.run(email)
  await workspace.run('users', 'remove', ANA)
  await workspace.run('users', 'rename', BEN, 'new@example.com')
  expect(database.prepare('select email from pending_code').pluck().all()).toEqual(['cat@example.com'])
  database.close()
})

/** All rows of all tables as text. */
async function allRows({ databaseUrl, databasePath }: TestGateway): Promise<string> {
  if (databaseUrl.startsWith('file:')) {
    const database = new Database(databasePath, { readonly: true })
    const names = database.prepare<[], string>(`select name from sqlite_master where type = 'table'`).pluck().all()
    const rows = names.map((name) => JSON.stringify(database.prepare(`select * from "${name}"`).all()))
    database.close()
    return rows.join('\n')
  }
  const tables = await execute(
    databaseUrl,
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'workspace_gateway'`,
  )
  const rows = await Promise.all(
    tables.map(({ name }) => execute(databaseUrl, `select * from workspace_gateway.${name}`)),
  )
  return JSON.stringify(rows)
}

/** Whether an operator's grep would find the marker in the file, in its log or in a file beside it. */
function isInFiles(path: string, marker: string): boolean {
  return ['', '-wal', '-shm', '-journal'].some(
    (end) => existsSync(path + end) && readFileSync(path + end).includes(marker),
  )
}

const REMOVAL = `${JSON.stringify({ kind: 'user', email: ANA, removed: true })}\n`

test.each<[how: string, remove: (gateway: TestGateway) => Promise<unknown>]>([
  ['users remove', async ({ databaseUrl }) => runHere(['users', 'remove', ANA, '--database', databaseUrl])],
  [
    'an import of a removal record',
    async ({ databaseUrl }) => runHere(['import', '-', '--database', databaseUrl], { stdin: REMOVAL }),
  ],
  [
    'POST /import of a removal record',
    async ({ send }) => {
      const { status, text } = await send('POST', '/import', REMOVAL, IMPORT_BEARER)
      return { stderr: status === 200 && text.includes('"type":"imported"') ? '' : text }
    },
  ],
])('what %s removed is in no file of an SQLite database, while a gateway serves it', async (_, remove) => {
  const gateway = await startImporting()
  const path = gateway.databaseUrl.slice('file:'.length)
  const long = (word: string) => `${word.repeat(5_000)}`
  const elements = Array.from({ length: 200 }, (_, n) => `{"n":${n},"text":"ELEMENT-${n}-OF-ANA${long('x')}"}`)
  await gateway.load(
    SMALL_WORLD +
      Array.from({ length: 50 }, (_, n) =>
        documentLine(
          'template',
          n % 2 ? ANA : BEN,
          `{"id":"t${n}","text":"TEMPLATE-OF-${n % 2 ? 'ANA' : 'BEN'}${long('y')}"}`,
        ),
      ).join('') +
      exportLine(ANA, { r: 'site', createdAt: '2026-03-01T00:00:00Z', elements }),
  )
  const { accessToken } = await gateway.login(ANA)
  await gateway.get('/projects', accessToken)
  const markers = ['ELEMENT-17-OF-ANA', 'TEMPLATE-OF-ANA', ANA, 'new.html']
  for (const marker of markers) expect(isInFiles(path, marker), marker).toBe(true)
  expect(await remove(gateway)).toMatchObject({ stderr: '' })
  for (const marker of markers) expect(isInFiles(path, marker), marker).toBe(false)
  expect(isInFiles(path, 'TEMPLATE-OF-BEN')).toBe(true)
})

test('a replacement that removes nothing erases from the files what an interrupted one removed', async () => {
  const gateway = await startImporting()
  const path = gateway.databaseUrl.slice('file:'.length)
  await gateway.load(documentLine('template', ANA, '{"id":"t","text":"GONE-FOR-EVER"}'))
  // Without the last step of a run, which erases.
  expect(await gateway.store.applyChanges([{ type: 'removeDocument', email: ANA, kind: 'template', id: 't' }])).toEqual(
    ['removed'],
  )
  expect(isInFiles(path, 'GONE-FOR-EVER')).toBe(true)
  const again = documentLine('project', ANA, '{"id":"p"}')
  const { text } = await gateway.send('POST', '/import?replace', again, IMPORT_BEARER)
  expect(text).toContain('"type":"imported","added":1,"replaced":0,"unchanged":0,"removed":0')
  expect(isInFiles(path, 'GONE-FOR-EVER')).toBe(false)
})

test('users rename erases from the files the email of a user whom an interrupted run has renamed', async () => {
  const gateway = await startGateway()
  const path = gateway.databaseUrl.slice('file:'.length)
  const [before, after] = ['gone-for-ever@example.com', 'new@example.com']
  await gateway.load(documentLine('template', before, '{"id":"t"}'))
  // Without the last step of a run, which erases.
  await (gateway.store as EditableStore).renameUser(before, after)
  expect(isInFiles(path, before)).toBe(true)
  const again = await runHere(['users', 'rename', before, after, '--database', gateway.databaseUrl])
  expect([again.exitCode, again.stderr]).toEqual([1, `nothing is stored for ${before}\n`])
  expect(isInFiles(path, before)).toBe(false)
})

test.each([
  ['users remove', ['users', 'remove', ANA]],
  ['users rename', ['users', 'rename', ANA, 'new@example.com']],
  ['a removal record', ['import', '-']],
])(
  'after %s no file contains the email that an audit log with clear emails had, while a gateway serves',
  async (_, args) => {
    const path = join(temporaryDirectory(), 'workspace.db')
    const flags = ['--database', `file:${path}`, '--audit-emails', 'clear']
    const serving = await serveForTest(flags)
    using client = createClient(serving.url)
    await runHere(['import', '-', ...flags], { stdin: SMALL_WORLD })
    await client.logout((await requireSession(client, ANA)).refreshToken)
    const audit = async () => (await runHere(['audit', '--database', `file:${path}`])).stdout
    await expect.poll(audit).toMatch(/"kind":"logout".*ana@example\.com/)
    const { exitCode, stderr } = await runHere([...args, ...flags], { stdin: REMOVAL })
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(await audit()).not.toContain(ANA)
    expect(isInFiles(path, ANA)).toBe(false)
  },
)

/** Stages what an import --replace of ana leaves behind when it is killed before its swap. */
async function stageAsKilled(path: string, at: number): Promise<void> {
  await using store = await openTestStore(path)
  await store.beginReplacement('killed', at)
  const stage = {
    type: 'stageExport',
    stage: 's',
    email: ANA,
    ref: 'site',
    createdAt: '',
    instant: '2026',
  } as const
  const text = (word: string) => `"STAGED-${word}${'x'.repeat(5_000)}"`
  const steps = [
    { type: 'stageDocument', email: ANA, kind: 'template', id: 't1', ref: null, text: text('TEMPLATE') },
    stage,
    { type: 'stageElements', stage: 's', position: 1, texts: [text('ELEMENT')] },
  ] as const
  await store.stageReplacement('killed', steps, at)
}

test.each([
  ['users remove', ['users', 'remove', ANA]],
  ['users rename', ['users', 'rename', ANA, 'new@example.com']],
  ['a removal record', ['import', '-']],
])('%s removes what a killed import --replace had staged for the user', async (_, args) => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const path = workspace.path('workspace.db')
  await stageAsKilled(path, Date.now())
  for (const word of ['TEMPLATE', 'ELEMENT']) expect(isInFiles(path, `STAGED-${word}`), word).toBe(true)
  const { exitCode, stderr } = await runHere([...args, ...workspace.flags], { stdin: REMOVAL })
  expect([exitCode, stderr]).toEqual([0, ''])
  for (const word of ['STAGED-TEMPLATE', 'STAGED-ELEMENT', ANA]) expect(isInFiles(path, word), word).toBe(false)
})

test('vacuum, an import and a serving gateway remove what dead imports left behind, once it is old', async () => {
  const path = join(temporaryDirectory(), 'workspace.db')
  const flags = ['--database', `file:${path}`]
  const countStaged = () => {
    const database = new Database(path, { readonly: true })
    const count = database.prepare('select (select count(*) from staged_user) + (select count(*) from replacement)')
    const found = count.pluck().get()
    database.close()
    return found
  }
  await stageAsKilled(path, Date.now())
  await runHere(['vacuum', ...flags])
  expect(countStaged()).toBe(2)
  await runHere(['vacuum', ...flags], { clock: () => Date.now() + 700_000 })
  expect(countStaged()).toBe(0)
  expect(isInFiles(path, 'STAGED-')).toBe(false)
  await stageAsKilled(path, Date.now() - 700_000)
  expect((await runHere(['import', '-', ...flags], { stdin: SMALL_WORLD })).exitCode).toBe(0)
  expect(countStaged()).toBe(0)
  await stageAsKilled(path, Date.now() - 700_000)
  await serveForTest(flags)
  await expect.poll(countStaged).toBe(0)
})

test('vacuum gives unused space back; a file without incremental vacuum needs vacuum --full', async () => {
  const workspace = createWorkspace()
  const path = workspace.path('workspace.db')
  const world = documentLine('template', BEN, '{"id":"t"}')
  const many = Array.from({ length: 400 }, (_, n) =>
    documentLine('template', ANA, `{"id":"t${n}","text":"${'z'.repeat(9_000)}"}`),
  )
  await workspace.load(world + many.join(''))
  expect((await workspace.run('users', 'remove', ANA)).exitCode).toBe(0)
  const { stdout } = await workspace.run('vacuum')
  expect(stdout).toMatch(/^\d\.\d MB before, \d+\.\d kB now\n$/)

  const old = new Database(path)
  old.pragma('auto_vacuum = NONE')
  old.exec('vacuum')
  old.close()
  await workspace.load(many.join(''))
  await workspace.run('users', 'remove', ANA)
  expect((await workspace.run('vacuum')).stdout).toContain('only vacuum --full can return it to the file system')
  expect((await workspace.run('vacuum', '--full')).stdout).toMatch(/kB now\n$/)
  expect(await workspace.dump()).toBe(world)
})
