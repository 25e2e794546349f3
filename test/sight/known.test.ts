// What the request log keeps of users and addresses: made once for each, and of so many at most.
import { expect, test } from 'vitest'
import { createKnown } from '../../src/admin/request-log/known.ts'

test('what was made for a key is kept for the next time, of the newest keys only', () => {
  const made: string[] = []
  const known = createKnown(2, (key) => {
    made.push(key)
    return key.toUpperCase()
  })
  expect(['a', 'b', 'a', 'b', 'a'].map(known)).toEqual(['A', 'B', 'A', 'B', 'A'])
  expect(made).toEqual(['a', 'b'])
  expect(['c', 'b', 'c'].map(known)).toEqual(['C', 'B', 'C'])
  expect(made).toEqual(['a', 'b', 'c'])
  expect(known('a')).toBe('A')
  expect(made).toEqual(['a', 'b', 'c', 'a'])
})

test('an empty text is kept as any other', () => {
  let times = 0
  const known = createKnown(2, () => {
    times += 1
    return ''
  })
  expect([known('a'), known('a')]).toEqual(['', ''])
  expect(times).toBe(1)
})
