// The validation rule that allows one mutation field per operation.
import { parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import { singleSessionMutation } from '../src/graphql/document/single-session-mutation-rule.ts'
import { createSchema } from '../src/graphql/schema.ts'

const schema = createSchema()

const LOGIN = 'login(email: "ana@example.com") { accessToken }'

function isRefused(document: string): boolean {
  return validate(schema, parse(document), [singleSessionMutation]).length > 0
}

/** A mutation whose fragments are each spread twice: 2^depth paths lead to the innermost one. */
function doubled(depth: number, innermost: string): string {
  const levels = Array.from({ length: depth }, (_, at) => `fragment F${at} on Mutation { ...F${at + 1} ...F${at + 1} }`)
  return `mutation { ...F0 } ${levels.join(' ')} fragment F${depth} on Mutation { ${innermost} }`
}

const DOCUMENTS: readonly (readonly [document: string, isRefused: boolean])[] = [
  [`mutation { ${LOGIN} }`, false],
  [`mutation { __typename ${LOGIN} __typename }`, false],
  [`mutation { a: ${LOGIN} b: ${LOGIN} }`, true],
  [`mutation { ${LOGIN} ${LOGIN} }`, true],
  [`mutation { ${LOGIN} logout(refreshToken: "x") }`, true],
  [`mutation { ...F } fragment F on Mutation { ${LOGIN} }`, false],
  // One field node has one response name: field merging executes it once.
  [`mutation { ...F ...F } fragment F on Mutation { ${LOGIN} }`, false],
  [`mutation { ...F ... on Mutation { ...F } } fragment F on Mutation { ${LOGIN} }`, false],
  [`mutation { ...F } fragment F on Mutation { a: ${LOGIN} b: ${LOGIN} }`, true],
  [`mutation { ...F ${LOGIN} } fragment F on Mutation { ${LOGIN} }`, true],
  [`mutation { ... { a: ${LOGIN} } ... on Mutation { b: ${LOGIN} } }`, true],
  [`mutation { ...F ...G } fragment F on Mutation { a: ${LOGIN} } fragment G on Mutation { b: ${LOGIN} }`, true],
  [`mutation { ...A } fragment A on Mutation { ...B } fragment B on Mutation { ...A ${LOGIN} }`, false],
  [`mutation { ...A } fragment A on Mutation { ...B ${LOGIN} } fragment B on Mutation { ...A ${LOGIN} }`, true],
  [`mutation A { ${LOGIN} } mutation B { ${LOGIN} }`, false],
  [doubled(3, LOGIN), false],
  [doubled(3, `a: ${LOGIN} b: ${LOGIN}`), true],
]

test.each(DOCUMENTS)('%s is refused: %s', (document, refused) => {
  expect(isRefused(document)).toBe(refused)
})

test('fragments that are spread twice are walked once: 2^190 walks would never end', () => {
  expect(isRefused(doubled(190, LOGIN))).toBe(false)
  expect(isRefused(doubled(190, `a: ${LOGIN} b: ${LOGIN}`))).toBe(true)
})
