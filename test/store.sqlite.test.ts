// The SQLite store: the contract of all stores, and what only SQLite does.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { StoreUnavailableError } from '../src/store/contract.ts'
import { type MigratableStore, StoreMovedError } from '../src/store/cutover/contract.ts'
import { fileOf } from '../src/store/open-store.ts'
import type { IntegrityCheck } from '../src/store/sqlite/engine/faults/startup-check.ts'
import { SCHEMA_VERSION } from '../src/store/sqlite/migrations.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import { describeChangedReferences } from './contract/changed-references.ts'
import { describeCutover } from './contract/cutover.ts'
import { describeEdits, type EditsSubject } from './contract/edits.ts'
import { type DatabaseForMoving, describeMoves, MOVE } from './contract/moving.ts'
import { describeNeighbours } from './contract/neighbours.ts'
import { describePages } from './contract/pages.ts'
import { calls } from './contract/rest-calls.ts'
import { describeStore } from './contract/store.ts'
import { ANA, BEN, CODE_RULES, NOW, newSession, put } from './contract/values.ts'
import { countSql } from './contract/workspace-tables.ts'
import { ANA_WORLD } from './support/ana-world.ts'
import { damageTables } from './support/faults.ts'
import { residentBytes } from './support/measurements.ts'
import { DESCRIPTORS, openFiles } from './support/open-files.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

/** Writing 5 to it resets the peak of the resident memory (proc_pid_clear_refs(5)). */
const FORGET_PEAK = '/proc/self/clear_refs'

const OPTIONS = {
  lockTimeoutMs: 5_000,
  onFatal(error: unknown) {
    throw error
  },
}

/** The offset of the number of free pages in the header of a file. */
const FREE_PAGES_AT = 36

/** The offset of the page type of the schema page, right after the header of the file. */
const KIND_OF_PAGE_AT = 100

const open = (path: string): Promise<MigratableStore> => openSqliteStore(path, OPTIONS)

const contentsOf = (...files: readonly string[]): readonly string[] => files.map((file) => readFileSync(file, 'base64'))

describeStore('sqlite', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  return { store: await open(path), reopen: () => open(path) }
})

describePages('sqlite', async () => ({ store: await open(join(temporaryDirectory(), 'store.db')) }))

const moving = async ({ isMoving = false }: DatabaseForMoving = {}) => {
  const path = join(temporaryDirectory(), 'store.db')
  const store = await open(path)
  if (isMoving) await store.beginMove(MOVE)
  return {
    store,
    reopen: () => open(path),
    async hand(sql: string) {
      const database = new Database(path)
      try {
        database.exec(sql)
      } finally {
        database.close()
      }
    },
  }
}

describeMoves('sqlite', moving)
describeCutover('sqlite', moving)

test('a read-only store reads a database as it was before its interrupted transaction, and leaves its files unchanged', async () => {
  const [path, cut] = [join(temporaryDirectory(), 'store.db'), join(temporaryDirectory(), 'cut.db')]
  {
    await using store = await open(path)
    await store.applyChanges([put()])
  }
  const hand = new Database(path)
  hand.pragma('journal_mode = DELETE')
  // So that the changed pages are in the file before the commit.
  hand.pragma('cache_size = 1')
  hand.exec(`begin; update user set email = '${BEN}'; create table filler (bytes blob)`)
  for (let row = 0; row < 50; row += 1) hand.prepare('insert into filler values (randomblob(8000))').run()
  for (const end of ['', '-journal']) copyFileSync(path + end, cut + end)
  hand.exec('rollback')
  hand.close()
  const bytes = () => ['', '-journal'].map((end) => readFileSync(cut + end).toString('base64'))
  const before = bytes()
  {
    await using store = await openSqliteStore(cut, { ...OPTIONS, isReadOnly: true })
    expect(await store.userByEmail(ANA)).not.toBeNull()
    expect(await store.userByEmail(BEN)).toBeNull()
  }
  expect(bytes()).toEqual(before)
})

