// Tests reading whole lists in pages: every item comes once and in order, whatever the number of pages.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pagesOf, restCallDayPages, sessionPages } from '../../src/store/paging/paging.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { calls } from '../contract/rest-calls.ts'
import { newSession } from '../contract/values.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

test.each([
  [0, [[]]],
  [1, [[1]]],
  [2, [[1, 2], []]],
  [3, [[1, 2], [3]]],
  [4, [[1, 2], [3, 4], []]],
])('a list of %i items is read in the expected pages, and no empty page is returned', async (length, expected) => {
  const items = Array.from({ length }, (_, index) => index + 1)
  const reads: number[][] = []
  const read = (after: number, limit: number) => {
    const page = items.filter((item) => item > after).slice(0, limit)
    reads.push(page)
    return page
  }
  const pages = await Array.fromAsync(pagesOf({ start: 0, limit: 2, read, keyOf: (item) => item }))
  expect(pages).toEqual(expected.filter((page) => page.length > 0))
  expect(reads).toEqual(expected)
})

test('sessionPages and restCallDayPages return everything past the first page', async () => {
  const onFatal = (error: unknown) => {
    throw error
  }
  await using store = await openSqliteStore(join(temporaryDirectory(), 'store.db'), { lockTimeoutMs: 5_000, onFatal })
  const sessions = Array.from({ length: 1_500 }, () => newSession({ idleExpiresAt: Number.MAX_SAFE_INTEGER }))
  await store.addSessions(sessions)
  const days = Array.from({ length: 70 }, (_, index) => new Date(index * 86_400_000).toISOString().slice(0, 10))
  await store.addRestCalls({ writer: 'a', sequence: 1, calls: days.map((day) => calls({ day })) })
  const found = (await Array.fromAsync(sessionPages(store))).flat()
  expect(found.map(({ id }) => id)).toEqual(sessions.map(({ id }) => id).sort())
  expect((await Array.fromAsync(restCallDayPages(store))).flat()).toEqual(days)
})
