// Which requests are accepted, what they may ask for, and what is never answered from a cache or to another user.
import { getIntrospectionQuery } from 'graphql'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../../src/errors.ts'
import { StoreUnavailableError } from '../../../src/store/contract.ts'
import { ask, startGateway, type TestGateway } from '../../support/gateway.ts'
import { expectEach } from '../../support/rows.ts'
import { ANA, BEN, SMALL_WORLD } from '../../support/workspaces.ts'

const GRAPHQL_RESPONSE = 'application/graphql-response+json'
const TYPENAME = '{"data":{"__typename":"Query"}}'

function post({ send }: TestGateway, body: unknown) {
  return send('POST', '/graphql', JSON.stringify(body), {
    'content-type': 'application/json',
    accept: GRAPHQL_RESPONSE,
  })
}

function get({ url }: TestGateway, parameters: Readonly<Record<string, string>>) {
  return ask(`${url}/graphql?${new URLSearchParams(parameters)}`, { headers: { accept: GRAPHQL_RESPONSE } })
}

const query = '{ __typename }'
const NAMED = 'query A { a: __typename } query B { b: __typename }'
const VARIED = 'query ($on: Boolean = false) { __typename @include(if: true) a: __typename @include(if: $on) }'
const LONG_NAME = 'a'.repeat(40)

const BODIES: readonly { readonly name: string; readonly body: unknown; readonly told: string }[] = [
  { name: 'a document', body: { query }, told: TYPENAME },
  {
    name: 'all parameters, empty',
    body: { query, operationName: '', variables: null, extensions: null },
    told: TYPENAME,
  },
  { name: 'an unknown one that is null', body: { query, other: null }, told: TYPENAME },
  { name: 'extensions', body: { query, extensions: {} }, told: TYPENAME },
  { name: 'one of two operations', body: { query: NAMED, operationName: 'B' }, told: '{"data":{"b":"Query"}}' },
  { name: 'variables', body: { query: VARIED, variables: { on: true } }, told: '"a":"Query"' },
  { name: 'none of two operations', body: { query: NAMED }, told: 'name one with `operationName`' },
  { name: 'an operation that is not there', body: { query, operationName: 'C' }, told: 'no operation of that name' },
  { name: 'null', body: null, told: 'The body must be one object' },
  { name: 'a number', body: 1, told: 'The body must be one object' },
  { name: 'a list', body: [{ query }], told: 'BATCHING_NOT_SUPPORTED' },
  { name: 'nothing', body: {}, told: 'The request has no `query`' },
  { name: 'a query that is null', body: { query: null }, told: 'The request has no `query`' },
  { name: 'a query that is none', body: { query: 1 }, told: '`query` must be a string' },
  { name: 'no query, and extensions', body: { extensions: { other: 1 } }, told: 'The request has no `query`' },
  { name: 'a hash', body: { extensions: { persistedQuery: {} } }, told: 'PERSISTED_QUERY_NOT_SUPPORTED' },
  { name: 'a name that is none', body: { query, operationName: 1 }, told: '`operationName` must be a string' },
  { name: 'variables that are none', body: { query, variables: 'x' }, told: '`variables` must be an object' },
  { name: 'variables in a list', body: { query, variables: [] }, told: '`variables` must be an object' },
  { name: 'extensions that are none', body: { query, extensions: 1 }, told: '`extensions` must be an object' },
  { name: 'a document and its id, as networks of Relay send it', body: { id: 'AppQuery', query }, told: TYPENAME },
  { name: 'an id of a document alone', body: { documentId: 'abc' }, told: 'PERSISTED_QUERY_NOT_SUPPORTED' },
  { name: 'an unknown one alone', body: { [LONG_NAME]: 1 }, told: `a parameter \`${LONG_NAME}\` that` },
  { name: 'one of a long name', body: { query: null, [`${LONG_NAME}a`]: 1 }, told: 'has a parameter that' },
  { name: 'one that may be a secret', body: { a1: 1 }, told: 'has a parameter that' },
]

test('a valid body is answered, and any other is refused with an explanation', async () => {
  const gateway = await startGateway()
  await expectEach(BODIES, async ({ body, told }) => {
    const { status, text } = await post(gateway, body)
    expect(text).toContain(told)
    expect(status).toBe(told.includes('"') ? 200 : 400)
  })
})

