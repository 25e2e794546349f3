// When a turn has done enough: sooner for long lists than for short ones, and regardless of the turn before it.
import { expect, test } from 'vitest'
import { createRunClock, createTurnClock } from '../../../src/graphql/execution/turn-clock.ts'
import { stopClock } from '../../support/stop-clock.ts'

const SHORT = 64
const LONG = 65

const startClock = () => ({ pass: stopClock(), ...createTurnClock() })
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('a long list may use two milliseconds of a turn, a short list twenty', () => {
  const { isOverdue, pass } = startClock()
  expect([isOverdue(LONG), isOverdue(LONG), isOverdue(SHORT)]).toEqual([false, false, false])
  pass(2)
  expect(isOverdue(LONG)).toBe(false)
  pass(0.5)
  expect([isOverdue(LONG), isOverdue(SHORT)]).toEqual([true, false])
  pass(17.5)
  expect(isOverdue(SHORT)).toBe(false)
  pass(0.5)
  expect([isOverdue(LONG), isOverdue(SHORT)]).toEqual([true, true])
})

test('the first 256 items of an execution are completed, whatever the turn has done', () => {
  const { isOverdue, pass } = startClock()
  isOverdue(SHORT)
  pass(100)
  const [first, second] = [createRunClock({ isOverdue }), createRunClock({ isOverdue })]
  for (let n = 0; n < 16; n += 1) expect(first.isOverdue(LONG, 16)).toBe(false)
  expect([first.isOverdue(LONG, 0), first.isOverdue(LONG, 1)]).toEqual([false, true])
  expect([first.isOverdue(SHORT, 0), second.isOverdue(SHORT, 16)]).toEqual([true, false])
})

test('an answer that is known to be long has no free items, and its short lists count as long', () => {
  const { isOverdue, pass } = startClock()
  const run = createRunClock({ isOverdue })
  run.expectLong()
  expect(run.isOverdue(1, 1)).toBe(false)
  pass(3)
  expect(run.isOverdue(1, 1)).toBe(true)
})

test('the clock starts again in the next turn, when it is first asked', async () => {
  const { isOverdue, pass } = startClock()
  isOverdue(LONG)
  pass(100)
  expect(isOverdue(SHORT)).toBe(true)
  await nextTurn()
  await nextTurn()
  pass(100)
  expect([isOverdue(LONG), isOverdue(LONG)]).toEqual([false, false])
})
