// Tests the poller: it runs at once when woken, never twice at a time, and finishes its run when it stops.
import { expect, test } from 'vitest'
import { createPoller } from '../../src/auth/mail/poller.ts'

const NEVER_MS = 1_000_000_000

test('a poller that is woken during a run runs once more, however often it was woken', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let [runs, atOnce, mostAtOnce] = [0, 0, 0]
  const poller = createPoller(
    async () => {
      runs += 1
      atOnce += 1
      mostAtOnce = Math.max(mostAtOnce, atOnce)
      await gates[runs - 1]?.promise
      atOnce -= 1
    },
    NEVER_MS,
    () => {},
  )
  expect(runs).toBe(0)
  for (let wake = 0; wake < 3; wake += 1) poller.wake()
  expect(runs).toBe(1)
  gates[0]?.resolve()
  await expect.poll(() => runs).toBe(2)
  gates[1]?.resolve()
  await expect.poll(() => atOnce).toBe(0)
  expect(runs).toBe(2)
  poller.wake()
  await expect.poll(() => runs).toBe(3)
  gates[2]?.resolve()
  await poller[Symbol.asyncDispose]()
  expect(mostAtOnce).toBe(1)
})

test('a poller runs at its interval, and reports each series of failures once, without stopping', async () => {
  const reported: unknown[] = []
  let runs = 0
  await using _ = createPoller(
    async () => {
      runs += 1
      if ([1, 2, 3, 5].includes(runs)) throw new Error(`failed in run ${runs}`)
    },
    5,
    (error) => reported.push(error),
  )
  await expect.poll(() => runs).toBeGreaterThan(5)
  expect(reported).toEqual([new Error('failed in run 1'), new Error('failed in run 5')])
})

test('a poller that stops tells its run, waits for it, and never runs again', async () => {
  const gate = Promise.withResolvers<void>()
  let [runs, isOver] = [0, false]
  let isStopping = () => false
  const poller = createPoller(
    async (asked) => {
      runs += 1
      isStopping = asked
      await gate.promise
      isOver = true
    },
    5,
    () => {},
  )
  poller.wake()
  expect(isStopping()).toBe(false)
  poller.wake()
  const stopped = poller[Symbol.asyncDispose]()
  expect(isStopping()).toBe(true)
  gate.resolve()
  await stopped
  expect([runs, isOver]).toEqual([1, true])
  poller.wake()
  await poller[Symbol.asyncDispose]()
  expect(runs).toBe(1)
})
