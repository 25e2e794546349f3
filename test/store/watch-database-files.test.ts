// Tests the check of an open database's files: changes by SQLite are no fault, changes by anybody else are one.
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import {
  watchCopiedFiles,
  watchDatabaseFiles,
  watchReadFile,
} from '../../src/store/sqlite/engine/faults/watch-database-files.ts'
import { DESCRIPTORS, openFiles } from '../support/open-files.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ROWS = 400
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const FRAME_BYTES = FRAME_HEADER_BYTES + 4_096
/** Length of the header of the shared memory: both copies of what it says about the WAL. */
const INDEX_HEADER_BYTES = 96

/** A database in WAL mode, with everything in its main file. */
function open() {
  const path = join(temporaryDirectory(), 'watched.db')
  const database = new Database(path)
  onTestFinished(() => {
    database.close()
  })
  database.pragma('journal_mode = WAL')
  database.pragma('wal_autocheckpoint = 0')
  database.exec('create table note (text)')
  const fill = () => {
    const insert = database.prepare('insert into note values (?)')
    database.transaction(() => {
      for (let row = 0; row < ROWS; row += 1) insert.run('x'.repeat(3_000))
    })()
  }
  const checkpoint = () => database.pragma('wal_checkpoint(TRUNCATE)')
  fill()
  checkpoint()
  return { path, database, fill, checkpoint, sizeOf: (name: string) => statSync(name).size }
}

describe('a connection that is opened while others are open', () => {
  test('detects that the -wal was cut short under them, because it would write behind the hole', () => {
    const { path, database, fill } = open()
    fill()
    watchDatabaseFiles(path, database)
    const second = new Database(path)
    onTestFinished(() => {
      second.close()
    })
    expect(() => watchDatabaseFiles(path, second)).not.toThrow()
    // Cuts off only the end, so that everything needed to open the database is there.
    truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - 100_000)
    expect(() => watchDatabaseFiles(path, second)).toThrow(/watched\.db-wal was cut short: end every process/)
  })

  /** A database that was cut short by one page while two connections have it open. */
  function openCutShort() {
    const { path, database, fill } = open()
    fill()
    // Everything is in the database too, and the WAL still says how long that is.
    database.pragma('wal_checkpoint(PASSIVE)')
    const second = new Database(path)
    onTestFinished(() => {
      second.close()
    })
    second.prepare('select count(*) from note').get()
    truncateSync(path, statSync(path).size - 4_096)
    return { path, second }
  }

  test('detects that the database was cut short under them', () => {
    const { path, second } = openCutShort()
    expect(() => watchDatabaseFiles(path, second)).toThrow(`${path} was cut short: end every process`)
  })

  test.skipIf(!existsSync(DESCRIPTORS))('leaves no file open if it is refused', () => {
    const { path, second } = openCutShort()
    const before = openFiles()
    expect(() => watchDatabaseFiles(path, second)).toThrow('cut short')
    expect(openFiles()).toEqual(before)
  })
})

describe('a -wal that was cut short and written to again before the next check', () => {
  /** A WAL of a few frames: in a new file, or at the start of a longer file because it was restarted. */
  function openWithLog(isBegunAnew: boolean) {
    const opened = open()
    const { path, database, fill } = opened
    const add = () => database.exec(`insert into note values ('${'y'.repeat(3_000)}')`)
    if (isBegunAnew) {
      fill()
      database.pragma('wal_checkpoint(RESTART)')
    }
    add()
    add()
    const [{ log } = { log: 0 }] = database.pragma('wal_checkpoint(NOOP)') as readonly { log: number }[]
    return { ...opened, add, log: `${path}-wal`, end: LOG_HEADER_BYTES + log * FRAME_BYTES }
  }

  const CUTS: readonly (readonly [where: string, lengthOf: (end: number) => number])[] = [
    ['to nothing', () => 0],
    ['in its header', () => LOG_HEADER_BYTES - 2],
    ['behind its header', () => LOG_HEADER_BYTES],
    ['by two frames', (end) => end - 2 * FRAME_BYTES],
    ['in the header of its last frame', (end) => end - 4_096 - 2],
    ['behind the header of its last frame', (end) => end - 4_096],
    ['in its last page', (end) => end - 2],
  ]

  test.each(CUTS)('is detected when it was cut %s', (_, lengthOf) => {
    for (const isBegunAnew of [false, true]) {
      for (const hasLooked of [false, true]) {
        const { path, database, add, log, end, fill, sizeOf } = openWithLog(isBegunAnew)
        const { assertInPlace, close } = watchDatabaseFiles(path, database)
        onTestFinished(close)
        if (hasLooked) assertInPlace()
        const before = sizeOf(log)
        truncateSync(log, lengthOf(end))
        add()
        if (!isBegunAnew) {
          fill()
          expect(sizeOf(log)).toBeGreaterThan(before)
        }
        expect(assertInPlace).toThrow(`${log} was cut short`)
      }
    }
  })

  test('is detected when another connection wrote the lost frames and the frames behind them', () => {
    const { path, database, log, fill, sizeOf } = openWithLog(true)
    const { assertInPlace, close } = watchDatabaseFiles(path, database)
    onTestFinished(close)
    const other = new Database(path)
    onTestFinished(() => {
      other.close()
    })
    const add = other.prepare(`insert into note values ('${'z'.repeat(3_000)}')`)
    assertInPlace()
    add.run()
    const [{ log: frames } = { log: 0 }] = other.pragma('wal_checkpoint(NOOP)') as readonly { log: number }[]
    truncateSync(log, LOG_HEADER_BYTES + (frames - 1) * FRAME_BYTES)
    add.run()
    expect(assertInPlace).toThrow(`${log} was cut short`)
    fill()
    expect(sizeOf(log)).toBeGreaterThan(LOG_HEADER_BYTES + ROWS * FRAME_BYTES)
    expect(assertInPlace).toThrow(`${log} was cut short`)
  })
})

