// When a slow line is more than a burst, so that requests are refused.
import { expect, test } from 'vitest'
import { createOverload } from '../../src/http/limits/overload.ts'

test.each([
  ['requests are refused after a quarter of a second', [0, 100, 250], true],
  ['requests are not refused before that', [0, 100, 249.9], false],
])('when a line is too slow, %s', (_what, looks, isRefusing) => {
  const changes: boolean[] = []
  const overload = createOverload({
    maxDelayMs: 50,
    now: () => 0,
    later() {},
    onChange: (isOn) => changes.push(isOn),
  })
  for (const at of looks) overload.look(at, at - 51)
  expect(overload.isRefusing()).toBe(isRefusing)
  expect(changes).toEqual(isRefusing ? [true] : [])
})

test('a line that was fast enough for a moment starts again at zero', () => {
  const overload = createOverload({ maxDelayMs: 50, now: () => 0, later() {}, onChange() {} })
  overload.look(0, -51)
  overload.look(200, 150)
  overload.look(300, 240)
  overload.look(549, 400)
  expect(overload.isRefusing()).toBe(false)
  overload.look(550, 400)
  expect(overload.isRefusing()).toBe(true)
})
