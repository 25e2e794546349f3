// A line of several owners: whose turn it is, who waited for longest, and who has to go.
import { expect, test } from 'vitest'
import { createFairLine, type FairLine } from '../../src/http/limits/fair-line.ts'

const PLACES = 'abcdefghijklmnopqrstuvwxyz'

/** A letter that came at its place in the alphabet. */
interface Letter {
  readonly letter: string
  readonly since: number
}

const toLetter = (letter: string): Letter => ({ letter, since: PLACES.indexOf(letter) })

function lineOf(owners: Readonly<Record<string, string>>): FairLine<Letter> {
  const line = createFairLine<Letter>()
  for (const letter of PLACES) {
    const [owner] = Object.entries(owners).find(([, letters]) => letters.includes(letter)) ?? []
    if (owner) line.add(owner, toLetter(letter))
  }
  return line
}

function takeAll(take: () => Letter | undefined): string {
  let taken = ''
  for (let item = take(); item !== undefined; item = take()) taken += item.letter
  return taken
}

test('owners take turns with their oldest, who came first before the others', () => {
  expect(takeAll(lineOf({ ana: 'abcg', ben: 'df', eve: 'e' }).takeOldest)).toBe('adebfcg')
})

test('owners take turns with their newest, who came last before the others', () => {
  expect(takeAll(lineOf({ ana: 'abcg', ben: 'df', eve: 'e' }).takeNewest)).toBe('efgdcba')
  expect(takeAll(lineOf({ ana: 'a', ben: 'b', eve: 'c' }).takeNewest)).toBe('cba')
})

test('who comes again after their turn is behind the others', () => {
  const line = lineOf({ ana: 'a', ben: 'bc' })
  expect(line.takeOldest()?.letter).toBe('a')
  line.add('ana', toLetter('x'))
  expect(takeAll(line.takeOldest)).toBe('bxc')
  expect([line.length(), line.takeOldest(), line.takeNewest()]).toEqual([0, undefined, undefined])
})

test('the oldest of those who have most go first, and of those who have as much who came first', () => {
  const owners = { ana: 'abcdefgh', ben: 'ijk', eve: 'l' }
  for (const [count, gone, left] of [
    [12, '', 'ailbjckdefgh'],
    [7, 'abcde', 'filgjhk'],
    [4, 'abcdefgi', 'hjlk'],
    [2, 'abcdefghij', 'kl'],
    [0, 'abcdefghijkl', ''],
  ] as const) {
    const line = lineOf(owners)
    const taken = line.takeBeyond(count).map(({ letter }) => letter)
    expect(taken.toSorted().join(''), `room for ${count}`).toBe(gone)
    expect(line.length()).toBe(count)
    expect(takeAll(line.takeOldest), `room for ${count}`).toBe(left)
    expect(line.takeBeyond(0)).toEqual([])
    line.add('ana', toLetter('z'))
    expect([line.length(), takeAll(line.takeNewest)]).toEqual([1, 'z'])
  }
})

test('since when the oldest of all waits is known, whoever has the turn', () => {
  const line = lineOf({ ana: 'bc', ben: 'ad' })
  const found: (number | null)[] = []
  for (let n = 0; n < 5; n += 1) {
    found.push(line.oldestSince())
    line.takeOldest()
  }
  // Taken: a, b, d, c.
  expect(found).toEqual([0, 1, 2, 2, null])
})
