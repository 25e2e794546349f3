// Members of long stored documents: each document is searched once per request, in turns that have time for it.
import { expect, test } from 'vitest'
import { fromMember, type HasText } from '../../../src/resolvers/documents/member-field.ts'
import { createSmallWorld } from './small-world.ts'

const TYPES = `
  type Document { name: String kind: String }
  type Query { document(at: Int!): Document later(at: Int!): Document documents: [Document] }
`

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
const aliases = (count: number, field: (index: number) => string) =>
  `{ ${numbers(count)
    .map((index) => `a${index}: ${field(index)}`)
    .join(' ')} }`
const documentOf = (length: number, name = '"N"'): HasText => ({
  text: `{"padding":"${'x'.repeat(length)}","name":${name}}`,
})

/** Counts the turns that were waited for, and the members that were found: each is passed to `accept`. */
function createWorld(documents: readonly HasText[]) {
  const counts = { turns: 0, name: 0, kind: 0 }
  function member(name: 'name' | 'kind') {
    const accept = (written: string) => {
      counts[name] += 1
      return written
    }
    // An object: a plain function would be bound, and lose its mark.
    return { resolve: fromMember(() => null, { name, accept }) }
  }
  const world = createSmallWorld(
    TYPES,
    {
      Query: {
        document: (_root, { at }) => documents[at],
        later: async (_root, { at }) => documents[at],
        documents: () => documents,
      },
      Document: { name: member('name'), kind: member('kind') },
    },
    {
      clock: { isOverdue: () => true },
      async yieldTurn() {
        counts.turns += 1
      },
    },
  )
  return { ...world, counts }
}

test.for([
  ['under many aliases', aliases(95, () => 'document(at: 0) { name }'), 95],
  ['in many promises', aliases(95, () => 'later(at: 0) { name }'), 95],
  ['many times in a list', '{ documents { name } }', 100],
  ['with other members', aliases(60, (index) => `document(at: 0) { name ${index % 2 ? 'kind' : ''} }`), 60],
  ['with a member many times', `{ document(at: 0) ${aliases(99, () => 'name')} }`, 1],
] as const)('a long document %s is searched once', async ([, query, places]) => {
  const document = documentOf(20_000)
  const { told, counts } = createWorld(numbers(100).map(() => document))
  const { data, errors } = await told(query)
  expect([JSON.stringify(data).match(/"N"/g)?.length ?? 0, errors]).toEqual([places === 1 ? 99 : places, []])
  expect(counts.name).toBe(1)
})

test('shorter documents are searched once each after a request has searched much, however often they are named', async () => {
  const documents = numbers(15).map((index) => documentOf(16_000, `"${index}"`))
  const { told, counts } = createWorld(documents)
  const { data, errors } = await told(aliases(90, () => 'documents { name }'))
  const expected = numbers(15).map((index) => ({ name: `${index}` }))
  expect([new Set(Object.values(data as object).map((list) => JSON.stringify(list))), errors]).toEqual([
    new Set([JSON.stringify(expected)]),
    [],
  ])
  // Without the bound, 1,350 searches of 16,000 characters.
  expect(counts.name).toBeLessThan(300)
})

test('a long document is searched once even if it is several objects, as elements of exports are', async () => {
  const stored = documentOf(20_000)
  const { told, counts } = createWorld(numbers(100).map(() => ({ ...stored, stored })))
  expect((await told('{ documents { name } }')).data).toEqual({ documents: numbers(100).map(() => ({ name: 'N' })) })
  expect(counts.name).toBe(1)
})

test('a member that a long document lacks is null, also when it is requested again', async () => {
  const { told } = createWorld([documentOf(20_000)])
  expect((await told(aliases(2, () => 'document(at: 0) { kind name }'))).data).toEqual({
    a0: { kind: null, name: 'N' },
    a1: { kind: null, name: 'N' },
  })
})

test('long documents wait for turns of their own if the turn is overdue, in a list or not', async () => {
  const documents = numbers(20).map((index) => documentOf(65_536, `"${index}"`))
  const expected = numbers(20).map((index) => ({ name: `${index}` }))
  const { told, counts } = createWorld(documents)
  const { data } = await told(aliases(20, (index) => `document(at: ${index}) { name }`))
  expect(Object.values(data as object)).toEqual(expected)
  // Each counts as 64 items, so four of them are the items that an execution may complete in any turn.
  expect(counts.turns).toBe(16)
  const inList = createWorld(documents)
  expect((await inList.told('{ documents { name } }')).data).toEqual({ documents: expected })
  expect(inList.counts.turns).toBeGreaterThanOrEqual(16)
})

test('a document that was searched before waits for no turn', async () => {
  const { run, counts } = createWorld([documentOf(1_000_000)])
  await run(aliases(50, () => 'document(at: 0) { name }'))
  // All 50 fields ask before the first search is done.
  expect(counts.turns).toBe(50)
  const other = createWorld([documentOf(200_000)])
  await other.run(aliases(50, () => 'document(at: 0) { name }'))
  expect(other.counts.turns).toBe(0)
})

test('short documents count for the turn clock by their length', async () => {
  const [short, shorter] = [
    createWorld(numbers(100).map(() => documentOf(10_000))),
    createWorld(numbers(100).map(() => documentOf(100))),
  ]
  await short.run('{ documents { name } }')
  await shorter.run('{ documents { name } }')
  expect([short.counts.turns > 30, shorter.counts.turns]).toEqual([true, 0])
})

test('a long document that is not JSON fails alone, also in a turn of its own', async () => {
  const { told, counts } = createWorld([
    documentOf(300_000),
    { text: `{"padding":"${'x'.repeat(300_000)}` },
    documentOf(300_000),
  ])
  const { data, errors } = await told('{ documents { name } }')
  expect(data).toEqual({ documents: [{ name: 'N' }, null, { name: 'N' }] })
  expect([errors.map(({ path }) => path), counts.turns > 0]).toEqual([[['documents', 1]], true])
})
