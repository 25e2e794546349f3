// Tests that deleted texts are in no file of the database any more, whatever SQLite left of them and wherever they
// were.
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, type MockInstance, onTestFinished, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { createEraseTraces } from '../../src/store/sqlite/access/erase-traces.ts'
import { createFaultLatch } from '../../src/store/sqlite/engine/faults/fault-latch.ts'
import type { GroupCommit } from '../../src/store/sqlite/engine/group-commit.ts'
import { createSpace } from '../../src/store/sqlite/space.ts'
import { DESCRIPTORS, openFiles } from '../support/open-files.ts'
import { stopClock } from '../support/stop-clock.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const SECRET = 'a secret of some sixty-four characters, which nobody else writes'
const READ_BYTES = 1_048_576

const LOCK_TIMEOUT_MS = 5_000
/** How long a lock is held, and whether a wait for it then succeeds. */
const LOCKS = [
  [LOCK_TIMEOUT_MS, true],
  [LOCK_TIMEOUT_MS + 1, false],
] as const

function open() {
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
  return { path, connect, writer, holds, erase: createEraseTraces(writer, path, LOCK_TIMEOUT_MS) }
}

/** Resolves once the spied method was called again. */
async function called({ mock }: MockInstance): Promise<void> {
  const before = mock.calls.length
  while (mock.calls.length === before) await yieldTurn()
}

/** False if the wait for a lock was given up. */
async function hasSucceeded(waiting: Promise<unknown>): Promise<boolean> {
  try {
    await waiting
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(StoreUnavailableError)
    return false
  }
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
  const passTime = stopClock()
  for (const [heldMs, isInTime] of LOCKS) {
    const { path, writer, connect, holds } = open()
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
    const vacuum = vi.spyOn(raced, 'exec')
    const erasing = hasSucceeded(createEraseTraces(raced as Database.Database, path, LOCK_TIMEOUT_MS)([SECRET], []))
    await called(vacuum)
    passTime(heldMs)
    await called(vacuum)
    other.exec('rollback')
    expect(await erasing).toBe(isInTime)
    expect(holds(SECRET)).toBe(!isInTime)
  }
})

test('rewriting a whole database waits for other writers, but no longer than for a lock', async () => {
  const passTime = stopClock()
  for (const [heldMs, isInTime] of LOCKS) {
    const { writer, connect } = open()
    const other = connect()
    const commits = {
      async write<T>(write: () => T): Promise<T> {
        const answer = write()
        other.exec('begin immediate')
        return answer
      },
    }
    const faults = createFaultLatch('traces.db', () => {})
    const { rewrite } = createSpace(writer, commits as GroupCommit, { faults, lockTimeoutMs: LOCK_TIMEOUT_MS })
    const version = () => writer.pragma('schema_version', { simple: true })
    const before = version()
    const vacuum = vi.spyOn(writer, 'exec')
    const rewriting = hasSucceeded(Promise.resolve(rewrite()))
    await called(vacuum)
    passTime(heldMs)
    await called(vacuum)
    expect(version()).toBe(before)
    other.exec('rollback')
    expect(await rewriting).toBe(isInTime)
    expect(version() !== before).toBe(isInTime)
  }
})

test('emptying the log waits for its readers, but no longer than for a lock', async () => {
  const passTime = stopClock()
  for (const [heldMs, isInTime] of LOCKS) {
    const { writer, erase, connect, holds } = open()
    writer.prepare('insert into secret values (?)').run(SECRET)
    const reader = connect()
    reader.exec('begin')
    reader.prepare('select count(*) from secret').get()
    writer.exec('delete from secret')
    const checkpoint = vi.spyOn(writer, 'pragma')
    const erasing = hasSucceeded(erase([SECRET], []))
    passTime(heldMs)
    await called(checkpoint)
    reader.exec('commit')
    expect(await erasing).toBe(isInTime)
    expect(holds(SECRET)).toBe(!isInTime)
  }
})
