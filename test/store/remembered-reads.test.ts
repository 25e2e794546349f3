// Tests the cache of reads of SQLite: it is bounded, and a commit of anybody makes it read again.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { cacheUntilCommit } from '../../src/store/sqlite/engine/data-version-cache.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Maximum number of cached answers, and how many of them are left when one more comes. */
const MOST = 20_000
const LEFT = 18_750

test('the cache evicts the oldest answers when it is full, and reads again after another connection’s commit', () => {
  const path = join(temporaryDirectory(), 'remembered.db')
  using closing = new DisposableStack()
  const open = () => closing.adopt(new Database(path), (database) => database.close())
  const [writer, reader] = [open(), open()]
  const asked: string[] = []
  const remembered = cacheUntilCommit(
    reader,
    writer,
    () => {},
    (key) => {
      asked.push(key)
      return key
    },
  )
  const read = (...keys: readonly string[]) => remembered.read(keys, (found) => found)
  read(...Array.from({ length: MOST }, (_, index) => `k${index}`))
  expect(read('k0', 'k1')).toEqual(['k0', 'k1'])
  expect(asked).toHaveLength(MOST)
  read('one more')
  const oldestLeft = MOST + 1 - LEFT
  expect(read(`k${oldestLeft}`)).toEqual([`k${oldestLeft}`])
  expect(asked).toHaveLength(MOST + 1)
  // They go together: to evict one for each that comes takes longer than reading it.
  read('k0', `k${oldestLeft - 1}`)
  expect(asked).toHaveLength(MOST + 3)
  read(`k${oldestLeft}`)
  expect(asked).toHaveLength(MOST + 3)
  open().exec('create table other (id)')
  expect(read(`k${oldestLeft}`)).toEqual([`k${oldestLeft}`])
  expect(asked).toHaveLength(MOST + 4)
})
