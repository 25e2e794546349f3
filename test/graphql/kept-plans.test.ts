// The memory of kept plans: plans count toward their document, within the bounds that all documents share.
import { makeExecutableSchema } from '@graphql-tools/schema'
import { expect, test } from 'vitest'
import type { DocumentCacheOptions } from '../../src/graphql/document/document-cache.ts'
import { createDocuments } from '../../src/graphql/document/documents.ts'
import { createPrepareDocument } from '../../src/graphql/document/prepare-document.ts'
import { createExecutor } from '../../src/graphql/execution/execute.ts'
import type { Context } from '../../src/resolvers/context.ts'
import { text as textMember } from '../../src/resolvers/documents/document-fields.ts'
import { UNCOUNTED } from '../../src/resolvers/request-budget.ts'
import { liveBytes } from '../support/live-bytes.ts'

const MIB = 1_048_576
const ANA = 1
const BEN = 2
const POLICY = { introspection: 'allowed', hideSuggestions: false } as const
const LIMITS = { maxDepth: 10, maxAliases: 100, maxRootFields: 100, maxDirectives: 100, maxFields: 1_000 }

/** Documents and an executor, used as the requests of these owners use them. */
function open(options: DocumentCacheOptions) {
  const planned = new Set<unknown>()
  const schema = makeExecutableSchema({
    typeDefs:
      'type Query { item: Item, wide: Wide, other: Int } type Item { a: Int, b: Int, c: Int, d: Int, e: Int, f: Int } type Wide { name: String }',
    resolvers: {
      // An object: a plain function would be bound, and the bound function is no member resolver.
      Wide: { name: { resolve: textMember('name') } },
      Query: {
        item: () => ({}),
        wide: () => ({ text: WIDE }),
        // Each plan makes one `info`, which all requests that use the plan share.
        other: (_parent, _args, _context, info) => planned.add(info).size,
      },
    },
  })
  const documents = createDocuments(createPrepareDocument(schema, LIMITS), options)
  const executor = createExecutor({ schema, clock: { isOverdue: () => false } })
  const context = { budget: UNCOUNTED, yieldTurn: () => Promise.resolve() } as Context
  return {
    planCount: () => planned.size,
    isKept: (text: string, owner: number) => documents.find(text, owner) !== undefined,
    async run(text: string, owner: number, variables: Readonly<Record<string, unknown>> = {}, name?: string) {
      const document = documents.find(text, owner) ?? documents.prepare(text, owner, POLICY)
      const operation = document.operation(name)
      if (!operation) throw new Error(`there is no operation ${name}`)
      const { data, errors } = await executor.execute(operation, variables, context, { hideSuggestions: false })
      expect([typeof data, errors]).toEqual(['string', []])
    },
  }
}

/** A stored document with the greatest number and length of names that are remembered of documents. */
const WIDE = `{"name":"W",${Array.from({ length: 255 }, (_, index) => `"${'é'.repeat(52)}${1_000 + index}":1`)}}`

const OF_ITEM = 'fragment F on Item { a b c d e f }'

/** Each has seven fields. */
function items(count: number): string {
  return Array.from({ length: count }, (_, index) => `a${index}: item { ...F }`).join(' ')
}

/** A short text with twelve operations of 700 fields, whose conditions have eight outcomes each. */
function manyPlans(number: number): string {
  const conditions = 'other @skip(if: $x) @include(if: $y) ... @skip(if: $z) { other }'
  const operations = OPERATIONS.map((name) => `query ${name}($x: Boolean!, $y: Boolean!, $z: Boolean!) { ...P }`)
  return `${operations.join(' ')} ${OF_ITEM} fragment P on Query { ${conditions} ${items(95)} } #${number}`
}
const OPERATIONS = Array.from({ length: 12 }, (_, index) => `A${index}`)
const OUTCOMES = Array.from({ length: 8 }, (_, n) => ({ x: (n & 1) > 0, y: (n & 2) > 0, z: (n & 4) > 0 }))

