// A line of several owners: whose turn it is, who has waited longest, and who has to leave.
import { expect, test } from 'vitest'
import { createFairLine, type FairLine } from '../../src/http/limits/fair-line.ts'

const PLACES = 'abcdefghijklmnopqrstuvwxyz'

/** A letter that arrived at its place in the alphabet. */
interface Letter {
  readonly letter: string
  readonly since: number
}

const toLetter = (letter: string): Letter => ({ letter, since: PLACES.indexOf(letter) })

function lineOf(owners: Readonly<Record<string, string>>): FairLine<Letter> {
  const line = createFairLine<Letter>()
  for (const letter of PLACES) {
    const [owner] = Object.entries(owners).find(([, letters]) => letters.includes(letter)) ?? []
    if (owner) line.add({ name: owner, isKnown: !owner.startsWith('stranger') }, toLetter(letter))
  }
  return line
}

const known = (name: string) => ({ name, isKnown: true })
const inOrder = (taken: readonly Letter[]) => taken.map(({ letter }) => letter).join('')
const sorted = (taken: readonly Letter[]) => [...inOrder(taken)].toSorted().join('')

test('takeOldest takes from the owners in turn, each time the oldest, beginning with the owner who came first', () => {
  const owners = { ana: 'abcg', ben: 'df', eve: 'e' }
  expect(inOrder(lineOf(owners).takeOldest(99))).toBe('adebfcg')
  const line = lineOf(owners)
  expect([4, 0, 2, 99, 1].map((count) => inOrder(line.takeOldest(count)))).toEqual(['adeb', '', 'fc', 'g', ''])
})

test('takeNewest takes from the owners in turn, each time the newest, beginning with the owner who came last', () => {
  const owners = { ana: 'abcg', ben: 'df', eve: 'e' }
  for (const [count, taken, left] of [
    [0, '', 'abcdefg'],
    [1, 'g', 'abcdef'],
    [2, 'fg', 'abcde'],
    [3, 'efg', 'abcd'],
    [4, 'cefg', 'abd'],
    [5, 'cdefg', 'ab'],
    [99, 'abcdefg', ''],
  ] as const) {
    const line = lineOf(owners)
    expect(sorted(line.takeNewest(count)), `${count} of them`).toBe(taken)
    expect(line.length()).toBe(left.length)
    expect(sorted(line.takeOldest(99)), `${count} of them`).toBe(left)
  }
})

test('an entry may fill several places; the last is taken even if it fills more than are left', () => {
  const line = () => {
    const filled = createFairLine<Letter>(({ letter }) => (letter === letter.toLowerCase() ? 1 : 5))
    for (const [at, letter] of [...'aBcDe'].entries()) {
      filled.add(known(letter === 'D' || letter === 'e' ? 'ben' : 'ana'), { letter, since: at })
    }
    return filled
  }
  // In turns: a of ana, D of ben, B, e, c.
  expect([0, 1, 2, 6, 7, 99].map((places) => inOrder(line().takeOldest(places)))).toEqual([
    '',
    'a',
    'aD',
    'aD',
    'aDB',
    'aDBec',
  ])
  // In turns: e of ben, c of ana, D, B, a.
  expect([0, 1, 2, 3, 7, 8, 99].map((places) => sorted(line().takeNewest(places)))).toEqual([
    '',
    'e',
    'ce',
    'Dce',
    'Dce',
    'BDce',
    'BDace',
  ])
  // takeBeyond counts each entry that waits as one.
  expect(sorted(line().takeBeyond(3))).toBe('Ba')
})

test('takeNewest prefers known owners to strangers, who have one place of four', () => {
  const owners = { ana: 'am', ben: 'b', eve: 'c', flo: 'd', gus: 'e', 'stranger 1': 'fno', 'stranger 2': 'g' }
  for (const [count, taken] of [
    [1, 'm'],
    [3, 'dem'],
    [4, 'demo'],
    [6, 'bcdemo'],
    [7, 'bcdegmo'],
    [8, 'abcdegmo'],
    [9, 'abcdegmno'],
  ] as const) {
    expect(sorted(lineOf(owners).takeNewest(count)), `${count} of them`).toBe(taken)
    const line = lineOf(owners)
    expect(sorted(line.takeBeyond(count)).length).toBe(10 - count)
    expect(sorted(line.takeOldest(99)), `all but ${count} taken`).toBe(taken)
  }
})

test('takeOldest gives strangers their turns like all others', () => {
  expect(inOrder(lineOf({ 'stranger 1': 'ad', ana: 'b', 'stranger 2': 'c' }).takeOldest(99))).toBe('abcd')
})