describe('the check of a database in use', () => {
  test('accepts that SQLite grows, empties and shrinks the database', () => {
    const { path, database, fill, checkpoint, sizeOf } = open()
    const { assertInPlace } = watchDatabaseFiles(path, database)
    const full = sizeOf(path)
    const steps = [
      fill,
      assertInPlace,
      checkpoint,
      () => database.exec('delete from note'),
      () => database.exec('vacuum'),
      assertInPlace,
      checkpoint,
      assertInPlace,
      fill,
      checkpoint,
    ]
    for (const step of steps) {
      step()
      expect(assertInPlace).not.toThrow()
    }
    expect(sizeOf(path)).toBeLessThanOrEqual(full)
    database.exec('delete from note; vacuum')
    checkpoint()
    expect(sizeOf(path)).toBeLessThan(full)
    expect(assertInPlace).not.toThrow()
  })

  test('accepts two writers with all kinds of checkpoints, rollbacks, and transactions larger than the cache', () => {
    const { path, database } = open()
    const other = new Database(path)
    onTestFinished(() => {
      other.close()
    })
    const random = createSeededRandom(7)
    const both = [database, other]
    const looks = both.map((each) => {
      each.pragma('cache_size = 10')
      const { assertInPlace, close } = watchDatabaseFiles(path, each)
      onTestFinished(close)
      return assertInPlace
    })
    const write = (each: Database.Database, end: 'commit' | 'rollback') => {
      each.exec('begin immediate')
      const insert = each.prepare('insert into note values (?)')
      for (let row = random.below(60); row >= 0; row -= 1) insert.run('\0'.repeat(random.below(6_000)))
      // Pages that are in the WAL already are written a second time.
      each.exec("update note set text = text || 'x' where rowid % 3 = 0")
      each.exec(end)
    }
    const checkpoint = (kind: string) => (each: Database.Database) => each.pragma(`wal_checkpoint(${kind})`)
    const steps: readonly ((each: Database.Database) => unknown)[] = [
      (each) => write(each, 'commit'),
      (each) => write(each, 'commit'),
      (each) => write(each, 'rollback'),
      checkpoint('PASSIVE'),
      checkpoint('RESTART'),
      checkpoint('TRUNCATE'),
      (each) => each.exec('delete from note where rowid % 2 = 0'),
    ]
    for (let time = 0; time < 200; time += 1) {
      const [step, each, look] = [steps[random.below(steps.length)], both[random.below(2)], looks[random.below(2)]]
      if (each) step?.(each)
      if (random.below(3) > 0) expect(look).not.toThrow()
    }
    for (const look of looks) expect(look).not.toThrow()
  })

  test('accepts a database that shrinks and is written to before the next check', () => {
    const { path, database, checkpoint, sizeOf } = open()
    const { assertInPlace } = watchDatabaseFiles(path, database)
    const full = sizeOf(path)
    database.exec('delete from note; vacuum')
    checkpoint()
    database.exec("insert into note values ('in the log only')")
    expect(sizeOf(path)).toBeLessThan(full)
    expect(assertInPlace).not.toThrow()
  })

  test('accepts that SQLite shrinks the database, and detects that somebody cuts off more', () => {
    const { path, database, checkpoint, sizeOf } = open()
    const { assertInPlace, close } = watchDatabaseFiles(path, database)
    onTestFinished(close)
    database.exec('delete from note where rowid > 200; vacuum')
    checkpoint()
    truncateSync(path, sizeOf(path) - 4_096)
    expect(assertInPlace).toThrow(`${path} was cut short`)
  })

  test('detects a truncation before the first check, while the newest pages are in the WAL only', () => {
    for (const changes of ["insert into note values ('new')", "update note set text = 'new' where rowid = 1"]) {
      const { path, database, sizeOf } = open()
      const { assertInPlace, close } = watchDatabaseFiles(path, database)
      onTestFinished(close)
      database.exec(changes)
      truncateSync(path, sizeOf(path) - 4_096)
      expect(assertInPlace, changes).toThrow(`${path} was cut short`)
    }
  })

  test('throws StoreUnavailableError while another process rebuilds the WAL index, since it cannot tell yet', () => {
    const { path, database, fill } = open()
    fill()
    const { assertInPlace, close } = watchDatabaseFiles(path, database)
    onTestFinished(close)
    assertInPlace()
    const other = new Database(path)
    onTestFinished(() => {
      other.close()
    })
    other.exec('begin immediate')
    const index = openSync(`${path}-shm`, 'r+')
    const header = Buffer.alloc(INDEX_HEADER_BYTES)
    readSync(index, header, 0, INDEX_HEADER_BYTES, 0)
    writeSync(index, Buffer.alloc(INDEX_HEADER_BYTES), 0, INDEX_HEADER_BYTES, 0)
    expect(assertInPlace).toThrow(StoreUnavailableError)
    writeSync(index, header, 0, INDEX_HEADER_BYTES, 0)
    closeSync(index)
    other.exec('rollback')
    expect(assertInPlace).not.toThrow()
  })

  test('throws StoreUnavailableError within a transaction of its own connection', () => {
    const { path, database, fill } = open()
    fill()
    const { assertInPlace, close } = watchDatabaseFiles(path, database)
    onTestFinished(close)
    database.exec('begin immediate')
    expect(assertInPlace).toThrow(StoreUnavailableError)
    database.exec('rollback')
    expect(assertInPlace).not.toThrow()
  })

  test.each(['', '-wal'])('detects that the file%s was deleted or replaced', (suffix) => {
    for (const change of ['delete', 'replace'] as const) {
      const { path, database, fill } = open()
      fill()
      const { assertInPlace } = watchDatabaseFiles(path, database)
      expect(assertInPlace).not.toThrow()
      const file = `${path}${suffix}`
      copyFileSync(file, `${file}.copy`)
      rmSync(file)
      if (change === 'replace') renameSync(`${file}.copy`, file)
      expect(assertInPlace).toThrow(change === 'delete' ? `${file} was deleted` : `${file} was replaced`)
    }
  })

  test.each(['', '-wal'])('detects that the file%s was cut short by one page', (suffix) => {
    for (const isInLog of [false, true]) {
      if (!isInLog && suffix !== '') continue
      const { path, database, fill } = open()
      if (isInLog) fill()
      const { assertInPlace } = watchDatabaseFiles(path, database)
      assertInPlace()
      truncateSync(`${path}${suffix}`, statSync(`${path}${suffix}`).size - 4_096)
      expect(assertInPlace).toThrow(`${path}${suffix} was cut short`)
    }
  })
})

