// Tests the group commit on a real file: the writes of one turn share a transaction, and each failure affects only what
// it must.
import { join } from 'node:path'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { createFaultLatch } from '../../src/store/sqlite/engine/faults/fault-latch.ts'
import { createWritableCheck } from '../../src/store/sqlite/engine/faults/writable-check.ts'
import { createGroupCommit } from '../../src/store/sqlite/engine/group-commit.ts'
import { stopClock } from '../support/stop-clock.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

function open({ lockTimeoutMs = 5_000 } = {}) {
  const path = join(temporaryDirectory(), 'writes.db')
  const closing = new DisposableStack()
  const connect = () => closing.adopt(new Database(path, { timeout: 0 }), (database) => database.close())
  onTestFinished(() => closing.dispose())
  const [writer, other] = [connect(), connect()]
  writer.pragma('journal_mode = WAL')
  writer.exec('create table note (text text unique on conflict abort)')
  const [fatal, happened]: [unknown[], string[]] = [[], []]
  let [missing, unclear, looks]: [number | null, number, number] = [null, 0, 0]
  const faults = createFaultLatch('workspace.db', (error) => fatal.push(error))
  const commits = createGroupCommit(writer, {
    lockTimeoutMs,
    faults,
    onCommitted: () => happened.push(`committed ${notes().join()}`),
    assertInPlace() {
      looks += 1
      if (missing !== null && looks >= missing) throw new Error('the file is gone')
      if (looks === unclear) throw new StoreUnavailableError('it cannot be told')
    },
  })
  const insert = writer.prepare<[string]>('insert into note values (?)')
  const notes = () => other.prepare<[], string>('select text from note order by text').pluck().all()
  return {
    ...commits,
    commits,
    faults,
    fatal,
    happened,
    writer,
    other,
    notes,
    add: (text: string) =>
      commits.add(() => {
        insert.run(text)
        return text
      }),
    /** Resolves once a commit was tried. */
    async tried() {
      const before = looks
      while (looks === before) await yieldTurn()
    },
    /** The file is missing from the `from`-th look on. */
    lose(from: number) {
      missing = looks + from
    },
    /** The `at`-th look cannot tell whether the file is there. */
    cloud(at: number) {
      unclear = looks + at
    },
  }
}

const outcomesOf = async (writes: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(writes)).map((end) => (end.status === 'fulfilled' ? end.value : end.reason.message))

test('a failing write rolls back its own changes, and no other write of its turn', async () => {
  const { add, notes, happened, write, writer } = open()
  const failing = write(() => {
    writer.prepare('insert into note values (?)').run('half')
    throw new Error('no')
  })
  expect(await outcomesOf([add('a'), failing, add('b'), add('a')])).toEqual([
    'a',
    'no',
    'b',
    'UNIQUE constraint failed: note.text',
  ])
  // Reported only once it is committed.
  expect(happened).toEqual(['committed a,b'])
  expect(notes()).toEqual(['a', 'b'])
})

test('a write that fails alone in its turn leaves nothing behind, and the next one works', async () => {
  const { add, notes, write, writer, happened } = open()
  const failing = write(() => {
    writer.prepare('insert into note values (?)').run('half')
    throw new Error('no')
  })
  expect(await outcomesOf([failing])).toEqual(['no'])
  expect([notes(), happened]).toEqual([[], []])
  expect(await add('a')).toBe('a')
  expect(notes()).toEqual(['a'])
})

test('a write that rolls back the whole transaction fails every write of its turn', async () => {
  const { add, notes, write, writer } = open()
  await add('there')
  const rollingBack = () => write(() => writer.exec(`insert or rollback into note values ('there')`))
  expect(await outcomesOf([add('a'), rollingBack(), add('b')])).toEqual(
    Array(3).fill('UNIQUE constraint failed: note.text'),
  )
  expect(await outcomesOf([rollingBack()])).toEqual(['UNIQUE constraint failed: note.text'])
  expect(notes()).toEqual(['there'])
  expect(await outcomesOf([add('a'), add('b')])).toEqual(['a', 'b'])
})

test('every write is reported to the listeners, except those that only add rows', async () => {
  const { add, write, onWrite } = open()
  let told = 0
  onWrite(() => {
    told += 1
  })
  await Promise.all([add('a'), write(() => {}), write(() => {})])
  expect(told).toBe(2)
})

test('a write waits for the lock of another process, but no longer than the lock timeout', async () => {
  const passTime = stopClock()
  const { add, notes, other, fatal, tried } = open({ lockTimeoutMs: 5_000 })
  const refusal = 'another process holds the database locked'
  // Each write has a timeout of its own.
  for (const [text, heldMs, outcome] of [
    ['a', 4_999, 'a'],
    ['b', 4_999, 'b'],
    ['c', 5_000, refusal],
    ['d', 4_999, 'd'],
  ] as const) {
    other.exec('begin immediate')
    const adding = outcomesOf([add(text)])
    await tried()
    passTime(heldMs)
    await tried()
    other.exec('commit')
    expect(await adding).toEqual([outcome])
  }
  expect([notes(), fatal]).toEqual([['a', 'b', 'd'], []])
})