test('a closed store refuses a snapshot without reporting a fault of the database', async () => {
  const faults: unknown[] = []
  const path = join(temporaryDirectory(), 'store.db')
  const store = await openSqliteStore(path, { ...OPTIONS, onFatal: (error) => faults.push(error) })
  await store[Symbol.asyncDispose]()
  await expect(store.openSnapshot()).rejects.toThrow('the store is closed')
  expect(faults).toEqual([])
})

test('a snapshot whose file cannot be opened, such as with too many open files, is unavailable and not a fatal fault', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await openSqliteStore(path, { ...OPTIONS, onFatal() {} })
  renameSync(path, `${path}.away`)
  await expect(store.openSnapshot()).rejects.toThrow(StoreUnavailableError)
  renameSync(`${path}.away`, path)
  await using _snapshot = await store.openSnapshot()
})

test('a snapshot is not opened on another database that has taken the file name', async () => {
  const [path, other] = [join(temporaryDirectory(), 'store.db'), join(temporaryDirectory(), 'other.db')]
  const faults: unknown[] = []
  await using store = await openSqliteStore(path, { ...OPTIONS, onFatal: (error) => faults.push(error) })
  await store.applyChanges([put()])
  {
    await using another = await open(other)
    await another.applyChanges([put({ email: BEN })])
  }
  const stored = contentsOf(other, `${path}-wal`)
  renameSync(other, path)
  await expect(store.openSnapshot()).rejects.toThrow('gone')
  expect(faults).toEqual([expect.objectContaining({ message: expect.stringContaining('replaced') })])
  // SQLite would have moved the log of the store into the other database, and removed it.
  expect(contentsOf(path, `${path}-wal`)).toEqual(stored)
})

test('a second store of a process refuses another file than the first has open, and leaves it and the log as they are', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await openSqliteStore(path, { ...OPTIONS, onFatal() {} })
  await store.applyChanges([put()])
  const file = fileOf(`file:${path}`)
  {
    await using second = await openSqliteStore(path, { ...OPTIONS, file })
    await second.applyChanges([put({ email: BEN })])
  }
  renameSync(path, `${path}.away`)
  copyFileSync(`${path}.away`, path)
  const before = contentsOf(path, `${path}-wal`)
  await expect(openSqliteStore(path, { ...OPTIONS, file })).rejects.toThrow('was replaced by another file')
  expect(contentsOf(path, `${path}-wal`)).toEqual(before)
})

test('a file too short for a database is not opened with the log beside it', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await openSqliteStore(path, { ...OPTIONS, onFatal() {} })
  await store.applyChanges([put()])
  renameSync(path, `${path}.away`)
  writeFileSync(path, 'of another')
  const before = contentsOf(path, `${path}-wal`)
  for (const isReadOnly of [false, true]) {
    await expect(openSqliteStore(path, { ...OPTIONS, isReadOnly })).rejects.toThrow('belongs to another database')
  }
  expect(contentsOf(path, `${path}-wal`)).toEqual(before)
})

async function openEdits(): Promise<EditsSubject> {
  const path = join(temporaryDirectory(), 'store.db')
  return {
    store: await open(path),
    async countRows() {
      const database = new Database(path, { readonly: true })
      const count = database.prepare(countSql()).pluck().get()
      database.close()
      return Number(count)
    },
    async hand(sql) {
      const database = new Database(path)
      database.exec(sql)
      database.close()
    },
  }
}

describeEdits('sqlite', openEdits)
describeChangedReferences('sqlite', openEdits)
describeNeighbours('sqlite', openEdits)

test('only the owner can access new files, even in a directory that is open to everyone', async () => {
  const directory = temporaryDirectory()
  chmodSync(directory, 0o755)
  const path = join(directory, 'store.db')
  await using _ = await open(path)
  for (const end of ['', '-wal', '-shm']) expect(statSync(path + end).mode & 0o077, end).toBe(0)
})

test('the file is in WAL mode', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  await store.ping()
  const database = new Database(path)
  expect(database.pragma('journal_mode', { simple: true })).toBe('wal')
  database.close()
})

