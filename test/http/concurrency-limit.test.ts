// How much work of one owner runs at a time: who waits for whom, and when a line is too slow to join.
import { expect, test } from 'vitest'
import { createConcurrencyLimit } from '../../src/http/limits/concurrency-limit.ts'
import { liveBytes } from '../support/live-bytes.ts'
import { stopClock } from '../support/stop-clock.ts'

const ANA = 1
const BEN = 2

/** Work that ends when it is told to, by name. */
function start() {
  const pass = stopClock()
  const limit = createConcurrencyLimit({ maxRunning: 2, freeWaiting: 3, maxWaitMs: 50 })
  const running = new Map<string, () => void>()
  return {
    running: () => [...running.keys()].join(''),
    begin(owner: number, ...names: string[]) {
      return names.map((name) =>
        limit(owner, () => {
          const { promise, resolve } = Promise.withResolvers<string>()
          running.set(name, () => {
            running.delete(name)
            resolve(name)
          })
          return promise
        }),
      )
    },
    async end(name: string) {
      running.get(name)?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
    pass,
  }
}

test('work beyond the limit of an owner waits in line, and other owners do not wait for it', async () => {
  const { begin, end, running } = start()
  begin(ANA, 'a', 'b', 'c', 'd')
  begin(BEN, 'x', 'y')
  expect(running()).toBe('abxy')
  await end('b')
  expect(running()).toBe('axyc')
  await end('a')
  await end('c')
  expect(running()).toBe('xyd')
})

test('a long line whose first entry has waited too long refuses a new entry at once', async () => {
  const { begin, end, running, pass } = start()
  begin(ANA, 'a', 'b', 'c', 'd', 'e')
  pass(51)
  await expect(begin(ANA, 'f')[0]).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 })
  begin(BEN, 'x')
  // The first entry has its turn, so the line is short.
  await end('a')
  begin(ANA, 'g')
  await expect(begin(ANA, 'h')[0]).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  for (const name of ['b', 'c', 'd', 'e']) await end(name)
  expect(running()).toBe('xg')
})

test('a short line may be slow, and a long line that moves may be joined', async () => {
  const { begin, running, pass } = start()
  begin(ANA, 'a', 'b', 'c', 'd')
  pass(10_000)
  begin(ANA, 'e')
  expect(running()).toBe('ab')
  const { begin: beginOther, pass: passOther, running: others } = start()
  beginOther(ANA, 'a', 'b', 'c', 'd', 'e')
  passOther(50)
  beginOther(ANA, 'f')
  expect(others()).toBe('ab')
})

test('work that fails gives its place to the next', async () => {
  const limit = createConcurrencyLimit({ maxRunning: 1, freeWaiting: 3, maxWaitMs: 50 })
  const failing = limit(ANA, () => Promise.reject(new Error('no')))
  const next = limit(ANA, async () => 'next')
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('next')
})

test('nothing is kept of owners whose work has ended', async () => {
  const limit = createConcurrencyLimit({ maxRunning: 1, freeWaiting: 3, maxWaitMs: 50 })
  const before = await liveBytes()
  for (let owner = 0; owner < 200_000; owner += 1) await limit(owner, async () => {})
  expect((await liveBytes()) - before).toBeLessThan(8_000_000)
  // Uses the limit again: if it were collected, it would hold nothing.
  expect(await limit(ANA, async () => 'next')).toBe('next')
})
