// Finds members in the text of stored documents, and learns the shape of documents that resemble each other.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { isStringList, isStringListInPieces } from '../../src/json-text.ts'
import { createMemberReader } from '../../src/resolvers/documents/member-reader.ts'
import { createSeededRandom, randomSeed } from '../support/seeded-random.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const WANTED = ['id', 'name', 'a"b', 'ü', '', 'deep']
const NAMES = [...WANTED, 'other', 'id2', 'i', 'x'.repeat(80), 'name\\', '{', ':']
const VALUES = [
  '1.0',
  '-0',
  'true',
  'null',
  '"text"',
  '"\\\\"',
  '"\\"}"',
  '"\\u0041"',
  '[]',
  '[1,"]",{}]',
  '{"id":"within"}',
]

test('the reader finds what JSON.parse finds, as it is written, whatever documents it read before', () => {
  const seed = randomSeed()
  const { below, sample } = createSeededRandom(seed)
  const isOneOf = (count: number) => below(count) === 0
  const space = () => (isOneOf(10) ? sample([' ', '\n', '\t\r\n'], 1).join('') : '')
  const read = readerOf(...WANTED)

  function writeName(name: string): string {
    const plain = JSON.stringify(name)
    if (!isOneOf(10)) return plain
    return `"${[...name].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
  }

  let names = NAMES
  for (let round = 0; round < 5_000; round += 1) {
    // Most documents resemble the one before. In all, they have more different names than the reader remembers.
    if (isOneOf(3)) names = sample([...NAMES, `n${round}`], below(12))
    const members = names.filter(() => !isOneOf(10)).map((name) => ({ name, value: sample(VALUES, 1).join('') }))
    const written = members.map(
      ({ name, value }) => `${space()}${writeName(name)}${space()}:${space()}${value}${space()}`,
    )
    const document = `${space()}{${written.join(',')}${written.length === 0 ? space() : ''}}${space()}`
    const parsed: Record<string, unknown> = JSON.parse(document)
    const expected = WANTED.map((name) => members.findLast((member) => member.name === name)?.value ?? null)
    expect(read(document), `seed ${seed}: ${document}`).toEqual(expected)
    expect(expected.map((value) => value !== null)).toEqual(WANTED.map((name) => Object.hasOwn(parsed, name)))
  }
})

test.each([1, 2, 3, 7, 1_000])('read in pieces of %d characters, a document has the same members', (pieceLength) => {
  const members = VALUES.flatMap((value, index) => [`"n${index}":${value}`, ` "${WANTED[index % 2]}" : ${value} `])
  const documents = [
    `{${members.join(',')}}`,
    ` { "id" : {"a":[[],{}]} } `,
    `{"x":[${VALUES}],"name":1}`,
    '{}',
    '[1]',
    '2',
  ]
  const reader = createMemberReader(WANTED)
  for (const document of documents) {
    const pieces = reader.spansInPieces(document, pieceLength)
    let count = 0
    let piece = pieces.next()
    for (; !piece.done; piece = pieces.next()) count += 1
    expect(piece.value, document).toEqual(reader.spans(document))
    // A piece ends behind the member or, within a list or an object, behind the string that it reaches.
    expect(count).toBeLessThanOrEqual(Math.ceil(document.length / pieceLength))
    if (document.length > 100) expect(count).toBeGreaterThan(document.length / (pieceLength + 100))
  }
})

test.each(['{', '{"a', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":[1', '{"a":{"b":1}'])(
  'an object that ends too early is no document: %s',
  (document) => {
    const reader = createMemberReader(WANTED)
    expect(() => reader.spans(document)).toThrow('The text is not JSON.')
    expect(() => [...reader.spansInPieces(document, 2)]).toThrow('The text is not JSON.')
  },
)

test.each(['[]', '[ "a" , "b" ]', '["a","\\\\"]', '["a",1]', '[["a"]]', '["a",null]', '{}', '1', ' [1]'])(
  'read in pieces, %s is a list of strings or none, as when it is read at once',
  (text) => {
    for (const pieceLength of [1, 4, 100]) {
      const pieces = isStringListInPieces(text, pieceLength)
      let piece = pieces.next()
      while (!piece.done) piece = pieces.next()
      expect(piece.value).toBe(isStringList(text))
    }
  },
)

test.each(['[]', '1', '"id"', 'null', '{}', ' { } '])('%s has none of the wanted members', (document) => {
  expect(readerOf('id')(document)).toEqual([null])
})

test('of a duplicate name the reader takes the last value, even if the previous document had the name once', () => {
  const read = readerOf('id')
  expect(read('{"id":1,"v":2}')).toEqual(['1'])
  expect(read('{"id":1,"id":2}')).toEqual(['2'])
  expect(read('{"id":1,"\\u0069d":3}')).toEqual(['3'])
})

test('wanted members come in the requested order, whichever names the reader looks for', () => {
  const { texts } = createMemberReader(['id', 'name', 'kind'])
  const document = '{"name":1,"other":2,"id":3}'
  expect([texts(document, [1, 0]), texts(document, [2]), texts(document, [])]).toEqual([['1', '3'], [null], []])
})

test('the spans of a document mark its JSON values, and do not change when the next document is read', () => {
  const { spans } = createMemberReader(['id', 'name'])
  const document = '{ "name" : [1] , "x":2}'
  const found = spans(document)
  spans('{"id":1}')
  expect([document.slice(found[2], found[3]), found[0], found[1]]).toEqual(['[1]', 0, 0])
})

test('a reader that is full of one user’s names still learns the documents of another user', () => {
  const read = readerOf('id')
  const copies = vi.spyOn(Buffer, 'from')
  onTestFinished(() => copies.mockRestore())
  /** For a short document, only the names that are remembered are copied. */
  function learned(document: string): number {
    copies.mockClear()
    expect(read(document)).toEqual(['1'])
    return copies.mock.calls.length
  }
  expect(['{"id":1,"a":2}', '{"id":1,"a":2}', '{"a":2,"id":1}'].map(learned)).toEqual([2, 0, 0])
  expect(learned(`{"id":1,${Array.from({ length: 300 }, (_, index) => `"s${index}":0`)}}`)).toBe(254)
  const later = Array.from({ length: 5_000 }, () => learned('{"b":2,"id":1}'))
  expect(later.filter((count) => count > 0)).toEqual([2])
})

test('a short member does not keep its long document in memory', () => {
  const read = readerOf('name')
  const members: (string | null | undefined)[] = []
  const before = usedBytes()
  for (let index = 0; index < 200; index += 1) {
    members.push(
      read(JSON.stringify({ name: `the document with the number ${index}`, content: 'x'.repeat(100_000) }))[0],
    )
  }
  const grown = usedBytes() - before
  expect(members.at(-1)).toBe('"the document with the number 199"')
  // The documents add up to 20 MB.
  expect(grown).toBeLessThan(5_000_000)
})

function readerOf(...names: readonly string[]) {
  const { texts } = createMemberReader(names)
  const all = names.map((_, place) => place)
  return (document: string) => texts(document, all)
}

function usedBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