test('every change by hand raises the revision, whatever the statement', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  await store.applyChanges(ANA_WORLD)
  const hand = new Database(path)
  const revision = hand.prepare('select revision from user').pluck()
  const changes = [
    `update document set text = '{"id":"p","x":1}' where kind = 'project'`,
    `insert into document (key, user_id, kind, id, text) values ((1 << 28) | (2 << 26) | 9, 1, 'template', 'n', '{}')`,
    `replace into document (key, user_id, kind, id, text) values ((1 << 28) | (2 << 26) | 9, 1, 'template', 'n', '{"a":1}')`,
    `delete from document where kind = 'template'`,
    `delete from export`,
    `update user set email = 'eve@example.com'`,
  ]
  for (const change of changes) {
    const before = Number(revision.get())
    hand.exec(change)
    expect(Number(revision.get()), change).toBeGreaterThan(before)
  }
  expect(hand.prepare('select count(*) from export_element').pluck().get()).toBe(0)
  hand.close()
})

test('giving a document to another user by hand changes the revision and the state version of both users', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  await store.applyChanges([
    { type: 'putDocument', email: 'ana@example.com', kind: 'template', id: 't', ref: null, text: '{"id":"t"}' },
    { type: 'addUser', email: 'ben@example.com' },
  ])
  const hand = new Database(path)
  const users = hand.prepare<[], { revision: number; stamp: string }>('select revision, stamp from user order by id')
  const before = users.all()
  hand.exec('update document set user_id = 2, key = (2 << 28) | (2 << 26) | 1')
  users.all().forEach(({ revision, stamp }, index) => {
    expect(revision).toBeGreaterThan(before[index]?.revision ?? Number.POSITIVE_INFINITY)
    expect(stamp).not.toBe(before[index]?.stamp)
  })
  hand.close()
})

test('giving a project to another user by hand, with another reference, leaves the exports of the user as they are', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  await store.applyChanges([
    { type: 'putDocument', email: 'ana@example.com', kind: 'project', id: 'p', ref: 'r', text: '{"id":"p"}' },
    { type: 'addUser', email: 'ben@example.com' },
    { type: 'stageExport', stage: 's', email: 'ana@example.com', ref: 'r', createdAt: '', instant: '', now: 0 },
    { type: 'sealExport', stage: 's', digest: 'd', byteLength: 2, elementCount: 0 },
  ])
  const hand = new Database(path)
  hand.exec("update document set user_id = 2, key = (2 << 28) | (1 << 26) | 1, ref = 'other'")
  expect(hand.prepare('select user_id, ref from export').all()).toEqual([{ user_id: 1, ref: 'r' }])
  hand.close()
})

test('a document that an operator’s trigger refuses fails with the message of the trigger, not as a taken reference', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  const project = { type: 'putDocument', email: 'ana@example.com', kind: 'project', id: 'p', ref: 'r' } as const
  await store.applyChanges([{ ...project, text: '1' }])
  const hand = new Database(path)
  hand.exec("create trigger hand before update on document begin select raise(abort, 'not on a Sunday'); end")
  hand.close()
  await expect(store.applyChanges([{ ...project, text: '2' }])).rejects.toThrow('not on a Sunday')
})

test('an export cannot be modified by hand', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  await store.applyChanges(ANA_WORLD)
  const hand = new Database(path)
  for (const change of [
    `update export set digest = 'x'`,
    `update export_element set text = '2'`,
    'delete from export_element',
    `insert into export_element (key, text) values ((1 << 24) | 2, '2')`,
  ]) {
    expect(() => hand.exec(change), change).toThrow(/immutable|staged/)
  }
  hand.close()
})

test('a file of another program or of a newer version is refused and stays as it is', async () => {
  const directory = temporaryDirectory()
  const foreign = join(directory, 'foreign.db')
  const other = new Database(foreign)
  other.exec('create table notes (text)')
  other.close()
  const notes = readFileSync(foreign)
  await expect(open(foreign)).rejects.toThrow('another program')
  expect(readFileSync(foreign).equals(notes)).toBe(true)

  const newer = join(directory, 'newer.db')
  await (await open(newer))[Symbol.asyncDispose]()
  const hand = new Database(newer)
  hand.pragma('user_version = 99')
  hand.close()
  const written = readFileSync(newer)
  await expect(open(newer)).rejects.toThrow('newer version')
  expect(readFileSync(newer).equals(written)).toBe(true)
  expect(readdirSync(directory).toSorted()).toEqual(['foreign.db', 'newer.db'])
})