test('a file lost before a commit gets no write, one lost after it no acknowledgement; writing ends', async () => {
  for (const [look, stored] of [
    [1, []],
    [2, ['a']],
  ] as const) {
    const { add, notes, lose, fatal, happened } = open()
    lose(look)
    expect(await outcomesOf([add('a')])).toEqual(['the files of the database are gone: the file is gone'])
    expect(notes()).toEqual(stored)
    expect(await outcomesOf([add('b'), add('c')])).toEqual(
      Array(2).fill('the database failed: no more writes are accepted'),
    )
    expect(notes()).toEqual(stored)
    expect([fatal.map(String), happened]).toEqual([['Error: the file is gone'], []])
  }
})

test('a check that cannot tell whether the file is there refuses the writes of its turn only', async () => {
  for (const look of [1, 2]) {
    const { add, cloud, fatal, notes, happened } = open()
    cloud(look)
    expect(await outcomesOf([add('a')])).toEqual(['it cannot be told'])
    expect(happened).toEqual([])
    expect(await outcomesOf([add('b')])).toEqual(['b'])
    expect([notes().at(-1), fatal]).toEqual(['b', []])
  }
})

test('settled waits for the writes that were requested, and returns at once if there are none', async () => {
  const { add, settled, happened } = open()
  await settled()
  const adding = add('a')
  const waiting = settled()
  const more = add('b')
  await waiting
  expect(happened).toEqual(['committed a,b'])
  expect(await Promise.all([adding, more])).toEqual(['a', 'b'])
  await settled()
})

test('the latch reports a temporary fault but not a lock, and reports a fatal fault once and for all', () => {
  const fatal: unknown[] = []
  const latch = createFaultLatch('workspace.db', (error) => fatal.push(error))
  let unavailable = 0
  latch.onUnavailable(() => {
    unavailable += 1
  })
  const failing = (code: string) => () =>
    latch.guard(() => {
      throw new Database.SqliteError('why', code)
    })
  expect(latch.guard(() => 1)).toBe(1)
  expect(failing('SQLITE_BUSY')).toThrow('another process holds the database locked')
  expect(failing('SQLITE_CONSTRAINT')).toThrow('why')
  expect(unavailable).toBe(0)
  expect(failing('SQLITE_FULL')).toThrow('the disk of the database is full')
  expect(failing('SQLITE_READONLY_DBMOVED')).toThrow(StoreUnavailableError)
  expect([unavailable, fatal]).toEqual([2, []])
  expect(() => latch.assertWritable()).not.toThrow()
  expect(failing('SQLITE_CORRUPT_INDEX')).toThrow('why')
  expect(failing('SQLITE_IOERR_READ')).toThrow('why')
  expect([unavailable, fatal.length]).toEqual([2, 1])
  expect(() => latch.assertWritable()).toThrow('no more writes are accepted')
})

test('after a temporary fault the check for room writes until that succeeds, and then no longer', async () => {
  const { commits, faults, writer, other, happened } = open({ lockTimeoutMs: 1 })
  const assertWritable = createWritableCheck(writer.name, writer, commits, faults)
  await assertWritable()
  expect(happened).toEqual([])
  const fail = () => {
    throw new Database.SqliteError('why', 'SQLITE_FULL')
  }
  expect(() => faults.guard(fail)).toThrow('is full')
  other.exec('begin immediate')
  await expect(assertWritable()).rejects.toThrow('holds the database locked')
  other.exec('commit')
  for (const _ of [1, 2]) await assertWritable()
  expect(happened).toEqual(['committed '])
})

test('a commit waits for the disk unless all of its writes may be lost', async () => {
  const { write, addUnsynced, writer, other, lose } = open()
  // https://www.sqlite.org/pragma.html#pragma_synchronous
  const [normal, full] = [1, 2]
  const level = () => writer.pragma('synchronous', { simple: true })
  writer.pragma('synchronous = FULL')
  expect(await addUnsynced(level)).toBe(normal)
  expect(level()).toBe(full)
  expect(await Promise.all([addUnsynced(level), write(level), addUnsynced(level)])).toEqual([full, full, full])
  other.exec('begin immediate')
  const waiting = addUnsynced(level)
  await new Promise((resolve) => setImmediate(resolve))
  expect(level()).toBe(full)
  other.exec('rollback')
  expect(await waiting).toBe(normal)
  lose(1)
  await expect(addUnsynced(level)).rejects.toThrow('the files of the database are gone')
  expect(level()).toBe(full)
})
