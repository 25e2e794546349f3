// Tests that documents within the limits are parsed as by graphql-js, and that others are refused as syntax errors.
import { readFileSync } from 'node:fs'
import { getIntrospectionQuery, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { parseDocument } from '../src/graphql/document/parse-document.ts'
import { ask, startGateway } from './support/gateway.ts'

const nestedList = (depth: number) => `{ me { project(ref: ${'['.repeat(depth)}${']'.repeat(depth)}) { id } } }`
const nestedFields = (depth: number) => `${'{a'.repeat(depth)}${'}'.repeat(depth)}`

test.each([
  ['an introspection query', getIntrospectionQuery()],
  ['190 lists', nestedList(190)],
  ['200 fields in each other', nestedFields(200)],
  ['a name of 256 characters', `{ ${'a'.repeat(256)} }`],
  ['65,536 characters', `{ a } #${'x'.repeat(65_536 - 7)}`],
  ['5,000 lines', `{${'\n'.repeat(4_999)}a }`],
  ['2,000 tokens', `{ ${'a '.repeat(1_998)} }`],
  ['lists beside each other', `{ ${'me { project(ref: [[]]) { id } } '.repeat(90)} }`],
])('%s: parseDocument returns what graphql-js returns', (_what, text) => {
  expect(JSON.stringify(parseDocument(text))).toBe(JSON.stringify(parse(text)))
})

test.each([
  ['a text that is not closed', '{ me { project(ref: "site) { name } } }'],
  ['a mistake before a malformed token', '{ me { project(ref: ) { name } } sessions { id } ? }'],
  ['a mistake before a text that is not closed', '{ me { name: } } # it\'s\n query { node(id: "x) { id } }'],
])('%s: parseDocument reports the first mistake, as graphql-js does', (_what, text) => {
  const mistakes = [parseDocument, parse].map((read) => {
    try {
      return read(text)
    } catch (error) {
      return JSON.stringify(error)
    }
  })
  expect(mistakes[0]).toBe(mistakes[1])
  expect(mistakes[0]).toContain('Syntax Error')
})

test.each(['schema.graphql', 'docs/api/graphql.md', 'SECURITY.md'])('%s names the limits of a document', (paper) => {
  const words = readFileSync(new URL(`../${paper}`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')
  const limits = ['65,536 characters', '5,000 lines', '2,000 tokens']
  expect(limits.filter((limit) => !words.includes(limit))).toEqual([])
})

test('65,537 characters are refused', () => {
  expect(() => parseDocument(`{ a } #${'x'.repeat(65_537 - 7)}`)).toThrow('more than 65536 characters')
})

const REFUSED: readonly (readonly [what: string, text: string, reason: string])[] = [
  ['1,980 lists that are not closed', `{me{project(ref:${'['.repeat(1_980)}`, 'nests more than 200 levels'],
  ['980 lists', nestedList(980), 'nests more than 200 levels'],
  ['640 objects', `{me{project(ref:${'{a:'.repeat(640)}1${'}'.repeat(640)}`, 'nests more than 200 levels'],
  ['201 fields in each other', nestedFields(201), 'nests more than 200 levels'],
  [
    '980 types in each other',
    `query($a: ${'['.repeat(980)}Int${']'.repeat(980)}) { me }`,
    'nests more than 200 levels',
  ],
  ['a name of 257 characters', `{ ${'a'.repeat(257)} }`, 'more than 256 characters'],
  ['5,001 lines', `{${'\n'.repeat(5_000)}a }`, 'more than 5000 lines'],
  ['5,001 lines, the last ones empty', `{ a }${'\r'.repeat(5_000)}`, 'more than 5000 lines'],
  ['5,001 lines of a text', `{ a(b: """${'\n'.repeat(5_000)}""") }`, 'more than 5000 lines'],
  ['more tokens than are read', `{ ${'a '.repeat(2_001)} }`, 'more than 2000 tokens'],
  ['1,001 comments', `{ a }${'#\n'.repeat(1_001)}`, 'more than 1000 comments'],
  ['a string that is not closed', '{ me { project(ref: "', 'Unterminated string'],
]

describe.each(REFUSED)('%s', (_what, query, reason) => {
  test('is a syntax error, by POST and by GET', async () => {
    const gateway = await startGateway()
    const accept = { accept: 'application/graphql-response+json' }
    const url = `${gateway.url}/graphql?${new URLSearchParams({ query })}`
    for (const answer of [await gateway.graphql(query, { headers: accept }), await ask(url, { headers: accept })]) {
      expect(answer.status).toBe(400)
      const [error] = answer.json().errors
      expect(error.extensions.code).toBe('GRAPHQL_PARSE_FAILED')
      expect(error.message).toContain(reason)
    }
    expect(gateway.reported).toEqual([])
  })
})
