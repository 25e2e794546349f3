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
  expect(findAll(withoutCase(text), words)).toEqual({ offsets, length: words.length })
})

test('findAll() returns no more matches than MOST_MATCHES', () => {
  expect(findAll('x'.repeat(MOST_MATCHES + 5), 'x').offsets).toHaveLength(MOST_MATCHES)
})
