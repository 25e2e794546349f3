// How long a removal waits for readers of an older state, which keep its bytes in the files of the database.
import { expect, test } from 'vitest'
import { flushRemovals } from '../src/import-export/flush-removals.ts'

type Flushed = Awaited<ReturnType<typeof flushRemovals>>

function storeWith(results: readonly Flushed[]) {
  let asked = 0
  return {
    flushRemovals: async () => results[Math.min(asked++, results.length - 1)] ?? 'inUse',
    asked: () => asked,
  }
}

test('a removal waits for readers of an older state, and erases the bytes once they have ended', async () => {
  const store = storeWith(['inUse', 'inUse', 'flushed'])
  expect(await flushRemovals(store, 600_000)).toBe('flushed')
})

test('a removal does not wait beyond its patience, nor for a checkpoint that another program makes', async () => {
  expect(await flushRemovals(storeWith(['inUse']), 0)).toBe('inUse')
  const external = storeWith(['external', 'flushed'])
  expect([await flushRemovals(external, 600_000), external.asked()]).toEqual(['external', 1])
})
