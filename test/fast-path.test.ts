import { getIntrospectionQuery } from 'graphql'
import { expect, test } from 'vitest'
import { createCompiledQueries } from '../src/graphql/execution/compiled-queries.ts'
import { createSchema } from '../src/graphql/schema.ts'
import { ask, bearer, startGateway } from './support/gateway.ts'
import { ANA, SMALL_WORLD } from './support/workspaces.ts'

/** The same to GraphQL over HTTP; only the first is word for word what the fast path knows. */
const FAST = 'application/json'
const IN_FULL = 'application/json, application/json;q=0.9'
const FAST_RESPONSE = 'application/graphql-response+json'
const IN_FULL_RESPONSE = 'application/graphql-response+json, application/graphql-response+json;q=0.9'

const COMPARED_HEADERS = ['content-type', 'cache-control', 'vary', 'www-authenticate', 'allow', 'api-version']

const BODIES: readonly unknown[] = [
  { query: '{ me { email projects { data id ref name tags latestExport { createdAt digest data } } } }' },
  { query: '{ a: me { b: email } c: me { email } __typename }' },
  { query: '{ me { then: email projects { then: name } } then: __typename }' },
  { query: '{ me { projects { ...P } } } fragment P on Project { name ... on Project { id } __typename }' },
  { query: 'query($n: Int = 1) { me { projects(first: $n) { id cursor } } }' },
  { query: 'query($n: Int = 1) { me { projects(first: $n) { id } } }', variables: { n: 2 } },
  { query: 'query($n: Int) { me { projects(first: $n) { id } } }', variables: { n: null } },
  { query: 'query($n: Int) { me { projects(first: $n) { id } } }', variables: null, operationName: null },
  { query: 'query($n: Int) { me { projects(first: $n) { id } } }', variables: { n: 'x' } },
  { query: 'query($n: Int!) { me { projects(first: $n) { id } } }' },
  { query: 'query($n: Int) { me { projects(first: $n) { id } } }', variables: { n: 1, unknown: true } },
  { query: 'query($n: Int) { me { projects(first: $n) { id } } }', variables: { n: -1 } },
  {
    query: 'query($on: Boolean!) { me { email @include(if: $on) projects @skip(if: $on) { id } } }',
    variables: { on: true },
  },
  {
    query: 'query($on: Boolean!) { me { email @include(if: $on) projects @skip(if: $on) { id } } }',
    variables: { on: false },
  },
  { query: 'query A { me { email } } query B { __typename }', operationName: 'A' },
  { query: 'query A { me { email } } query B { __typename }', operationName: 'B' },
  { query: 'query A { me { email } } query B { __typename }', operationName: 'C' },
  { query: 'query A { me { email } } query B { __typename }' },
  {
    query:
      '{ me { projectsConnection(first: 1) { totalCount edges { cursor node { name } } pageInfo { hasNextPage endCursor } } } }',
  },
  { query: '{ me { latestExport(ref: "app") { digest } email } }' },
  {
    query:
      '{ me { latestExport(ref: "site") { elements { data path } elementsConnection { totalCount nodes { data } } } } }',
  },
  { query: '{ me { project(ref: "none") { id } } }' },
  { query: '{ me { projects(after: "%%%") { id } } }' },
  { query: getIntrospectionQuery() },
  { query: '{ __type(name: "User") { name fields { name } } }' },
  { query: '{ me { nothing } }' },
  { query: '{ me {' },
  { query: '' },
  { query: 5 },
  { query: '{ __typename }', unknown: 1 },
  { query: '{ __typename }', extensions: { a: 1 } },
  { query: '{ __typename }', variables: [] },
  { query: 'subscription { x }' },
  { query: 'mutation { login(email: "not an email") { accessToken } }' },
  { query: 'mutation { refresh(refreshToken: "x") { accessToken } }' },
  {},
  [],
  [{ query: '{ __typename }' }],
  null,
  'text',
]

test('the fast path takes these queries at all: nothing below would tell', () => {
  const queries = createCompiledQueries(createSchema())
  for (const query of ['{ me { email } }', '{ me { projects { data latestExport { digest } } } }', '{ __typename }']) {
    expect(queries.get(query, undefined), query).not.toBeNull()
  }
})

test('the fast path and GraphQL over HTTP in full give the same answers', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const { accessToken: withoutWorkspace } = await gateway.login('nobody@example.com')
  for (const token of [accessToken, withoutWorkspace, undefined, 'bad']) {
    for (const body of BODIES) {
      for (const [fast, inFull] of [
        [FAST, IN_FULL],
        [FAST_RESPONSE, IN_FULL_RESPONSE],
      ] as const) {
        const send = async (accept: string) => {
          const headers = { 'content-type': 'application/json', accept, ...bearer(token) }
          const answer = await ask(`${gateway.url}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) })
          const shown = Object.fromEntries(COMPARED_HEADERS.map((name) => [name, answer.headers.get(name)]))
          return { status: answer.status, text: answer.text, ...shown }
        }
        const expected = await send(inFull)
        expect(await send(fast), JSON.stringify(body)).toEqual(expected)
        // And again, from what was kept.
        expect(await send(fast), JSON.stringify(body)).toEqual(expected)
      }
    }
  }
})

test('queries are compiled in these tests too', () => {
  const queries = createCompiledQueries(createSchema())
  expect(queries.get('{ me { projects { data latestExport { data } } } }', undefined)).not.toBeNull()
})

test('what is kept for one user is never answered to another, nor to a stranger', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const ana = await gateway.login(ANA)
  const ben = await gateway.login('ben@example.com')
  const query = '{ me { email projects { ref } } }'
  for (const [accessToken, ref] of [
    [ana.accessToken, 'site'],
    [ben.accessToken, 'secret'],
    [ana.accessToken, 'site'],
    [ben.accessToken, 'secret'],
  ] as const) {
    expect((await gateway.graphql(query, { accessToken })).json().data.me.projects[0].ref).toBe(ref)
    expect((await gateway.get('/projects', accessToken)).json()[0].ref).toBe(ref)
  }
  expect((await gateway.graphql(query)).json().data.me).toBeNull()
  expect((await gateway.get('/projects')).status).toBe(401)
})

test('a change of one user is in the next answer, kept or not, and leaves the other alone', async () => {
  for (const cacheBytes of [0, 1_048_576]) {
    const gateway = await startGateway({ cacheBytes })
    await gateway.load(SMALL_WORLD)
    const { accessToken } = await gateway.login(ANA)
    for (let round = 0; round < 20; round += 1) {
      await gateway.load(`{"kind":"template","email":"${ANA}","data":{"id":"t1","round":${round}}}\n`)
      const text = `{"id":"t1","round":${round}}`
      const first = await gateway.get('/templates', accessToken)
      const again = await gateway.get('/templates', accessToken)
      expect([first.text, again.text]).toEqual([`[${text}]`, `[${text}]`])
      expect(again.headers.get('etag')).toBe(first.headers.get('etag'))
      const { text: graphql } = await gateway.graphql('{ me { templates { data } } }', { accessToken })
      expect(graphql).toBe(`{"data":{"me":{"templates":[{"data":${text}}]}}}`)
    }
  }
})
