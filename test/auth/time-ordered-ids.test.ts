// Tests the ids of sessions and code requests: UUIDs that sort by time.
import { expect, test } from 'vitest'
import { createTimeOrderedIds } from '../../src/auth/time-ordered-ids.ts'

test('ids are UUIDs of version 7, contain their time, and grow whatever the clock does', () => {
  const nextId = createTimeOrderedIds()
  const now = Date.UTC(2026, 0, 1)
  // More ids than one millisecond has room for, then a clock that is set back, then a later time.
  const times = [...Array(10_000).fill(now), now - 60_000, now, now + 1_000]
  const ids = times.map(nextId)
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const timeOf = (id = '') => Number.parseInt(id.replace('-', '').slice(0, 12), 16)
  expect([timeOf(ids[0]), timeOf(ids.at(-1))]).toEqual([now, now + 1_000])
})
