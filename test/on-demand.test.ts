// A value that is made when it is first needed.
import { expect, test } from 'vitest'
import { lazyAsync } from '../src/http/lazy.ts'

test('lazyAsync makes a value once for all callers, and makes it again only after a failure', async () => {
  let made = 0
  const onDemand = lazyAsync(async () => {
    made += 1
    if (made === 1) throw new Error('no file descriptors')
    return made
  })
  expect(made).toBe(0)
  const failed = await Promise.allSettled([onDemand(), onDemand()])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await Promise.all([onDemand(), onDemand()])).toEqual([2, 2])
  expect(await onDemand()).toBe(2)
})
