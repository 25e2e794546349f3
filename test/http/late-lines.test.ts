// When a line that is too slow is more than a burst.
import { expect, test } from 'vitest'
import { createOverload } from '../../src/http/limits/overload.ts'

test.each([
  ['a line that is late for a quarter of a second', [0, 100, 250], true],
  ['one that is late for less', [0, 100, 249.9], false],
])('%s: refuses or not', (_what, looks, isRefusing) => {
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

test('a line that waited no longer than it may for a moment begins anew', () => {
  const overload = createOverload({ maxDelayMs: 50, now: () => 0, later() {}, onChange() {} })
  overload.look(0, -51)
  overload.look(200, 150)
  overload.look(300, 240)
  overload.look(549, 400)
  expect(overload.isRefusing()).toBe(false)
  overload.look(550, 400)
  expect(overload.isRefusing()).toBe(true)
})