test.for([
  [[{ query }, { query }], 2],
  [[{ query }, null, 1, 'x', [{ query }], {}], 6],
  [[], 1],
  [Array.from({ length: 3_000 }, () => ({ query })), 100],
] as const)(
  'a batch is refused with a list of errors, one for each request up to a hundred (%#)',
  async ([body, length]) => {
    const gateway = await startGateway()
    const { accessToken } = await gateway.login(ANA)
    for (const accept of [GRAPHQL_RESPONSE, 'application/json']) {
      const headers = { accept, authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' }
      const answer = await gateway.send('POST', '/graphql', JSON.stringify(body), headers)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([400, `${accept}; charset=utf-8`])
      const refused = {
        errors: [{ message: expect.stringMatching(/one operation/), extensions: { code: 'BATCHING_NOT_SUPPORTED' } }],
      }
      expect(answer.json()).toEqual(Array.from({ length }, () => refused))
    }
    expect(gateway.reported).toEqual([])
  },
)

test('a valid query string is answered, and any other is refused with an explanation', async () => {
  const gateway = await startGateway()
  const rows = [
    { name: 'a document', parameters: { query }, told: TYPENAME },
    { name: 'empty ones', parameters: { query, operationName: '', variables: '', extensions: '' }, told: TYPENAME },
    { name: 'a name', parameters: { query: NAMED, operationName: 'A' }, told: '{"data":{"a":"Query"}}' },
    { name: 'variables', parameters: { query: VARIED, variables: '{"on":true}' }, told: '"a":"Query"' },
    { name: 'variables that are no JSON', parameters: { query, variables: '{' }, told: '`variables` must be JSON' },
    { name: 'an unknown one', parameters: { query, _: '1732500000000' }, told: TYPENAME },
    { name: 'a hash', parameters: { extensions: '{"persistedQuery":{}}' }, told: 'PERSISTED_QUERY_NOT_SUPPORTED' },
    { name: 'an id of a document', parameters: { documentId: 'abc' }, told: 'PERSISTED_QUERY_NOT_SUPPORTED' },
    { name: 'nothing', parameters: {}, told: 'The request has no `query`' },
    { name: 'a misspelt one', parameters: { qeury: query }, told: 'a parameter `qeury` that' },
    { name: 'one that may be a secret', parameters: { a1: query }, told: 'has a parameter that' },
    { name: 'a mutation', parameters: { query: 'mutation { logoutEverywhere }' }, told: 'METHOD_NOT_ALLOWED' },
  ]
  await expectEach(rows, async ({ parameters, told }) => {
    expect((await get(gateway, parameters)).text).toContain(told)
  })
})

test('of the mistakes in a document or in its variables, the first ten are reported, and that there are more', async () => {
  const gateway = await startGateway()
  const errorsOf = async (query: string, variables: object = {}) =>
    (await gateway.graphql(query, { variables })).json().errors.length
  const wrong = Array.from({ length: 50 }, (_, index) => `wrong${index}`)
  expect(await errorsOf(`{ ${wrong.join(' ')} }`)).toBe(11)
  expect(await errorsOf('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: wrong.map((id) => ({ id })) })).toBe(
    11,
  )
})

test('a login whose answer the client could not decode is refused with 406, and opens no session', async () => {
  const gateway = await startGateway()
  const query = `mutation { login(email: "${ANA}") { refreshToken } }`
  const { status, json } = await gateway.graphql(query, { headers: { 'accept-encoding': 'identity;q=0' } })
  expect([status, json().errors[0].extensions.code]).toEqual([406, 'NOT_ACCEPTABLE'])
  expect(await gateway.store.sessionsOf(ANA, gateway.now(), 10)).toEqual([])
})

test('a refusal has the media type that the client accepts, and is 406 in JSON if it accepts neither', async () => {
  const gateway = await startGateway()
  const typeOf = async (accept: string, origin?: string) => {
    const headers = { accept, ...(origin === undefined ? {} : { origin }) }
    const { status, headers: answered } = await gateway.graphql('{ nothing }', { headers })
    return [status, answered.get('content-type')]
  }
  expect(await typeOf(GRAPHQL_RESPONSE)).toEqual([400, `${GRAPHQL_RESPONSE}; charset=utf-8`])
  expect(await typeOf('application/json')).toEqual([200, 'application/json; charset=utf-8'])
  expect(await typeOf('text/html')).toEqual([406, 'application/json; charset=utf-8'])
})

test.for([
  ['without a selection', 'email ', 700],
  ['with a selection', 'projects { id } ', 220],
] as const)(
  'a document that repeats a field %s too often is refused with an explanation and its place',
  async ([, field, most]) => {
    const gateway = await startGateway()
    const repeated = (count: number) =>
      gateway.graphql(`#\n  { me { ${field.repeat(count)} } }`, { headers: { accept: GRAPHQL_RESPONSE } })
    expect((await repeated(most)).status).toBe(200)
    const { status, json } = await repeated(most + 200)
    expect([status, json().errors]).toEqual([
      400,
      [
        {
          message: 'The document repeats its fields too often to compare them all: ask for less at once.',
          locations: [{ line: 2, column: 3 }],
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        },
      ],
    ])
  },
)

describe('introspection', () => {
  const SCHEMA = '{ __schema { queryType { name } } }'
  test.for([
    ['everyone', true, true],
    ['signed-in', false, true],
    ['nobody', false, false],
  ] as const)(
    'is answered for the callers that the option allows: %s',
    async ([introspection, anonymous, signedIn]) => {
      const gateway = await startGateway({ graphqlValues: { introspection } })
      const { accessToken } = await gateway.login(ANA)
      // Three rounds: what one caller may see must not be cached for another.
      for (let round = 0; round < 3; round += 1) {
        const isTold = async (token?: string) =>
          'data' in (await gateway.graphql(SCHEMA, token === undefined ? {} : { accessToken: token })).json()
        expect([await isTold(accessToken), await isTold()]).toEqual([signedIn, anonymous])
      }
    },
  )

  test.for([
    ['signed-in', 'Sign in to ask for the schema, or get its text from `schema.graphql`, beside this path.'],
    ['nobody', 'This gateway does not allow introspection.'],
  ] as const)(
    'is refused under the option %s with one error, which says what to do instead',
    async ([introspection, message]) => {
      const gateway = await startGateway({ graphqlValues: { introspection } })
      const extensions = { code: 'GRAPHQL_VALIDATION_FAILED' }
      for (const document of [
        getIntrospectionQuery(),
        '{ a: __type(name: "User") { name } ...Q } fragment Q on Query { __schema { types { name } } }',
      ]) {
        const { errors } = (await gateway.graphql(document)).json()
        expect(errors).toEqual([{ message, locations: [expect.anything()], extensions }])
      }
      expect((await gateway.graphql('{ __typename }')).json()).toEqual({ data: { __typename: 'Query' } })
    },
  )

  test('is INVALID_TOKEN for an invalid token, which gets no suggestions of names either', async () => {
    const gateway = await startGateway({ graphqlValues: { introspection: 'signed-in' } })
    for (const [accept, withoutToken] of [
      [GRAPHQL_RESPONSE, 400],
      ['application/json', 200],
    ] as const) {
      const asked = async (document: string, accessToken?: string) => {
        const { status, headers, json } = await gateway.graphql(document, {
          headers: { accept },
          ...(accessToken && { accessToken }),
        })
        return [status, json().errors[0].extensions.code, headers.get('www-authenticate') !== null]
      }
      for (const document of [SCHEMA, '{ me { id } __schema { queryType { name } } }', SCHEMA]) {
        expect(await asked(document, 'no token')).toEqual([401, 'INVALID_TOKEN', true])
        expect(await asked(document)).toEqual([withoutToken, 'GRAPHQL_VALIDATION_FAILED', false])
      }
      const misspelt = await gateway.graphql('{ my { id } }', { headers: { accept }, accessToken: 'no token' })
      expect([misspelt.status, misspelt.text.includes('Did you mean')]).toEqual([withoutToken, false])
    }
  })
})

describe('suggestions of names', () => {
  test.for([
    ['by default', undefined, false, true],
    ['with everyone', 'everyone', true, true],
    ['with signed-in', 'signed-in', false, true],
    ['with nobody', 'nobody', false, false],
  ] as const)(
    'are given to the callers that the option allows: %s',
    async ([, graphqlSuggestions, anonymous, signedIn]) => {
      const gateway = await startGateway({ graphqlValues: graphqlSuggestions ? { graphqlSuggestions } : {} })
      const { accessToken } = await gateway.login(ANA)
      const variables = { id: 1 }
      for (const document of ['{ my { email } }', 'query ($id: Int) { me { emial } }']) {
        const isTold = async (token?: string) =>
          (await gateway.graphql(document, { variables, ...(token && { accessToken: token }) })).text.includes(
            'Did you mean',
          )
        expect([await isTold(), await isTold(accessToken)]).toEqual([anonymous, signedIn])
      }
    },
  )
})

describe('a mutation', () => {
  const LOGIN = `mutation { login(email: "${ANA}") { accessToken refreshToken } }`

  test('is executed each time, even if it is repeated or sent concurrently', async () => {
    const gateway = await startGateway()
    await gateway.load(SMALL_WORLD)
    const { accessToken } = await gateway.login(ANA)
    const once = async () => (await gateway.graphql(LOGIN, { accessToken })).json().data.login.refreshToken
    const tokens = [await once(), await once(), ...(await Promise.all([once(), once(), once()]))]
    expect(new Set(tokens).size).toBe(5)
  })

  test('ignores an invalid access token if it signs in; a query and a logout refuse the token', async () => {
    const gateway = await startGateway()
    const broken = 'no token'
    expect((await gateway.graphql(LOGIN, { accessToken: broken })).json().data.login.accessToken).toBeTypeOf('string')
    const refused = await gateway.graphql('{ __typename }', { accessToken: broken })
    expect([refused.status, refused.json().errors[0].extensions.code]).toEqual([401, 'INVALID_TOKEN'])
    for (const [accessToken, code] of [
      [broken, 'INVALID_TOKEN'],
      [undefined, 'UNAUTHENTICATED'],
    ] as const) {
      const everywhere = await gateway.graphql('mutation { logoutEverywhere }', accessToken ? { accessToken } : {})
      expect(everywhere.json().errors[0].extensions.code).toBe(code)
    }
  })
})

test.for([
  new StoreUnavailableError('the database is away'),
  new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 }),
])('a session that cannot be looked up is UNAVAILABLE, and does not count as ended: %s', async (failure) => {
  let isAway = false
  const gateway = await startGateway({
    wrapStore: (store) => ({
      ...store,
      liveSessions(...asked) {
        if (isAway) throw failure
        return store.liveSessions(...asked)
      },
    }),
  })
  const { accessToken } = await gateway.login(ANA)
  isAway = true
  const { status, json } = await gateway.graphql('mutation { logoutEverywhere }', { accessToken })
  expect([status, json().errors[0].extensions.code]).toEqual([503, 'UNAVAILABLE'])
})

