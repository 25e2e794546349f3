// Tests what restore does with files beside a database: the log of the one it reads, and the log of the one it
// replaces.
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { expect, test } from 'vitest'
import { ownLike } from '../../src/store/sqlite/engine/files/own-like.ts'
import { runHere, serveForTest } from '../support/command-line.ts'
import { postJson } from '../support/gateway.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { SERVER_USER } from '../support/postgres-server.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const changed = documentLine('project', ANA, '{"id":"p2","ref":"app","name":"changed"}')

/** Returns a copy of the folder of a killed gateway, as `cp -a` makes it, and what is stored in it. */
async function killedGateway() {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const serving = await serveForTest(workspace.flags)
  await workspace.load(changed)
  expect((await postJson(`${serving.url}/login`, { email: ANA })).status).toBe(200)
  await serving.kill('SIGKILL')
  const folder = join(temporaryDirectory(), 'copied')
  cpSync(workspace.directory, folder, { recursive: true })
  return { path: join(folder, 'workspace.db'), folder, stored: await workspace.dump() }
}

const contentsOf = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString('base64')]))

test('restore includes what is only in the log of the restored file, and does not change its folder', async () => {
  const { path, folder, stored } = await killedGateway()
  const before = contentsOf(folder)
  expect(before['workspace.db-wal']).not.toBe('')
  expect(stored).toContain('changed')
  const link = join(temporaryDirectory(), 'link.db')
  symlinkSync(path, link)
  // Whoever could read the backup, the signing keys of a database are its owner's alone.
  chmodSync(path, 0o644)
  for (const file of [path, link]) {
    const restored = createWorkspace()
    expect(await restored.run('restore', file)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(statSync(restored.path('workspace.db')).mode & 0o777).toBe(0o600)
    expect(await restored.dump()).toBe(stored)
    expect(readdirSync(restored.directory).filter((name) => name.includes('.part'))).toEqual([])
    expect(contentsOf(folder)).toEqual(before)
  }
})

test('a backup that was made during a move is restored as a database that takes no part in the move', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const open = (name: string) => openTestStore(workspace.path(name))
  await using moving = await open('workspace.db')
  expect(await moving.beginMove({ id: 'a move', other: 'another database' })).toBe(true)
  const backup = workspace.path('backup.db')
  expect((await workspace.run('backup', backup)).exitCode).toBe(0)
  const restored = ['--database', `file:${workspace.path('restored.db')}`]
  expect((await runHere(['restore', backup, ...restored])).exitCode).toBe(0)
  await using store = await open('restored.db')
  expect((await store.moveState()).phase).toBe('live')
  expect((await moving.moveState()).phase).not.toBe('live')
})

test('restore refuses a backup beside the log of another database until that log is moved away', async () => {
  const { path, stored } = await killedGateway()
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const before = await workspace.dump()
  expect(before).not.toBe(stored)
  const backup = workspace.path('backup.db')
  expect(await workspace.run('backup', backup)).toMatchObject({ exitCode: 0 })
  cpSync(`${path}-wal`, `${backup}-wal`)
  await workspace.load(changed)
  const { exitCode, stderr } = await workspace.run('restore', backup)
  expect([exitCode, stderr]).toEqual([
    2,
    `${backup}-wal is not a write-ahead log of ${backup}: move it away, then restore\n`,
  ])
  expect(existsSync(`${backup}-wal`)).toBe(true)
  expect(await workspace.dump()).toContain('changed')
  expect(readdirSync(workspace.directory).filter((name) => /part|before/.test(name))).toEqual([])
})

/** Makes a workspace with a backup, and returns what the backup holds. */
async function backedUp(clock = Date.now) {
  const workspace = createWorkspace((args, options) => runHere(args, { ...options, clock }))
  await workspace.load(SMALL_WORLD)
  const stored = await workspace.dump()
  const backup = workspace.path('backup.db')
  expect(await workspace.run('backup', backup)).toMatchObject({ exitCode: 0 })
  const restoreTo = (path: string) => runHere(['restore', backup, '--database', `file:${path}`], { clock })
  return { ...workspace, stored, backup, restoreTo }
}

