// Tests that deleted texts are in no file of the database any more, whatever SQLite left of them and wherever they
// were.
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { createEraseTraces } from '../../src/store/sqlite/access/erase-traces.ts'
import { createFaultLatch } from '../../src/store/sqlite/engine/faults/fault-latch.ts'
import type { GroupCommit } from '../../src/store/sqlite/engine/group-commit.ts'
import { createSpace } from '../../src/store/sqlite/space.ts'
import { DESCRIPTORS, openFiles } from '../support/open-files.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const SECRET = 'a secret of some sixty-four characters, which nobody else writes'
const READ_BYTES = 1_048_576

function open(lockTimeoutMs = 5_000) {
  const path = join(temporaryDirectory(), 'traces.db')
  const closing = new DisposableStack()
  onTestFinished(() => closing.dispose())
  const connect = () => closing.adopt(new Database(path, { timeout: 0 }), (database) => database.close())
  const writer = connect()
  writer.pragma('journal_mode = WAL')
  // SQLite's default: a deleted text stays in its page.
  writer.pragma('secure_delete = OFF')
  writer.exec('create table secret (text)')
  const holds = (text: string) => [path, `${path}-wal`].some((file) => readFileSync(file).includes(text))
  return { path, connect, writer, holds, erase: createEraseTraces(writer, path, lockTimeoutMs) }
}

test.each([0, 100, 350, 600])('a deleted text is erased behind %d other rows', async (rows) => {
  const { writer, holds, erase } = open()
  const insert = writer.prepare('insert into secret values (?)')
  for (let row = 0; row < rows; row += 1) insert.run('x'.repeat(3_500))
  insert.run(SECRET)
  writer.exec(`delete from secret where text = '${SECRET}'`)
  expect(holds(SECRET)).toBe(true)
  await erase([SECRET], ['another text'])
  for (const piece of [SECRET.slice(0, 32), SECRET.slice(32)]) expect(holds(piece)).toBe(false)
  expect(writer.prepare('select count(*) from secret').pluck().get()).toBe(rows)
})

test('a text is found across several reads of a large file', async () => {
  const { writer, holds, erase, path } = open()
  const insert = writer.prepare('insert into secret values (?)')
  for (let row = 0; row < 1_000; row += 1) insert.run('x'.repeat(3_500))
  insert.run(SECRET.repeat(60))
  writer.exec(`delete from secret where text like 'a secret%'`)
  writer.pragma('wal_checkpoint(TRUNCATE)')
  expect(statSync(path).size).toBeGreaterThan(2 * READ_BYTES)
  expect(holds(SECRET)).toBe(true)
  await erase([SECRET], [])
  expect(holds(SECRET.slice(0, 32))).toBe(false)
})

test('a piece of a text is found at any place, including the edges of one read', async () => {
  const { writer } = open()
  // Every VACUUM increases it, and only a find leads to a VACUUM.
  const version = () => writer.pragma('schema_version', { simple: true })
  const directory = temporaryDirectory()
  for (const at of [0, READ_BYTES - 32, READ_BYTES - 16, READ_BYTES, 2 * READ_BYTES - 1]) {
    const file = join(directory, `${at}`)
    const before = version()
    writeFileSync(file, Buffer.alloc(3 * READ_BYTES))
    await createEraseTraces(writer, file, 5_000)([SECRET], [])
    expect(version(), 'nothing is there').toBe(before)
    const bytes = Buffer.alloc(3 * READ_BYTES)
    bytes.write(SECRET.slice(0, 32), at)
    writeFileSync(file, bytes)
    await createEraseTraces(writer, file, 5_000)([SECRET], [])
    expect(version(), `${at}`).not.toBe(before)
  }
})

test.skipIf(!existsSync(DESCRIPTORS))(
  'the log is closed after a search; the database file stays open, because closing it would drop its locks',
  async () => {
    const { writer } = open()
    const file = join(realpathSync(temporaryDirectory()), 'file')
    for (const name of [file, `${file}-wal`]) writeFileSync(name, 'nothing of it')
    const erase = createEraseTraces(writer, file, 5_000)
    for (let time = 0; time < 3; time += 1) await erase([SECRET], [])
    expect(openFiles().filter((name) => name.startsWith(file))).toEqual([file])
  },
)

