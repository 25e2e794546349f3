// Tests the check of an open database's WAL while it changes: a change in progress is no fault, but lost frames are one, no matter
// what was written behind them.
import { closeSync, openSync, readSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { openCommittedLog } from '../../src/store/sqlite/engine/faults/committed-log.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const PAGE_BYTES = 4_096
/** Length of the header of the shared memory: both copies of what it says about the WAL. */
const INDEX_HEADER_BYTES = 96

/** Five transactions in the WAL, none of them in the database file yet. */
function open() {
  const path = join(temporaryDirectory(), 'log.db')
  const database = new Database(path)
  onTestFinished(() => {
    database.close()
  })
  database.pragma(`page_size = ${PAGE_BYTES}`)
  database.pragma('journal_mode = WAL')
  database.exec('create table note (text)')
  const add = () => database.exec(`insert into note values ('${'x'.repeat(3_000)}')`)
  for (let time = 0; time < 4; time += 1) add()
  const framesOf = (): number => {
    const [row] = database.pragma('wal_checkpoint(NOOP)') as readonly { log: number }[]
    return row?.log ?? 0
  }
  const watch = (committedFrames: () => number | null) => {
    const log = openCommittedLog(`${path}-wal`, PAGE_BYTES, committedFrames)
    onTestFinished(log.close)
    return log
  }
  const endOf = (frames: number) => 32 + frames * (24 + PAGE_BYTES)
  return { path, log: `${path}-wal`, database, add, framesOf, watch, endOf }
}

test('the check reads the WAL again if it was restarted between two looks', () => {
  const { database, add, framesOf, watch } = open()
  const before = framesOf()
  const answers = [
    () => before,
    () => {
      // SQLite has reported the length of the WAL; now it changes it.
      database.pragma('wal_checkpoint(RESTART)')
      add()
      return before
    },
  ]
  const { isWhole } = watch(() => (answers.shift() ?? framesOf)())
  expect(isWhole()).toBe(true)
  expect(isWhole()).toBe(true)
  expect(answers).toEqual([])
  expect(isWhole()).toBe(true)
})

test('the check reads the WAL again if it was restarted during the first look', () => {
  const { database, add, framesOf, watch } = open()
  const before = framesOf()
  let isBegunAnew = false
  const { isWhole } = watch(() => {
    if (isBegunAnew) return framesOf()
    database.pragma('wal_checkpoint(RESTART)')
    add()
    isBegunAnew = true
    return before
  })
  expect(isWhole()).toBe(true)
})

test('the check accepts a WAL that SQLite restarted and has not written to yet', () => {
  const { framesOf, watch } = open()
  const answers = [framesOf(), 0]
  const { isWhole } = watch(() => answers.shift() ?? null)
  expect([isWhole(), isWhole()]).toEqual([true, true])
})

test('closing the check twice closes no other file', () => {
  const { framesOf, watch } = open()
  const { close } = watch(framesOf)
  close()
  // The operating system gives the descriptor of the WAL to the next file.
  const other = openSync(import.meta.filename, 'r')
  onTestFinished(() => closeSync(other))
  close()
  expect(readSync(other, Buffer.alloc(1), 0, 1, 0)).toBe(1)
})

test('the check asks again if SQLite cannot tell the length of the WAL, and then throws StoreUnavailableError', () => {
  const { framesOf, watch } = open()
  let refusals = 50
  const { isWhole } = watch(() => {
    refusals -= 1
    return refusals > 0 ? null : framesOf()
  })
  expect(isWhole()).toBe(true)
  refusals = Number.POSITIVE_INFINITY
  expect(isWhole).toThrow(StoreUnavailableError)
})

test('the check detects a WAL that was cut short between the header of a frame and its page', () => {
  const { log, framesOf, watch, endOf } = open()
  const { isWhole } = watch(framesOf)
  expect(isWhole()).toBe(true)
  const end = endOf(framesOf())
  const page = Buffer.alloc(PAGE_BYTES)
  const file = openSync(log, 'r+')
  readSync(file, page, 0, PAGE_BYTES, end - PAGE_BYTES)
  truncateSync(log, end - PAGE_BYTES - 4)
  writeSync(file, page, 0, PAGE_BYTES, end - PAGE_BYTES)
  closeSync(file)
  expect(page.at(-1)).not.toBe(0)
  expect(isWhole()).toBe(false)
})

test('the check detects a WAL that was cut short, even if its index was rebuilt from what is left', () => {
  const { path, log, framesOf, watch, endOf } = open()
  const { isWhole } = watch(framesOf)
  expect(isWhole()).toBe(true)
  const before = framesOf()
  truncateSync(log, endOf(before - 1))
  // As a process leaves the index if it is killed while writing it.
  const file = openSync(`${path}-shm`, 'r+')
  writeSync(file, Buffer.alloc(INDEX_HEADER_BYTES), 0, INDEX_HEADER_BYTES, 0)
  closeSync(file)
  expect(framesOf()).toBeGreaterThan(0)
  expect(framesOf()).toBeLessThan(before)
  expect(isWhole()).toBe(false)
})