test('restore replaces the database behind a link, and the link stays', async () => {
  let now = Date.UTC(2026, 0, 1)
  const { path, load, dump, stored, restoreTo } = await backedUp(() => (now += 1_000))
  await load(changed)
  const folder = temporaryDirectory()
  const [link, second] = [join(folder, 'link.db'), join(folder, 'second.db')]
  symlinkSync(path('workspace.db'), link)
  symlinkSync('link.db', second)
  for (const name of [link, second]) {
    await load(changed)
    expect(await restoreTo(name)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(lstatSync(name).isSymbolicLink()).toBe(true)
    expect(await dump()).toBe(stored)
  }
  expect(readdirSync(folder).toSorted()).toEqual(['link.db', 'second.db'])
})

test.each(['file', 'stream'])('restoring a %s onto a folder says that it is a folder', async (kind) => {
  const { backup, run, write } = await backedUp()
  const source = kind === 'file' ? backup : write('lines.backup', (await run('backup', '-')).stdout)
  const folder = temporaryDirectory()
  const { exitCode, stdout, stderr } = await runHere(['restore', source, '--database', `file:${folder}`])
  expect([exitCode, stdout, stderr]).toEqual([2, '', `cannot write ${folder}: it is a folder, so name a file in it\n`])
  expect(readdirSync(folder)).toEqual([])
})

test('restore follows a link to a missing file, and refuses a circular link', async () => {
  const { path, stored, restoreTo } = await backedUp()
  const folder = temporaryDirectory()
  const [link, circle] = [join(folder, 'link.db'), join(folder, 'circle.db')]
  symlinkSync(path('new.db'), link)
  symlinkSync(circle, circle)
  expect(await restoreTo(link)).toMatchObject({ exitCode: 0, stderr: '' })
  expect((await runHere(['dump', '--database', `file:${path('new.db')}`])).stdout).toBe(stored)
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  const refused = await restoreTo(circle)
  expect([refused.exitCode, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/^cannot write .*circle\.db: ELOOP.*\n$/),
  ])
})

test('restore says when no digest is beside a backup, because a changed byte in it goes unnoticed then', async () => {
  const { path, backup, stored, restoreTo } = await backedUp()
  expect((await restoreTo(path('compared.db'))).stdout).not.toContain('sha256')
  const bytes = readFileSync(backup)
  bytes.write('l', bytes.indexOf('Landing'))
  writeFileSync(backup, bytes)
  expect(await restoreTo(path('refused.db'))).toMatchObject({ exitCode: 2 })
  rmSync(`${backup}.sha256`)
  expect(await restoreTo(path('restored.db'))).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(`there was no ${backup}.sha256: `),
  })
  const dumped = await runHere(['dump', '--database', `file:${path('restored.db')}`])
  expect(dumped.stdout).toBe(stored.replace('Landing', 'landing'))
})

test('restore keeps what was there under a name of its own, however often it runs within a second', async () => {
  const { path, load, stored, restoreTo, directory } = await backedUp(() => Date.UTC(2026, 0, 1, 2, 0, 7))
  for (const end of ['', '-2', '-3']) {
    await load(changed)
    const { exitCode, stdout, stderr } = await restoreTo(path('workspace.db'))
    const kept = `workspace.db.before-20260101T020007Z${end}`
    expect([exitCode, stderr, stdout]).toEqual([
      0,
      '',
      expect.stringContaining(`what was there before is ${path(kept)}\n`),
    ])
    expect((await runHere(['dump', '--database', `file:${path(kept)}`])).stdout).toContain('changed')
    expect((await runHere(['dump', '--database', `file:${path('workspace.db')}`])).stdout).toBe(stored)
  }
  expect(readdirSync(directory).filter((name) => name.includes('before')).length).toBe(3)
})

test('restore does not replace a database that it cannot keep, and says why', async () => {
  const { path, stored, restoreTo } = await backedUp()
  // With the suffix of a kept database, this name is longer than a name can be.
  const long = path(`${'x'.repeat(232)}`)
  cpSync(path('workspace.db'), long)
  const { exitCode, stderr } = await restoreTo(long)
  expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^cannot keep .*ENAMETOOLONG.*\n$/)])
  expect((await runHere(['dump', '--database', `file:${long}`])).stdout).toBe(stored)
})

test.each(['deleted', 'emptied'])(
  'restore keeps the log of a database that was %s beside the restored one',
  async (how) => {
    const { path, load, flags, dump, stored, restoreTo } = await backedUp(() => Date.UTC(2026, 0, 1, 2, 0, 7))
    const serving = await serveForTest(flags)
    await load(changed)
    await serving.kill('SIGKILL')
    const log = readFileSync(path('workspace.db-wal'))
    expect(log.length).toBeGreaterThan(0)
    if (how === 'deleted') rmSync(path('workspace.db'))
    else truncateSync(path('workspace.db'))
    const { exitCode, stdout, stderr } = await restoreTo(path('workspace.db'))
    const kept = path('workspace.db.before-20260101T020007Z-wal')
    expect([exitCode, stderr, stdout]).toEqual([0, '', expect.stringContaining(`what was there before is ${kept}\n`)])
    expect(readFileSync(kept).equals(log)).toBe(true)
    expect(await dump()).toBe(stored)
  },
)

/** Returns the rollback journal of a transaction on another database that was interrupted while it wrote. */
function interruptedJournal(): Buffer {
  const path = join(temporaryDirectory(), 'other.db')
  const database = new SqliteDatabase(path)
  try {
    database.exec(`create table filler (text); insert into filler
      with recursive one (n) as (values (1) union all select n + 1 from one limit 200) select zeroblob(4000) from one`)
    // With a cache of one page, SQLite writes changed pages to the file before the commit, and the journal before them.
    database.pragma('cache_size = 1')
    database.exec('begin; create table second (text); update filler set text = randomblob(4000)')
    return readFileSync(`${path}-journal`)
  } finally {
    database.close()
  }
}