describe('data of a user', () => {
  test('differs from that of another user, even for the same document at the same time', async () => {
    const gateway = await startGateway()
    await gateway.load(SMALL_WORLD)
    const tokens = await Promise.all([ANA, BEN].map(async (email) => (await gateway.login(email)).accessToken))
    const mine = async (accessToken: string) =>
      (await gateway.graphql('{ me { email id projects { id } } }', { accessToken })).json().data.me
    for (let round = 0; round < 2; round += 1) {
      const [ana, ben] = await Promise.all(tokens.map(mine))
      expect([ana.email, ben.email]).toEqual([ANA, BEN])
      expect(ana.id).not.toBe(ben.id)
      expect(ana.projects[0].id).not.toBe(ben.projects[0].id)
    }
  })

  test('is answered as it is written, beside fields that are read separately', async () => {
    const gateway = await startGateway()
    const written = '{"id":"p1","ref":"site","name":"\\u0053ite \\/","description":5,"tags":[ "a" ],"version":"1"}'
    await gateway.load(`{"kind":"project","email":"${ANA}","data":${written}}\n`)
    const { accessToken } = await gateway.login(ANA)
    const { text } = await gateway.graphql(
      '{ me { projects { a: name latestExport { ref } name description tags version b: version ref documentId } } }',
      { accessToken },
    )
    const name = '"\\u0053ite \\/"'
    expect(text).toBe(
      `{"data":{"me":{"projects":[{"a":${name},"latestExport":null,"name":${name},"description":null,"tags":[ "a" ],"version":"1","b":"1","ref":"site","documentId":"p1"}]}}}`,
    )
  })
})

test('a trace gives the duration of each step, and they add up to no more than the request took', async () => {
  const gateway = await startGateway()
  const begun = performance.now()
  const { headers } = await gateway.graphql(query, { headers: { 'gateway-trace': '1' } })
  const passed = performance.now() - begun
  const steps = headers.get('server-timing') ?? ''
  const durations = [...steps.matchAll(/dur=([\d.]+)/g)].map(([, duration]) => Number(duration))
  expect(durations.length).toBeGreaterThan(2)
  expect(durations.reduce((sum, duration) => sum + duration, 0)).toBeLessThanOrEqual(passed)
  expect(headers.get('gateway-trace')).toBe('plan=new, reply=made')
})

test('a trace says that the plan of a document is kept after its second use, also for other variables', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const byReference = 'query($ref: String!) { me { project(ref: $ref) { name } } }'
  const traces: (string | null)[] = []
  for (const ref of ['site', 'none', 'another']) {
    const options = { accessToken, variables: { ref }, headers: { 'gateway-trace': '1' } }
    const { headers } = await gateway.graphql(byReference, options)
    traces.push(headers.get('gateway-trace'))
  }
  expect(traces).toEqual(['plan=new, reply=made', 'plan=new, reply=made', 'plan=kept, reply=made'])
})