test.each([false, true])(
  'a readable but inconsistent file is refused by an integrity check and opened without one, read-only: %s',
  async (isReadOnly) => {
    const path = join(temporaryDirectory(), 'store.db')
    await (await open(path))[Symbol.asyncDispose]()
    const openWith = (check: IntegrityCheck) => openSqliteStore(path, { ...OPTIONS, check, isReadOnly })
    for (const check of ['quick', 'full'] as const) await (await openWith(check))[Symbol.asyncDispose]()
    const bytes = readFileSync(path)
    bytes.writeUInt32BE(bytes.readUInt32BE(FREE_PAGES_AT) + 1, FREE_PAGES_AT)
    writeFileSync(path, bytes)
    for (const check of ['quick', 'full'] as const)
      await expect(openWith(check)).rejects.toThrow(`${path} is damaged (Freelist: `)
    await (await openWith('off'))[Symbol.asyncDispose]()
  },
)

test('a damaged file of an earlier version is not migrated before its integrity check', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await (await open(path))[Symbol.asyncDispose]()
  const hand = new Database(path)
  hand.pragma(`user_version = ${SCHEMA_VERSION - 1}`)
  hand.close()
  const bytes = readFileSync(path)
  bytes.writeUInt32BE(bytes.readUInt32BE(FREE_PAGES_AT) + 1, FREE_PAGES_AT)
  writeFileSync(path, bytes)
  await expect(openSqliteStore(path, { ...OPTIONS, check: 'quick' })).rejects.toThrow(`${path} is damaged`)
  expect(readFileSync(path).equals(bytes)).toBe(true)
})

test.each(['quick', 'off'] as const)(
  'an unreadable file is refused with the advice to restore a backup, with the integrity check "%s"',
  async (check) => {
    const path = join(temporaryDirectory(), 'store.db')
    await (await open(path))[Symbol.asyncDispose]()
    const bytes = readFileSync(path)
    bytes[KIND_OF_PAGE_AT] = 0xff
    writeFileSync(path, bytes)
    await expect(openSqliteStore(path, { ...OPTIONS, check })).rejects.toThrow(/is damaged .*Restore a backup/)
  },
)

test.skipIf(!existsSync(DESCRIPTORS))('a file that is not a database is closed again', async () => {
  const path = join(temporaryDirectory(), 'none.db')
  writeFileSync(path, 'this is no database '.repeat(1_000))
  await expect(open(path)).rejects.toThrow()
  expect(openFiles()).not.toContain(realpathSync(path))
})

test.skipIf(!existsSync(DESCRIPTORS))(
  'a store that is closed, or cannot be opened for reading, leaves no file open',
  async () => {
    const directory = realpathSync(temporaryDirectory())
    const store = await open(join(directory, 'store.db'))
    await store.addSigningKey({ kid: 'k', privateJwk: '{}', createdAt: 0 }, null)
    const opened = () => openFiles().filter((file) => file.startsWith(directory))
    expect(opened().length).toBeGreaterThan(0)
    await store[Symbol.asyncDispose]()
    expect(opened()).toEqual([])

    const path = join(directory, 'store.db')
    const reading = () => openSqliteStore(path, { ...OPTIONS, isReadOnly: true })
    await (await reading())[Symbol.asyncDispose]()
    expect(opened()).toEqual([])
    const hand = new Database(path)
    hand.pragma('user_version = 0')
    hand.close()
    await expect(reading()).rejects.toThrow('schema version')
    expect(opened()).toEqual([])
  },
)

test.skipIf(!existsSync(DESCRIPTORS))(
  'a file that lacks a table of its schema is refused, and no file and no timer is left behind',
  async () => {
    const directory = realpathSync(temporaryDirectory())
    const path = join(directory, 'store.db')
    await (await open(path))[Symbol.asyncDispose]()
    const hand = new Database(path)
    hand.exec('alter table outbox rename to elsewhere')
    hand.close()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    await expect(open(path)).rejects.toThrow('no such table: outbox')
    expect(vi.getTimerCount()).toBe(0)
    expect(openFiles().filter((file) => file.startsWith(directory))).toEqual([])
  },
)