test('restore keeps the rollback journal of a deleted database, and does not apply it', async () => {
  const { path, dump, stored, restoreTo } = await backedUp(() => Date.UTC(2026, 0, 1, 2, 0, 7))
  const journal = interruptedJournal()
  rmSync(path('workspace.db'))
  writeFileSync(path('workspace.db-journal'), journal)
  const { exitCode, stdout, stderr } = await restoreTo(path('workspace.db'))
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(await dump()).toBe(stored)
  const kept = path('workspace.db.before-20260101T020007Z-journal')
  expect(stdout).toContain(`what was there before is ${kept}\n`)
  expect(readFileSync(kept).equals(journal)).toBe(true)
})

test('a rollback journal of an emptied or deleted database is not applied to a restored or a new one', async () => {
  const { path, load, dump, stored, restoreTo } = await backedUp()
  await load(changed)
  const journal = interruptedJournal()
  truncateSync(path('workspace.db'))
  writeFileSync(path('workspace.db-journal'), journal)
  expect(await restoreTo(path('workspace.db'))).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await dump()).toBe(stored)
  rmSync(path('workspace.db'))
  writeFileSync(path('workspace.db-journal'), journal)
  await load(SMALL_WORLD)
  expect(await dump()).toBe(stored)
})

test('restore leaves the log of an emptied database in place while a process has it open', async () => {
  const { path, load, flags, restoreTo } = await backedUp()
  const serving = await serveForTest(flags)
  await load(changed)
  serving.process.kill('SIGSTOP')
  const log = readFileSync(path('workspace.db-wal'))
  truncateSync(path('workspace.db'))
  expect(await restoreTo(path('workspace.db'))).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('in use'),
  })
  expect(readFileSync(path('workspace.db-wal')).equals(log)).toBe(true)
  expect(statSync(path('workspace.db')).size).toBe(0)
})

const engines = [
  ['sqlite', async () => undefined] as const,
  ...(POSTGRES_URL === null ? [] : [['postgres', temporaryDatabase] as const]),
]

test.each(engines)(
  'restore on %s records itself in the audit log, and whether sessions were kept',
  async (_, database) => {
    const workspace = createWorkspace(runHere, await database())
    await workspace.load(SMALL_WORLD)
    const backup = workspace.path('backup.file')
    expect(await workspace.run('backup', backup)).toMatchObject({ exitCode: 0 })
    const at = Date.UTC(2026, 0, 1)
    const restored = createWorkspace(
      (args, options) => runHere(args, { ...options, clock: () => at }),
      await database(),
    )
    const entries = async () => (await restored.run('audit')).stdout
    const options = database === temporaryDatabase ? ['--keep-sessions'] : []
    expect(await restored.run('restore', backup, ...options)).toMatchObject({ exitCode: 0, stderr: '' })
    const detail = options.length > 0 ? 'sessions kept' : 'all sessions ended'
    const entry = { at: '2026-01-01T00:00:00.000Z', kind: 'restore', result: 'done', detail }
    expect(JSON.parse((await entries()).trimEnd().split('\n').at(-1) ?? '')).toEqual(entry)
  },
)

/** Only root may give a file to another user. */
const isRoot = process.getuid?.() === 0
if (!isRoot) console.warn('skipped: whom files that root makes belong to, since the tests are not root')

test.skipIf(!isRoot)('files that root makes belong to the owner of what they replace, or of their folder', async () => {
  const workspace = createWorkspace()
  const { path } = workspace
  await workspace.load(SMALL_WORLD)
  const backup = path('backup')
  expect((await workspace.run('backup', backup)).exitCode).toBe(0)
  const { uid = -1, gid = -1 } = SERVER_USER
  const ownerOf = (name: string) => [statSync(name).uid, statSync(name).gid]
  chownSync(path('workspace.db'), uid, gid)
  expect((await workspace.run('restore', backup)).exitCode).toBe(0)
  expect(ownerOf(path('workspace.db'))).toEqual([uid, gid])
  const folder = path('service')
  mkdirSync(folder)
  chownSync(folder, uid, gid)
  for (const command of [
    ['restore', backup] as const,
    ['import', workspace.write('world.ndjson', SMALL_WORLD)] as const,
  ]) {
    const made = join(folder, 'below', `${command[0]}.db`)
    expect((await runHere([...command, '--database', `file:${made}`])).exitCode).toBe(0)
    expect([join(folder, 'below'), made].map(ownerOf)).toEqual([
      [uid, gid],
      [uid, gid],
    ])
  }
})

test.skipIf(!isRoot)('ownLike changes the owner of a link, not of the file that it points to', () => {
  const directory = temporaryDirectory()
  const [secret, link, folder] = ['secret', 'link', 'folder'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(secret, '')
  symlinkSync(secret, link)
  mkdirSync(folder)
  const { uid = -1, gid = -1 } = SERVER_USER
  chownSync(folder, uid, gid)
  ownLike(link, folder)
  expect([statSync(secret).uid, lstatSync(link).uid]).toEqual([0, uid])
})