test('the rest of a text is searched for if others still have a part of it', async () => {
  const { writer, holds, erase } = open()
  writer.prepare('insert into secret values (?)').run(SECRET)
  writer.exec('delete from secret')
  writer.pragma('wal_checkpoint(TRUNCATE)')
  expect(holds(SECRET.slice(32, 64))).toBe(true)
  await erase([SECRET], [SECRET.slice(0, 40)])
  expect(holds(SECRET.slice(32, 64))).toBe(false)
})

test('nothing is rewritten for texts that others still have, or that are too short to be distinguished', async () => {
  const { writer, erase, path } = open()
  writer.prepare('insert into secret values (?)').run(SECRET)
  const before = statSync(`${path}-wal`).size
  await erase([SECRET], [`${SECRET} and more`])
  await erase([SECRET.slice(0, 31)], [])
  await erase([], [])
  expect(statSync(`${path}-wal`).size).toBe(before)
  await erase([SECRET.slice(0, 32)], [])
  expect(statSync(`${path}-wal`).size).toBe(0)
})

test('the file is not rewritten if emptying the log is enough', async () => {
  const { writer, holds, erase } = open()
  writer.pragma('secure_delete = ON')
  writer.prepare('insert into secret values (?)').run(SECRET)
  writer.exec('delete from secret')
  expect(holds(SECRET)).toBe(true)
  // Every VACUUM increases it.
  const version = () => writer.pragma('schema_version', { simple: true })
  const before = version()
  await erase([SECRET], [])
  expect(holds(SECRET)).toBe(false)
  expect(version()).toBe(before)
})

test('a rewrite waits for a transaction that began just before it, but no longer than for a lock', async () => {
  for (const lockTimeoutMs of [60_000, 50]) {
    const { path, writer, connect, holds } = open(lockTimeoutMs)
    writer.prepare('insert into secret values (?)').run(SECRET)
    writer.exec('delete from secret')
    const other = connect()
    // Between the two steps: the log is empty, and another connection takes the lock.
    const raced = {
      pragma(...asked: Parameters<Database.Database['pragma']>) {
        const answer = writer.pragma(...asked)
        if (asked[0].startsWith('wal_checkpoint') && holds(SECRET)) other.exec('begin immediate')
        return answer
      },
      exec: (sql: string) => writer.exec(sql),
    }
    const erasing = createEraseTraces(raced as Database.Database, path, lockTimeoutMs)([SECRET], [])
    if (lockTimeoutMs < 1_000) {
      await expect(erasing).rejects.toThrow(StoreUnavailableError)
      continue
    }
    expect(other.inTransaction).toBe(true)
    await yieldTurn()
    other.exec('rollback')
    await erasing
    expect(holds(SECRET)).toBe(false)
  }
})

test('rewriting a whole database waits for other writers, but no longer than for a lock', async () => {
  for (const lockTimeoutMs of [60_000, 50]) {
    const { writer, connect } = open(lockTimeoutMs)
    const other = connect()
    const commits = {
      async write<T>(write: () => T): Promise<T> {
        const answer = write()
        other.exec('begin immediate')
        return answer
      },
    }
    const faults = createFaultLatch('traces.db', () => {})
    const { rewrite } = createSpace(writer, commits as GroupCommit, { faults, lockTimeoutMs })
    const version = () => writer.pragma('schema_version', { simple: true })
    const before = version()
    const rewriting = Promise.resolve(rewrite())
    if (lockTimeoutMs < 1_000) {
      await expect(rewriting).rejects.toThrow(StoreUnavailableError)
      continue
    }
    await yieldTurn()
    expect(version()).toBe(before)
    other.exec('rollback')
    await rewriting
    expect(version()).not.toBe(before)
  }
})

test('emptying the log waits for its readers, but no longer than for a lock', async () => {
  for (const lockTimeoutMs of [60_000, 50]) {
    const { writer, erase, connect, holds } = open(lockTimeoutMs)
    writer.prepare('insert into secret values (?)').run(SECRET)
    const reader = connect()
    reader.exec('begin')
    reader.prepare('select count(*) from secret').get()
    writer.exec('delete from secret')
    const erasing = erase([SECRET], [])
    if (lockTimeoutMs < 1_000) {
      await expect(erasing).rejects.toThrow(StoreUnavailableError)
      continue
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
    reader.exec('commit')
    await erasing
    expect(holds(SECRET)).toBe(false)
  }
})