test('watchReadFile detects another file under the name of the database, and accepts writes to the database', () => {
  const { path, fill, checkpoint, database } = open()
  const { assertInPlace } = watchReadFile(path)
  fill()
  checkpoint()
  database.exec('delete from note; vacuum')
  checkpoint()
  expect(assertInPlace).not.toThrow()
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
  expect(assertInPlace).toThrow('replaced')
})

test('watchCopiedFiles detects the first byte that is written to the database or beside it, and its removal', () => {
  const { path } = open()
  const { assertInPlace } = watchCopiedFiles(path)
  expect(assertInPlace).not.toThrow()
  appendFileSync(`${path}-wal`, 'x')
  expect(assertInPlace).toThrow('was written to')
  const { assertInPlace: assertFile } = watchCopiedFiles(path)
  appendFileSync(path, 'x')
  expect(assertFile).toThrow('was written to')
  const { assertInPlace: assertSameBytes } = watchCopiedFiles(path)
  const { atime, mtime } = statSync(path)
  utimesSync(path, atime, new Date(mtime.getTime() + 1_000))
  expect(assertSameBytes).toThrow('was written to')
  const { assertInPlace: assertThere } = watchCopiedFiles(path)
  rmSync(path)
  expect(assertThere).toThrow('was written to')
})