test('a file from before incremental vacuum gives back space in pieces only after one rewrite', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await (await open(path))[Symbol.asyncDispose]()
  const hand = new Database(path)
  hand.exec('pragma auto_vacuum = NONE; vacuum')
  hand.close()
  await using store = await open(path)
  const text = 'x'.repeat(6_000_000)
  const fill = () => store.applyChanges([put({ email: BEN, text })])
  await fill()
  await store.removeUsers([BEN])
  const before = await store.space()
  expect(before.byteLength).toBeGreaterThan(text.length)
  expect(before.unusedBytes).toBeGreaterThan(text.length * 0.9)
  expect(before.unusedBytes).toBeLessThan(before.byteLength)
  expect(before.reclaimableBytes).toBe(0)
  expect(await store.reclaimSpace()).toEqual(before)
  await store.rewrite()
  expect(await store.space()).toMatchObject({ unusedBytes: 0, reclaimableBytes: 0 })
  expect((await store.space()).byteLength).toBeLessThan(text.length)
  await fill()
  await store.removeUsers([BEN])
  const after = await store.space()
  expect(after.reclaimableBytes).toBe(after.unusedBytes)
  const less = await store.reclaimSpace()
  expect(less.byteLength).toBeLessThan(after.byteLength)
  // One call does only as much as may be done while others wait for the lock.
  expect(less.unusedBytes).toBeGreaterThan(0)
})

test.skipIf(!existsSync(FORGET_PEAK))('a rewrite does not hold the whole database in memory', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  const hand = new Database(path)
  hand.exec(`pragma synchronous = off; create table filler (bytes blob);
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 128)
    insert into filler select zeroblob(1000000) from n`)
  hand.close()
  const { byteLength } = await store.space()
  expect(byteLength).toBeGreaterThan(128_000_000)
  writeFileSync(FORGET_PEAK, '5')
  const before = residentBytes(process.pid)
  await store.rewrite()
  // The page caches grow too.
  expect(residentBytes(process.pid, 'VmHWM') - before).toBeLessThan(byteLength * 0.75)
})

test('removed data leaves the write-ahead log once nobody reads or writes any more', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  await store.applyChanges([put()])
  const other = new Database(path)
  for (const [begin, end] of [
    ['begin; select 1 from user', 'commit'],
    ['begin immediate', 'rollback'],
  ] as const) {
    await store.applyChanges([put({ text: begin })])
    other.exec(begin)
    expect(await store.flushRemovals(), begin).toBe('inUse')
    other.exec(end)
    expect(await store.flushRemovals(), end).toBe('flushed')
    expect(statSync(`${path}-wal`).size).toBe(0)
  }
  other.close()
})

test('a removed or resealed signing key is in no file of the database, and the other keys are', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  const textOf = (letter: string) => `${letter}${'.'.repeat(20)}`.repeat(10)
  const held = () =>
    ['a', 'b', 'c'].filter((letter) =>
      [path, `${path}-wal`].some((file) => readFileSync(file).includes(textOf(letter).slice(0, 32))),
    )
  await store.addSigningKey({ kid: 'a', privateJwk: textOf('a'), createdAt: 1 }, null)
  await store.addSigningKey({ kid: 'b', privateJwk: textOf('b'), createdAt: 2 }, 'a')
  expect(held()).toEqual(['a', 'b'])
  await store.removeSigningKey('a')
  expect(held()).toEqual(['b'])
  await store.rewriteSigningKeys([{ kid: 'b', privateJwk: textOf('c') }])
  expect(held()).toEqual(['c'])
})

