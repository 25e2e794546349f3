// Members of long stored documents: looked for once for a request, in turns that have room for it.
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

/** Counts the turns that were waited for, and the members that were taken: each is looked at by its field. */
function createWorld(documents: readonly HasText[]) {
  const counts = { turns: 0, name: 0, kind: 0 }
  function member(name: 'name' | 'kind') {
    const accept = (written: string) => {
      counts[name] += 1
      return written
    }
    // As an object: a plain function would be bound, and lose its mark.
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
] as const)('a long document %s is looked through once', async ([, query, places]) => {
  const document = documentOf(20_000)
  const { told, counts } = createWorld(numbers(100).map(() => document))
  const { data, errors } = await told(query)
  expect([JSON.stringify(data).match(/"N"/g)?.length ?? 0, errors]).toEqual([places === 1 ? 99 : places, []])
  expect(counts.name).toBe(1)
})

test('so is one that stands in the answer as several objects, as elements of exports do', async () => {
  const stored = documentOf(20_000)
  const { told, counts } = createWorld(numbers(100).map(() => ({ ...stored, stored })))
  expect((await told('{ documents { name } }')).data).toEqual({ documents: numbers(100).map(() => ({ name: 'N' })) })
  expect(counts.name).toBe(1)
})

test('a member that a long document lacks is null, also the second time', async () => {
  const { told } = createWorld([documentOf(20_000)])
  expect((await told(aliases(2, () => 'document(at: 0) { kind name }'))).data).toEqual({
    a0: { kind: null, name: 'N' },
    a1: { kind: null, name: 'N' },
  })
})

test('long documents wait for turns of their own where the turn has done enough, lists or none', async () => {
  const documents = numbers(20).map((index) => documentOf(65_536, `"${index}"`))
  const expected = numbers(20).map((index) => ({ name: `${index}` }))
  const { told, counts } = createWorld(documents)
  const { data } = await told(aliases(20, (index) => `document(at: ${index}) { name }`))
  expect(Object.values(data as object)).toEqual(expected)
  // Of 64 items each, four are as long as what an execution may do whatever the turn has done.
  expect(counts.turns).toBe(16)
  const inList = createWorld(documents)
  expect((await inList.told('{ documents { name } }')).data).toEqual({ documents: expected })
  expect(inList.counts.turns).toBeGreaterThanOrEqual(16)
})

test('one that is known waits for no turn', async () => {
  const { run, counts } = createWorld([documentOf(1_000_000)])
  await run(aliases(50, () => 'document(at: 0) { name }'))
  // All of them ask before the first is looked through.
  expect(counts.turns).toBe(50)
  const other = createWorld([documentOf(200_000)])
  await other.run(aliases(50, () => 'document(at: 0) { name }'))
  expect(other.counts.turns).toBe(0)
})

test('short documents count for the clock by their length', async () => {
  const [short, shorter] = [
    createWorld(numbers(100).map(() => documentOf(10_000))),
    createWorld(numbers(100).map(() => documentOf(100))),
  ]
  await short.run('{ documents { name } }')
  await shorter.run('{ documents { name } }')
  expect([short.counts.turns > 30, shorter.counts.turns]).toEqual([true, 0])
})

test('a long document that is no JSON fails alone, also in a turn of its own', async () => {
  const { told, counts } = createWorld([
    documentOf(300_000),
    { text: `{"padding":"${'x'.repeat(300_000)}` },
    documentOf(300_000),
  ])
  const { data, errors } = await told('{ documents { name } }')
  expect(data).toEqual({ documents: [{ name: 'N' }, null, { name: 'N' }] })
  expect([errors.map(({ path }) => path), counts.turns > 0]).toEqual([[['documents', 1]], true])
})