test('an owner who comes again is the newest, even after a turn', () => {
  const line = lineOf({ ana: 'ad', ben: 'b', eve: 'c' })
  expect(inOrder(line.takeNewest(1))).toBe('d')
  expect(inOrder(line.takeNewest(1))).toBe('c')
  line.add(known('ana'), toLetter('x'))
  expect(['x', 'b', 'a', ''].map(() => inOrder(line.takeNewest(1)))).toEqual(['x', 'b', 'a', ''])
})

test('an owner who loses an entry and adds others still has one turn in each round', () => {
  const line = lineOf({ ana: 'abc', ben: 'd' })
  expect(inOrder(line.takeBefore(PLACES.indexOf('b'), 0))).toBe('a')
  line.add(known('ben'), toLetter('e'))
  line.add(known('ana'), toLetter('f'))
  line.add(known('ben'), toLetter('g'))
  expect(inOrder(line.takeOldest(99))).toBe('bdcefg')
})

test('an owner who comes again after a turn is behind the others', () => {
  const line = lineOf({ ana: 'a', ben: 'bc' })
  expect(inOrder(line.takeOldest(1))).toBe('a')
  line.add(known('ana'), toLetter('x'))
  expect(inOrder(line.takeOldest(99))).toBe('bxc')
  expect([line.length(), line.takeOldest(1), line.takeNewest(1)]).toEqual([0, [], []])
})

test('takeBeyond removes the oldest entries of the owner with most, and of equal owners the earliest', () => {
  const owners = { ana: 'abcdefgh', ben: 'ijk', eve: 'l' }
  for (const [count, gone, left] of [
    [12, '', 'ailbjckdefgh'],
    [7, 'abcde', 'filgjhk'],
    [4, 'abcdefgi', 'hjlk'],
    [2, 'abcdefghij', 'kl'],
    [0, 'abcdefghijkl', ''],
  ] as const) {
    const line = lineOf(owners)
    expect(sorted(line.takeBeyond(count)), `room for ${count}`).toBe(gone)
    expect(line.length()).toBe(count)
    expect(inOrder(line.takeOldest(99)), `room for ${count}`).toBe(left)
    expect(line.takeBeyond(0)).toEqual([])
    line.add(known('ana'), toLetter('z'))
    expect([line.length(), inOrder(line.takeNewest(99))]).toEqual([1, 'z'])
  }
})

test('takeBefore removes what came before a moment, of every owner, and the others keep their turns', () => {
  const owners = { ana: 'abcg', ben: 'df', eve: 'h' }
  for (const [since, gone, left] of [
    ['a', '', 'adhbfcg'],
    ['c', 'ab', 'cdhgf'],
    ['e', 'abcd', 'gfh'],
    ['z', 'abcdfgh', ''],
  ] as const) {
    const line = lineOf(owners)
    expect(sorted(line.takeBefore(PLACES.indexOf(since), 0)), `before ${since}`).toBe(gone)
    expect(line.length()).toBe(left.length)
    expect(inOrder(line.takeOldest(99)), `before ${since}`).toBe(left)
    line.add(known('ben'), toLetter('z'))
    expect(inOrder(line.takeNewest(99))).toBe('z')
  }
})

test('takeBefore spares owners with few entries', () => {
  const line = lineOf({ ana: 'abcg', ben: 'df', eve: 'h' })
  expect(sorted(line.takeBefore(PLACES.indexOf('z'), 2))).toBe('abcg')
  expect(inOrder(line.takeOldest(99))).toBe('dhf')
})

test('oldestSince is the time of the oldest entry, whoever has the turn', () => {
  const line = lineOf({ ana: 'bc', ben: 'ad' })
  const found: (number | null)[] = []
  for (let n = 0; n < 5; n += 1) {
    found.push(line.oldestSince())
    line.takeOldest(1)
  }
  // The entries are taken in the order a, b, d, c.
  expect(found).toEqual([0, 1, 2, 2, null])
})

test('an entry that leaves is no longer in the line, nor is an owner without entries', () => {
  const line = createFairLine<Letter>()
  const [a, b, c] = ['a', 'b', 'c'].map(toLetter) as [Letter, Letter, Letter]
  for (const letter of [a, b]) line.add(known('ana'), letter)
  line.add(known('ben'), c)
  expect([line.remove(known('ana'), a), line.remove(known('ana'), a), line.remove(known('eve'), b)]).toEqual([
    true,
    false,
    false,
  ])
  expect([line.length(), line.oldestSince()]).toEqual([2, 1])
  expect(line.remove(known('ana'), b)).toBe(true)
  expect([line.has(known('ana')), line.has(known('ben'))]).toEqual([false, true])
  expect(inOrder(line.takeOldest(9))).toBe('c')
  expect(line.remove(known('ben'), c)).toBe(false)
})
