// Tests that a token bucket refills evenly, up to its quota, whatever its interval, and how many buckets a table keeps.
import { expect, test } from 'vitest'
import { createTokenBuckets } from '../../src/auth/limits/token-buckets.ts'

test.each([1, 3, 7, 600])(
  'a bucket of %d tokens a minute gives its quota at once and then one token each interval',
  (quota) => {
    let now = 1_000_000
    const { waitMs, take } = createTokenBuckets(quota, 60, () => now)
    const takeAll = () => {
      let taken = 0
      for (; waitMs('key') === 0; taken += 1) take('key')
      return taken
    }
    const intervalMs = 60_000 / quota
    for (let round = 0; round < 3; round += 1) {
      expect(takeAll()).toBe(quota)
      expect(waitMs('key')).toBeCloseTo(intervalMs, 3)
      expect(waitMs('another key')).toBe(0)
      now += intervalMs
      expect(takeAll()).toBe(1)
      now += intervalMs - 1
      expect(waitMs('key')).toBeCloseTo(1, 3)
      now += 60_000 * (round + 1)
    }
  },
)

test.each([1, 7, 600])(
  'a bucket of %d tokens a minute is full within a minute after the clock was set back by an hour',
  (quota) => {
    let now = 10_000_000
    const { waitMs, take } = createTokenBuckets(quota, 60, () => now)
    while (waitMs('key') === 0) take('key')
    now -= 3_600_000
    expect(waitMs('key')).toBeCloseTo(60_000 / quota, 3)
    now += 60_000
    let taken = 0
    for (; waitMs('key') === 0; taken += 1) take('key')
    expect(taken).toBe(quota)
  },
)

test('a table keeps the 16,384 buckets that were used last; any other is full again', () => {
  const { waitMs, take } = createTokenBuckets(1, 60, () => 1_000_000)
  for (let index = 0; index < 16_384; index += 1) take(`key ${index}`)
  expect(waitMs('key 0')).toBeGreaterThan(0)
  take('one more')
  expect(waitMs('key 0')).toBeGreaterThan(0)
  expect(waitMs('key 1')).toBe(0)
  expect(waitMs('key 2')).toBeGreaterThan(0)
})