test.for([
  ['of one user', [ANA]],
  ['of two users who send the same in turn', [ANA, BEN]],
] as const)('all documents and plans %s stay within their limit of bytes', async ([, owners]) => {
  const maxBytes = 16 * MIB
  const { run, isKept } = open({ maxBytes, maxShare: 1 / 4 })
  for (let round = 0; round < 3; round += 1) await run(manyPlans(0), ANA, OUTCOMES[0], 'A0')
  const before = await liveBytes()
  for (let number = 1; number <= 3; number += 1) {
    const text = manyPlans(number)
    for (const owner of [ANA, ...owners]) await run(text, owner, OUTCOMES[0], 'A0')
    for (const name of OPERATIONS) {
      for (const outcome of OUTCOMES) for (const owner of owners) await run(text, owner, outcome, name)
    }
    expect(isKept(text, ANA)).toBe(true)
  }
  expect((await liveBytes()) - before).toBeLessThan(maxBytes + 4 * MIB)
})

test('names learned from wide stored documents stay within the limit of documents and plans', async () => {
  const maxBytes = 4 * MIB
  const { run, isKept } = open({ maxBytes, maxShare: 1 })
  const wide = (number: number) =>
    `{ ${Array.from({ length: 95 }, (_, index) => `a${index}: wide { name }`).join(' ')} } #${number}`
  for (let round = 0; round < 3; round += 1) await run(wide(0), ANA)
  const before = await liveBytes()
  for (let number = 1; number <= 12; number += 1) {
    for (let round = 0; round < 3; round += 1) await run(wide(number), ANA)
    expect(isKept(wide(number), ANA)).toBe(true)
  }
  expect((await liveBytes()) - before).toBeLessThan(maxBytes)
})

test('the plans of a kept document are made once, one for each outcome of its conditions', async () => {
  const { run, planCount } = open({ maxBytes: MIB, maxShare: 1 })
  const text = 'query A($x: Boolean!) { other item @skip(if: $x) { a } } query B { other }'
  for (let round = 0; round < 2; round += 1) await run(text, ANA, { x: true }, 'A')
  const before = planCount()
  for (let round = 0; round < 3; round += 1) {
    for (const x of [true, false]) await run(text, ANA, { x }, 'A')
    await run(text, BEN, {}, 'B')
  }
  expect(planCount() - before).toBe(2)
})

test('plans that do not fit into the cache are made again each time, and their document stays cached', async () => {
  const { run, isKept, planCount } = open({ maxBytes: MIB, maxShare: 1 / 4 })
  const text = `{ other ${items(30)} } ${OF_ITEM}`
  for (let round = 0; round < 5; round += 1) await run(text, ANA)
  expect([isKept(text, ANA), planCount()]).toEqual([true, 5])
})

test('plans that grow evict what their owner used least recently, not what another owner has', async () => {
  const { run, isKept } = open({ maxBytes: MIB, maxShare: 1 / 4 })
  const sends = async (text: string, owner: number) => {
    for (let round = 0; round < 2; round += 1) await run(text, owner)
  }
  await sends('{ other } # of Ben', BEN)
  const documents = ['first', 'second'].map((name) => `{ ${name}: other ${' '.repeat(300)} }`)
  for (const text of documents) await sends(text, ANA)
  expect(documents.map((text) => isKept(text, ANA))).toEqual([true, true])
  const growing = `query ($x: Boolean!) { other ... @skip(if: $x) { ${items(14)} } } ${OF_ITEM}`
  for (let round = 0; round < 2; round += 1) await run(growing, ANA, { x: true })
  expect(documents.map((text) => isKept(text, ANA))).toEqual([true, true])
  await run(growing, ANA, { x: false })
  expect(documents.map((text) => isKept(text, ANA))).toEqual([false, true])
  expect([isKept(growing, ANA), isKept('{ other } # of Ben', BEN)]).toEqual([true, true])
})
