// Tests the message of the first page when two answers cannot be compared.
import { expect, test } from 'vitest'
import { compare } from '../../src/explorer/rosetta/comparison.ts'

const JSON_ANSWER = { status: 200, isJson: true, text: '{"data":{"me":null}}' }
const PAGE = { status: 502, isJson: false, text: '<h1>Proxy</h1>' }
const NONE = { status: 0, isJson: false, text: 'The gateway does not answer.' }

test.each([
  ['both', NONE, NONE, 'Neither side has any answer to compare.'],
  ['REST', NONE, JSON_ANSWER, 'REST has no answer to compare.'],
  ['GraphQL', PAGE, NONE, 'GraphQL has no answer to compare.'],
  ['both, as JSON', PAGE, PAGE, 'Neither side has any JSON to compare.'],
  ['GraphQL, as JSON', JSON_ANSWER, PAGE, 'GraphQL has no JSON to compare.'],
])('compare() names the side that has no comparable answer: %s', (_sides, rest, graphql, text) => {
  expect(compare(rest, graphql)).toEqual({ kind: 'incomparable', text })
})

test('compare() groups the digits of how many documents are the same', () => {
  const list = `[${Array(1_234).fill('{}').join(',')}]`
  const graphql = `{"data":{"me":{"projects":${list.replaceAll('{}', '{"data":{}}')}}}}`
  const { text } = compare({ ...JSON_ANSWER, text: list }, { ...JSON_ANSWER, text: graphql })
  expect(text).toBe(`Both sides hold the same ${(1_234).toLocaleString()} documents, byte for byte.`)
  expect(text).not.toContain('1234')
})

test.each([
  ['beside a list', '"projects":[{"name":"A"}],"latestExport":{"data":[7]}', 'the same document, byte for byte'],
  [
    'of a list beside an export',
    '"projects":[{"data":7}],"latestExport":{"digest":"a"}',
    'the same document, byte for byte',
  ],
  ['in a connection', '"projectsConnection":{"nodes":[{"data":7}]}', 'no data of a list or an export under me'],
  ['nowhere', '"projects":[{"name":"A"}]', 'no data of a list or an export under me'],
])('compare() compares the documents where the query selects them: %s', (_where, me, text) => {
  const graphql = `{"data":{"me":{${me}}}}`
  expect(compare({ ...JSON_ANSWER, text: '[7]' }, { ...JSON_ANSWER, text: graphql }).text).toContain(text)
})

test.each([
  '{"data":{"me":null}}',
  '{"data":{"me":{"latestExport":null}},"errors":[{"extensions":{"code":"NO_PROJECT"}}]}',
])(
  'compare() asks for a reference, and calls nothing different, where REST lacks it and GraphQL answers %s',
  (text) => {
    const rest = { status: 400, isJson: true, text: '{"status":400,"code":"MISSING_PARAMETER"}' }
    expect(compare(rest, { ...JSON_ANSWER, text })).toEqual({
      kind: 'incomparable',
      text: 'Enter the reference of a project: REST refuses an empty one, with MISSING_PARAMETER.',
    })
  },
)
