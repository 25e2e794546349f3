// Tests the cache of user and address labels in the request log: each is made once, and the cache is bounded.
import { expect, test } from 'vitest'
import { createKnown } from '../../src/admin/request-log/known.ts'

test('a value is made once for each key, and only the newest keys are cached', () => {
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

test('a full cache makes room for several keys at a time', () => {
  const made: string[] = []
  const known = createKnown(32, (key) => {
    made.push(key)
    return key
  })
  for (let key = 0; key <= 32; key += 1) known(`${key}`)
  made.length = 0
  for (const key of ['3', '32', '2', '1']) known(key)
  expect(made).toEqual(['2', '1'])
})

test('an empty text is cached like any other', () => {
  let times = 0
  const known = createKnown(2, () => {
    times += 1
    return ''
  })
  expect([known('a'), known('a')]).toEqual(['', ''])
  expect(times).toBe(1)
})
