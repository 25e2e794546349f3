// Which documents are cached: those that a signed-in user has sent twice, as many as there is room for.
import { buildSchema } from 'graphql'
import { expect, test } from 'vitest'
import { createDocuments } from '../../src/graphql/document/documents.ts'
import { createPrepareDocument } from '../../src/graphql/document/prepare-document.ts'

const POLICY = { introspection: 'allowed', hideSuggestions: false } as const
const LIMITS = { maxDepth: 10, maxAliases: 10, maxRootFields: 10, maxDirectives: 10, maxFields: 100 }
const SCHEMA = buildSchema('type Query { a: Int }')

/** Sends documents to a cache with room for `letters` characters; returns whether a document was already cached. */
function open(letters: number) {
  const documents = createDocuments(createPrepareDocument(SCHEMA, LIMITS), { maxBytes: letters * 160, maxShare: 1 })
  return (text: string, owner: number | null = 1) => {
    if (documents.find(text, owner)) return true
    documents.prepare(text, owner, POLICY)
    return false
  }
}

test('a document is cached after it was sent twice, and then for every user', () => {
  const isKept = open(1_000)
  expect([isKept('{ a }'), isKept('{ a }'), isKept('{ a }'), isKept('{ a }', 2)]).toEqual([false, false, true, true])
})

test('a caller that is not signed in adds no document, and gets none from the cache', () => {
  const isKept = open(1_000)
  for (let round = 0; round < 3; round += 1) expect(isKept('{ a }', null)).toBe(false)
  expect([isKept('{ a }'), isKept('{ a }'), isKept('{ a }')]).toEqual([false, false, true])
  expect(isKept('{ a }', null)).toBe(false)
})

test('documents take room by their length: a long one is not cached, and many short ones evict the oldest', () => {
  const isKept = open(100)
  const long = `{ a } # ${'x'.repeat(100)}`
  expect([isKept(long), isKept(long), isKept(long)]).toEqual([false, false, false])
  const short = Array.from({ length: 20 }, (_, index) => `{ a } # ${index + 10}`)
  for (const text of short) for (let round = 0; round < 2; round += 1) isKept(text)
  expect(isKept(short.at(-1) ?? '')).toBe(true)
  expect(isKept(short[0] ?? '')).toBe(false)
})
