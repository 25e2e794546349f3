// Tests the search for words in a text: where each match begins, whatever characters both contain.
import { expect, test } from 'vitest'
import { findAll, MOST_MATCHES, withoutCase } from '../../src/explorer/text/find.ts'

test.each([
  ['a Needle, a needle', 'NEEDLE', [2, 12]],
  // The lower case of İ is two characters long.
  ['İİİ needle', 'needle', [4]],
  ['İİİ needle', 'İ', [0, 1, 2]],
  ['😀 needle', 'needle', [3]],
  ['a.b axb (a.b)', 'a.b', [0, 9]],
  ['f(x) = [1] {2} ^$ | a/b * +? \\ - f(x)', 'f(x)', [0, 33]],
  ['^$.*+?()[]{}|/\\-', '^$.*+?()[]{}|/\\-', [0]],
  ['aaaa', 'aa', [0, 2]],
  ['text', '', []],
  ['text', 'none', []],
])('findAll() finds in %j the words %j at %j', (text, words, offsets) => {
  const ends = offsets.map((offset) => offset + words.length)
  expect(findAll(withoutCase(text), words)).toEqual({ offsets, ends })
})

test('findAll() finds a letter that is stored as one character and as two, whichever was typed', () => {
  const text = 'Cafe\u0301, caf\u00e9 and CAFE\u0301'
  const found = { offsets: [0, 7, 16], ends: [5, 11, 21] }
  expect(findAll(withoutCase(text), 'caf\u00e9')).toEqual(found)
  expect(findAll(withoutCase(text), 'cafe\u0301')).toEqual(found)
})

test('findAll() returns no more matches than MOST_MATCHES', () => {
  expect(findAll('x'.repeat(MOST_MATCHES + 5), 'x').offsets).toHaveLength(MOST_MATCHES)
})