test.each<[name: string, damaged: readonly string[], read: (store: MigratableStore) => unknown]>([
  ['for requests for a code', ['code_request'], (store) => store.decideCodeRequests(CODE_RULES, NOW, 1)],
  [
    'for mails to send',
    ['outbox', 'outbox_due_at'],
    (store) => store.leaseMails({ owner: 'a', leaseMs: 1, limit: 1 }, NOW),
  ],
  ['of statistics', ['session', 'session_idle_expires_at'], (store) => store.statistics(NOW)],
  ['that begins a snapshot', ['user', 'sqlite_autoindex_user_1'], (store) => store.openSnapshot()],
  ['for key texts that stay', ['signing_key'], (store) => store.eraseKeyTraces(['a text'])],
])('a read %s that meets damage ends all writing, and is reported once', async (_name, damaged, read) => {
  const path = join(temporaryDirectory(), 'store.db')
  {
    await using store = await open(path)
    await store.applyChanges([put()])
  }
  damageTables(path, damaged)
  const faults: unknown[] = []
  await using store = await openSqliteStore(path, { ...OPTIONS, onFatal: (error) => faults.push(error) })
  await expect(async () => read(store)).rejects.toThrow(/^the database \S+ is damaged \(.*malformed\)/)
  expect(faults).toEqual([expect.objectContaining({ code: 'SQLITE_CORRUPT' })])
  await expect(async () => read(store)).rejects.toThrow('is damaged')
  expect(faults).toHaveLength(1)
  await expect(store.applyChanges([put({ email: BEN })])).rejects.toThrow('no more writes are accepted')
})

test('a database that has moved is not rewritten', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  await store.beginMove({ id: 'm1', other: 'elsewhere' })
  await store.fenceWrites('m1', 60_000)
  expect(await store.finishMove('m1')).toBe(true)
  await expect(async () => store.rewrite()).rejects.toBeInstanceOf(StoreMovedError)
})

test('eight stores opened at once on a file that does not exist all come up', async () => {
  const path = join(temporaryDirectory(), 'deeper', 'store.db')
  const stores = await Promise.all(Array.from({ length: 8 }, () => open(path)))
  for (const store of stores) await store.ping()
  for (const store of stores) await store[Symbol.asyncDispose]()
})

test('closing a store waits for the writes in flight', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  const store = await open(path)
  const key = { kid: 'k', privateJwk: '{}', createdAt: 0 }
  const adding = store.addSigningKey(key, null)
  await store[Symbol.asyncDispose]()
  await adding
  await using again = await open(path)
  expect(await again.signingKeys()).toEqual([key])
})

test('a write that cannot get the lock in time is refused as unavailable, and the next one works', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await openSqliteStore(path, { ...OPTIONS, lockTimeoutMs: 20 })
  const hand = new Database(path)
  hand.exec('begin immediate')
  const key = { kid: 'k', privateJwk: '{}', createdAt: 0 }
  await expect(store.addSigningKey(key, null)).rejects.toThrow('holds the database locked')
  hand.exec('rollback')
  hand.close()
  await store.addSigningKey(key, null)
  expect(await store.signingKeys()).toEqual([key])
})

test('opening a store waits for a locked database, but no longer than the lock timeout', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  const hand = new Database(path)
  // As another gateway does while it creates the database.
  hand.exec('begin exclusive')
  await expect(openSqliteStore(path, { ...OPTIONS, lockTimeoutMs: 20 })).rejects.toThrow('holds the database locked')
  const opening = openSqliteStore(path, { ...OPTIONS, lockTimeoutMs: 60_000 })
  await new Promise((resolve) => setImmediate(resolve))
  hand.exec('rollback')
  hand.close()
  await using store = await opening
  await store.ping()
})

test.skipIf(!existsSync(DESCRIPTORS))('a database that is replaced while it is being opened is not used', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  const hand = new Database(path)
  hand.pragma('journal_mode = WAL')
  copyFileSync(path, `${path}.other`)
  // The store opens the file, and waits for this transaction before it creates its tables.
  hand.exec('begin immediate')
  const descriptors = () => openFiles().filter((file) => file === realpathSync(path)).length
  const before = descriptors()
  const onFatal = vi.fn()
  const opening = openSqliteStore(path, { lockTimeoutMs: 60_000, onFatal })
  await vi.waitFor(() => expect(descriptors()).toBeGreaterThan(before))
  renameSync(`${path}.other`, path)
  hand.exec('rollback')
  await expect(opening).rejects.toThrow('was replaced by another file')
  expect(onFatal).not.toHaveBeenCalled()
  hand.close()
})

