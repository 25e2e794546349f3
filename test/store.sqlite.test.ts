import {
  chmodSync,
  existsSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type MigratableStore, StoreMovedError } from '../src/store/cutover/contract.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import { describeEdits } from './contract/edits.ts'
import { describeMoves } from './contract/moving.ts'
import { describePages } from './contract/pages.ts'
import { describeStore } from './contract/store.ts'
import { countSql } from './contract/workspace-tables.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const OPTIONS = {
  lockTimeoutMs: 5_000,
  onFatal(error: unknown) {
    throw error
  },
}

/** Of this process, where the system tells. */
const DESCRIPTORS = '/proc/self/fd'

function openFiles(): readonly string[] {
  return readdirSync(DESCRIPTORS).flatMap((name) => {
    try {
      return readlinkSync(join(DESCRIPTORS, name))
    } catch {
      // The one that the listing itself was read with.
      return []
    }
  })
}

const open = (path: string): Promise<MigratableStore> => openSqliteStore(path, OPTIONS)

describeStore('sqlite', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  return { store: await open(path), reopen: () => open(path) }
})

describePages('sqlite', async () => ({ store: await open(join(temporaryDirectory(), 'store.db')) }))

describeMoves('sqlite', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  return {
    store: await open(path),
    reopen: () => open(path),
    async hand(sql) {
      const database = new Database(path)
      try {
        database.exec(sql)
      } finally {
        database.close()
      }
    },
  }
})

describeEdits('sqlite', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  return {
    store: await open(path),
    async countRows() {
      const database = new Database(path, { readonly: true })
      const count = database.prepare(countSql()).pluck().get()
      database.close()
      return Number(count)
    },
  }
})

test('new files are their owner’s alone, in a directory for everyone too', async () => {
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

test('a hand in the shell moves the revision with every change, however it is made', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  await store.applyChanges([
    { type: 'putDocument', email: 'ana@example.com', kind: 'project', id: 'p', ref: 'r', text: '{"id":"p"}' },
    { type: 'putDocument', email: 'ana@example.com', kind: 'template', id: 't', ref: null, text: '{"id":"t"}' },
    { type: 'stageExport', stage: 's', email: 'ana@example.com', ref: 'r', createdAt: '', instant: '', now: 0 },
    { type: 'stageElements', stage: 's', position: 1, texts: ['1'], now: 0 },
    { type: 'sealExport', stage: 's', digest: 'd', byteLength: 3, elementCount: 1 },
  ])
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

test('a hand that gives a document to another user moves the revision of both', async () => {
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

test('an export is immutable for a hand in the shell too', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  await store.applyChanges([
    { type: 'stageExport', stage: 's', email: 'ana@example.com', ref: 'r', createdAt: '', instant: '', now: 0 },
    { type: 'stageElements', stage: 's', position: 1, texts: ['1'], now: 0 },
    { type: 'sealExport', stage: 's', digest: 'd', byteLength: 3, elementCount: 1 },
  ])
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

test('a file of another program, or of a newer version, is refused and left as it is', async () => {
  const directory = temporaryDirectory()
  const foreign = join(directory, 'foreign.db')
  const other = new Database(foreign)
  other.exec('create table notes (text)')
  other.close()
  await expect(open(foreign)).rejects.toThrow('another program')

  const newer = join(directory, 'newer.db')
  await (await open(newer))[Symbol.asyncDispose]()
  const hand = new Database(newer)
  hand.pragma('user_version = 99')
  hand.close()
  await expect(open(newer)).rejects.toThrow('newer version')
})

test.skipIf(!existsSync(DESCRIPTORS))('a file that cannot be used is closed again', async () => {
  const path = join(temporaryDirectory(), 'none.db')
  writeFileSync(path, 'this is no database '.repeat(1_000))
  await expect(open(path)).rejects.toThrow()
  expect(openFiles()).not.toContain(realpathSync(path))
})

test.skipIf(!existsSync(DESCRIPTORS))('a store that is closed leaves no file open', async () => {
  const directory = realpathSync(temporaryDirectory())
  const store = await open(join(directory, 'store.db'))
  await store.addSigningKey({ kid: 'k', privateJwk: '{}', createdAt: 0 }, null)
  const opened = () => openFiles().filter((file) => file.startsWith(directory))
  expect(opened().length).toBeGreaterThan(0)
  await store[Symbol.asyncDispose]()
  expect(opened()).toEqual([])
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

test('closing waits for the writes that are under way', async () => {
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

test('a database that another process holds locked is waited for at a start, and not for longer than it may take', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await (await open(path))[Symbol.asyncDispose]()
  const hand = new Database(path)
  hand.exec('begin immediate')
  await expect(openSqliteStore(path, { ...OPTIONS, lockTimeoutMs: 20 })).rejects.toThrow('holds the database locked')
  const opening = openSqliteStore(path, { ...OPTIONS, lockTimeoutMs: 60_000 })
  await new Promise((resolve) => setImmediate(resolve))
  hand.exec('rollback')
  hand.close()
  await using store = await opening
  await store.ping()
})

test('what a move carries over, or a removal takes, is read as it is now, also in a turn that read before', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  await using store = await open(path)
  await store.carriedRowsAfter('known_network', '', 10)
  const other = new Database(path)
  // All in one turn of the event loop: its reads see one state otherwise.
  const insert = other.prepare("insert into known_network (key, address_key, seen_at) values (?, 'a', 1)")
  const none = store.carriedRowsAfter('known_network', '', 10)
  insert.run('k')
  const one = store.carriedRows('known_network', ['k'])
  insert.run('l')
  const all = store.carriedRowsAfter('known_network', '', 10)
  other.exec("insert into user (email) values ('ana@example.com')")
  const lastIds = store.lastIds()
  other.exec("insert into user (email) values ('ben@example.com')")
  const held = store.holdingsOf(['ben@example.com'])
  other.close()
  expect(await none).toEqual([])
  expect(await one).toEqual([['k', 'a', 1]])
  expect(await lastIds).toMatchObject({ user: 1 })
  expect(await held).toMatchObject([{ email: 'ben@example.com' }])
  expect(await all).toEqual([
    ['k', 'a', 1],
    ['l', 'a', 1],
  ])
})

test('a database that is deleted is noticed while nothing is asked of the store', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  const failed = Promise.withResolvers<unknown>()
  await using store = await openSqliteStore(path, { ...OPTIONS, onFatal: failed.resolve })
  rmSync(path)
  expect(String(await failed.promise)).toContain('was deleted')
  await expect(store.ping()).rejects.toThrow()
})
