// A line of several owners: whose turn it is, who waited for longest, and who has to go.
import { expect, test } from 'vitest'
import { createFairLine, type FairLine } from '../../src/http/limits/fair-line.ts'

const PLACES = 'abcdefghijklmnopqrstuvwxyz'

/** Items are letters, in the order in which they came. */
function lineOf(owners: Readonly<Record<string, string>>): FairLine<string> {
  const line = createFairLine<string>()
  for (const letter of PLACES) {
    const [owner] = Object.entries(owners).find(([, letters]) => letters.includes(letter)) ?? []
    if (owner) line.add(owner, letter)
  }
  return line
}

function takeAll(line: FairLine<string>, which: 'oldest' | 'newest'): string {
  let taken = ''
  for (let item = line.take(which); item !== undefined; item = line.take(which)) taken += item
  return taken
}

test('owners take turns, with their oldest or their newest', () => {
  const owners = { ana: 'abcg', ben: 'df', eve: 'e' }
  expect(takeAll(lineOf(owners), 'oldest')).toBe('adebfcg')
  expect(takeAll(lineOf(owners), 'newest')).toBe('gfecdba')
})

test('who comes again after their turn is behind the others', () => {
  const line = lineOf({ ana: 'a', ben: 'bc' })
  expect(line.take('oldest')).toBe('a')
  line.add('ana', 'x')
  expect(takeAll(line, 'oldest')).toBe('bxc')
  expect([line.length(), line.take('oldest'), line.take('newest')]).toEqual([0, undefined, undefined])
})

test('the oldest of those who have most go first', () => {
  const owners = { ana: 'abcdefgh', ben: 'ijk', eve: 'l' }
  for (const [count, gone, left] of [
    [12, '', 'ailbjckdefgh'],
    [7, 'abcde', 'filgjhk'],
    [4, 'abcdefij', 'gklh'],
    [2, 'abcdefgijl', 'hk'],
    [0, 'abcdefghijkl', ''],
  ] as const) {
    const line = lineOf(owners)
    expect(line.takeBeyond(count).toSorted().join(''), `room for ${count}`).toBe(gone)
    expect(line.length()).toBe(count)
    expect(takeAll(line, 'oldest'), `room for ${count}`).toBe(left)
    expect(line.takeBeyond(0)).toEqual([])
  }
})

test('the oldest of all is found, whoever has the turn', () => {
  const line = lineOf({ ana: 'bc', ben: 'ad' })
  const since = (letter: string) => PLACES.indexOf(letter)
  const found: (string | undefined)[] = []
  for (let n = 0; n < 5; n += 1) {
    found.push(line.oldest(since))
    line.take('oldest')
  }
  // Taken: a, b, d, c.
  expect(found).toEqual(['a', 'b', 'c', 'c', undefined])
})