test('reads in one turn of the event loop see one state, and reads in the next turn see what was committed meanwhile', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  const other = new Database(path)
  const emails = async () => (await store.usersAfter('', 9)).map(({ email }) => email)
  const nobody = emails()
  other.exec("insert into user (email) values ('ana@example.com')")
  const stillNobody = emails()
  await new Promise((resolve) => setImmediate(resolve))
  const one = emails()
  other.close()
  expect([await nobody, await stillNobody, await one]).toEqual([[], [], ['ana@example.com']])
})

test('reads that decide, copy, count or report see the current state, even in a turn that has read before', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  const session = newSession({ email: BEN })
  await store.addSessions([session])
  await store.applyChanges([put()])
  await store.addRestCalls({ writer: 'w', sequence: 1, calls: [calls()] })
  const asked: readonly (readonly [change: string, read: () => unknown, found: unknown])[] = [
    [
      "insert into known_network values ('k', 'a', 1)",
      () => store.carriedRows('known_network', ['k']),
      [['k', 'a', 1]],
    ],
    ['delete from known_network', () => store.carriedRowsAfter('known_network', '', 10), []],
    ["insert into user (id, email) values (7, 'ben@example.com')", () => store.lastIds(), { user: 7 }],
    [
      "update user set email = 'eve@example.com' where id = 7",
      () => store.holdingsOf(['eve@example.com']),
      [{ email: 'eve@example.com' }],
    ],
    [
      "update user set email = 'fay@example.com' where id = 7",
      () => store.usersById([7]),
      [{ email: 'fay@example.com' }],
    ],
    ["update document set ref = 'other'", () => store.projectIdsByRef([{ email: ANA, ref: 'other' }]), ['p']],
    ["update move set phase = 'filled'", () => store.moveState(), { phase: 'filled' }],
    [
      "update session set email = 'a@example.com'",
      () => store.liveSessions([session.id], NOW),
      [{ email: 'a@example.com' }],
    ],
    [
      "update session set email = 'b@example.com'",
      () => store.sessionsById([session.id]),
      [{ email: 'b@example.com' }],
    ],
    ["update session set email = 'c@example.com'", () => store.sessionsAfter('', 9), [{ email: 'c@example.com' }]],
    [
      "update session set email = 'd@example.com'",
      () => store.sessionsOf('d@example.com', NOW, 9),
      [{ id: session.id }],
    ],
    ["update audit_salt set salt = 'new'", () => store.auditSalt(), 'new'],
    [
      "insert into audit_entry values (9, 1, 'sign-in', 'accepted', 'w', 'n', '', 1)",
      () => store.auditEntries({ from: null, to: null, kind: null, who: null }, 0, 9),
      [{ id: 9 }],
    ],
    ["update rest_call set day = '2001-01-01'", () => store.restCallDays('', 9), ['2001-01-01']],
    ["update rest_call set day = '2002-02-02'", () => store.restCallsOf(['2002-02-02']), [{ day: '2002-02-02' }]],
  ]
  const other = new Database(path)
  // All in one turn of the event loop, in which other reads see one state.
  const answers = asked.map(([change, read]) => {
    other.exec(change)
    return read()
  })
  other.close()
  for (const [index, [change, , found]] of asked.entries())
    expect([await answers[index]], change).toMatchObject([found])
})

test('a ping writes nothing when nothing has failed', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  const other = new Database(path)
  const version = () => other.pragma('data_version', { simple: true })
  const before = version()
  await store.ping()
  await store.ping()
  expect(version()).toBe(before)
  other.close()
})

test('a closed store stops watching its files', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const store = await open(join(temporaryDirectory(), 'store.db'))
  expect(vi.getTimerCount()).toBe(1)
  await store[Symbol.asyncDispose]()
  expect(vi.getTimerCount()).toBe(0)
})

test('a store notices that its database was deleted, even when nobody uses the store', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  const failed = Promise.withResolvers<unknown>()
  await using store = await openSqliteStore(path, { ...OPTIONS, onFatal: failed.resolve })
  rmSync(path)
  expect(String(await failed.promise)).toContain('was deleted')
  await expect(store.ping()).rejects.toThrow()
})
