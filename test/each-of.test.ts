// Work on many users at a time, as a move and an import from a server do it.
import { expect, test } from 'vitest'
import { eachOf } from '../src/import-export/each-of.ts'

test('after a failure no further work begins, and the work in progress is waited for', async () => {
  const begun: number[] = []
  const inProgress = Promise.withResolvers<void>()
  let hasEnded = false
  const all = eachOf([1, 2, 3, 4], 2, async (item) => {
    begun.push(item)
    if (item === 2) throw new Error('the second one failed')
    await inProgress.promise
    hasEnded = true
  })
  const failed = expect(all).rejects.toThrow('the second one failed')
  // Everything that could begin without the first one has begun by now.
  await new Promise(setImmediate)
  inProgress.resolve()
  await failed
  expect(hasEnded).toBe(true)
  expect(begun).toEqual([1, 2])
})
