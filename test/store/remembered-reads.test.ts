// Tests the cache of reads of SQLite: it is bounded, and a commit of anybody makes it read again.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { cacheUntilCommit } from '../../src/store/sqlite/engine/data-version-cache.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Maximum number of cached answers. */
const MOST = 20_000

test('the cache evicts the oldest answer when it is full, and reads again after another connection’s commit', () => {
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
  expect(read('k1')).toEqual(['k1'])
  expect(asked).toHaveLength(MOST + 1)
  expect(read('k0')).toEqual(['k0'])
  expect(asked).toHaveLength(MOST + 2)
  open().exec('create table other (id)')
  expect(read('k5')).toEqual(['k5'])
  expect(asked).toHaveLength(MOST + 3)
})
