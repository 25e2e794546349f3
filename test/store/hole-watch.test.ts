// Tests the watch for content that a cut has taken out of a file that is as long as before.
import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { createHoleWatch } from '../../src/store/sqlite/engine/faults/hole-watch.ts'
import { watchDatabaseFiles } from '../../src/store/sqlite/engine/faults/watch-database-files.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const PAGE_BYTES = 4_096
const MEBIBYTE = 1_048_576

/** Whether the file system says how many blocks of a file are on the disk. */
function countsBlocks(): boolean {
  const path = join(temporaryDirectory(), 'sparse')
  writeFileSync(path, '')
  truncateSync(path, 1024 * PAGE_BYTES)
  if (statSync(path).blocks * 512 < 1024 * PAGE_BYTES) return true
  console.warn('skipped: a hole in a database file, since this file system does not count the blocks of a file')
  return false
}

test('the watch detects a cut behind which a checkpoint of another connection wrote', ({ skip }) => {
  if (!countsBlocks()) skip()
  const path = join(temporaryDirectory(), 'watched.db')
  const [database, other] = [new Database(path), new Database(path)]
  onTestFinished(() => {
    for (const open of [database, other]) open.close()
  })
  database.pragma('journal_mode = WAL')
  database.pragma('wal_autocheckpoint = 0')
  database.exec('create table note (text)')
  const insert = database.prepare('insert into note values (?)')
  database.transaction(() => {
    for (let row = 0; row < 2_000; row += 1) insert.run('x'.repeat(3_000))
  })()
  database.pragma('wal_checkpoint(TRUNCATE)')
  const { assertInPlace, close } = watchDatabaseFiles(path, database)
  onTestFinished(close)
  // SQLite refuses a checkpoint into a file that is shorter than the log can explain: this log is long.
  const update = database.prepare('update note set text = ? where rowid > ?')
  for (const [letter, from] of [
    ['y', 1_000],
    ['z', 1_000],
  ] as const)
    update.run(letter.repeat(3_000), from)
  insert.run('x'.repeat(3_000))
  expect(assertInPlace).not.toThrow()
  const { size } = statSync(path)
  truncateSync(path, 5 * PAGE_BYTES)
  other.pragma('wal_checkpoint(PASSIVE)')
  expect(statSync(path).size).toBeGreaterThanOrEqual(size)
  for (const _ of [1, 2]) expect(assertInPlace).toThrow(`${path} was cut short while it was in use`)
})

describe('missing blocks', () => {
  /** Mebibytes that have blocks, of a file of 100: at the start, at each look of the watch, and at each further one. */
  function watch({
    atStart = 100,
    later = [] as number[],
    isWhole,
  }: {
    atStart?: number
    later?: number[]
    isWhole: () => boolean
  }) {
    const file = (pages: number) =>
      Object.assign(statSync('.', { bigint: true }), {
        size: BigInt(100 * MEBIBYTE),
        blocks: BigInt((pages * MEBIBYTE) / 512),
      })
    let looks = 0
    const hasHole = createHoleWatch(file(atStart), {
      look: () => file(later[Math.min(looks++, later.length - 1)] ?? 100),
      isWhole,
    })
    return (pages: number) => hasHole(file(pages))
  }

  test('are a hole if the file turns out to be damaged, at each look', () => {
    const hasHole = watch({ later: [90], isWhole: () => false })
    expect([hasHole(100), hasHole(90), hasHole(90)]).toEqual([false, true, true])
  })

  test('are none while the disk is behind for a moment: the file is not read', () => {
    const hasHole = watch({
      later: [90, 90, 100],
      isWhole: () => {
        throw new Error('the file was read')
      },
    })
    expect([hasHole(90), hasHole(110)]).toEqual([false, false])
  })

  test('are none where the file is whole nevertheless: it is read once', () => {
    let reads = 0
    const hasHole = watch({
      later: [90],
      isWhole: () => {
        reads += 1
        return true
      },
    })
    expect([hasHole(90), hasHole(80), reads]).toEqual([false, false, 1])
  })

  test('are looked at again after the file could not be read', () => {
    const answers = [new StoreUnavailableError('busy'), false]
    const hasHole = watch({
      later: [90],
      isWhole: () => {
        const answer = answers.shift()
        if (answer instanceof Error) throw answer
        return answer === true
      },
    })
    expect(() => hasHole(90)).toThrow('busy')
    expect(hasHole(90)).toBe(true)
  })

  test('count from the fewest that were missing, and a mebibyte is none of them', () => {
    const hasHole = watch({ atStart: 50, later: [99], isWhole: () => false })
    expect([hasHole(50), hasHole(49), hasHole(100), hasHole(99)]).toEqual([false, false, false, false])
    const stays = watch({ atStart: 50, later: [98], isWhole: () => false })
    expect([stays(100), stays(98)]).toEqual([false, true])
  })
})
