// Real clients: they get compressed answers, a kept reply at the second request, and the same bytes. If they try a
// feature that does not exist, the answer lets them go on or says why not.
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { BatchHttpLink } from '@apollo/client/link/batch-http'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { Client, fetchExchange } from '@urql/core'
import { persistedExchange } from '@urql/exchange-persisted'
import { describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { rawRead } from '../support/raw-read.ts'
import { ANA, documentLine } from '../support/workspaces.ts'
import { REAL_CLIENTS } from './clients/clients.ts'
import { authorization, type Endpoint, QUERY } from './clients/endpoint.ts'
import { type Recorded, type RecordingProxy, startRecordingProxy } from './clients/recording-proxy.ts'

const PROJECTS = Array.from({ length: 60 }, (_, index) => ({
  id: index,
  ref: `p${index}`,
  name: `Project ${index}`,
  n: [1, null, 'é'],
}))
const ME = { email: ANA, projects: PROJECTS.map((data) => ({ ref: data.ref, name: data.name, data })) }
const CODINGS = ['gzip', 'br', 'zstd']

interface World extends Endpoint {
  readonly gatewayUrl: string
  readonly recorded: RecordingProxy['recorded']
}

async function startWorld(): Promise<World> {
  const gateway = await startGateway()
  await gateway.load(PROJECTS.map((data) => documentLine('project', ANA, JSON.stringify(data))).join(''))
  const { accessToken } = await gateway.login(ANA)
  const { url, recorded } = await startRecordingProxy(gateway.url)
  return { url, gatewayUrl: gateway.url, accessToken, recorded }
}

/** Sends the same request again, straight to the gateway and without compression. */
function askPlainly({ gatewayUrl }: World, { method, path, requestHeaders, requestBody }: Recorded) {
  const headers = { ...(requestHeaders as Record<string, string>), 'accept-encoding': 'identity' }
  return rawRead(`${gatewayUrl}${path}`, { method, headers, ...(method === 'POST' ? { body: requestBody } : {}) })
}

/** Leaves out `__typename`, which some clients request by themselves. */
function withoutTypenames(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member) => (name === '__typename' ? undefined : member)))
}

describe('a real client', () => {
  test.for(REAL_CLIENTS)(
    'gets compressed answers, a kept reply at the second request, and the same bytes: $name',
    async ({ ask, method }) => {
      const world = await startWorld()
      const answers = [await ask(world), await ask(world)]
      for (const answer of answers) expect(withoutTypenames(answer)).toEqual(ME)
      const [first, second] = world.recorded
      if (!first || !second || world.recorded.length !== 2)
        throw new Error(`${world.recorded.length} requests were sent`)
      const plain = await askPlainly(world, first)
      for (const one of [first, second]) {
        expect([one.method, one.status]).toEqual([method, 200])
        const { 'accept-encoding': accepted = '' } = one.requestHeaders
        const coding = one.headers['content-encoding'] ?? ''
        if (CODINGS.some((known) => accepted.includes(known))) expect(CODINGS).toContain(coding)
        expect(one.headers.vary).toMatch(/accept-encoding/i)
        expect(one.bytes.byteLength).toBeLessThan(plain.bytes.byteLength)
      }
      expect(plain.headers['content-encoding']).toBeUndefined()
      expect(plain.headers['content-type']).toBe(first.headers['content-type'])
      expect(second.bytes.equals(first.bytes)).toBe(true)
      const decoded = await rawRead(`${world.gatewayUrl}${second.path}`, {
        method,
        headers: second.requestHeaders as Record<string, string>,
        ...(method === 'POST' ? { body: second.requestBody } : {}),
      })
      expect(decoded.text).toBe(plain.text)
      expect(second.headers['gateway-trace']).toMatch(/reply=kept/)
    },
  )
})

test('an answer does not say how it was made unless the client asks and the configuration allows it', async () => {
  const traced = await startGateway()
  const silent = await startGateway({ graphqlValues: { traceHeader: false } })
  const asked = await silent.graphql('{ __typename }', { headers: { 'gateway-trace': '1' } })
  const notAsked = await traced.graphql('{ __typename }')
  for (const { headers } of [asked, notAsked]) expect(headers.has('gateway-trace')).toBe(false)
})

test('a REST answer says how it was made and how long it took, if the client asks and it is allowed', async () => {
  const [traced, silent] = [await startGateway(), await startGateway({ graphqlValues: { traceHeader: false } })]
  const asks = { 'gateway-trace': '1' }
  for (const gateway of [traced, silent]) await gateway.load(documentLine('project', ANA, '{"id":"p"}'))
  const [ana, other] = [await traced.login(ANA), await silent.login(ANA)]
  const first = await traced.get('/projects', ana.accessToken, asks)
  expect(first.headers.get('server-timing')).toMatch(/^answer;dur=\d+\.\d{3}$/)
  expect(first.headers.get('gateway-trace')).toBe('plan=none, reply=made')
  const second = await traced.get('/projects', ana.accessToken, asks)
  expect([second.headers.get('gateway-trace'), second.text]).toEqual(['plan=none, reply=kept', first.text])
  const untold = [
    await traced.get('/projects', ana.accessToken),
    await silent.get('/projects', other.accessToken, asks),
  ]
  for (const { headers, text } of untold) {
    expect([headers.has('gateway-trace'), headers.has('server-timing'), text]).toEqual([false, false, first.text])
  }
})

describe('automatic persisted queries', () => {
  const sha256 = async (text: string) => {
    const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
    return Buffer.from(bytes).toString('hex')
  }

  test("Apollo's link falls back, and sends full queries from then on", async () => {
    const world = await startWorld()
    const link = ApolloLink.from([
      new PersistedQueryLink({ sha256 }),
      new HttpLink({ uri: `${world.url}/graphql`, headers: authorization(world) }),
    ])
    const client = new ApolloClient({ link, cache: new InMemoryCache() })
    for (let time = 0; time < 2; time += 1) {
      const { data } = await client.query<{ me: unknown }>({ query: gql(QUERY), fetchPolicy: 'no-cache' })
      expect(withoutTypenames(data?.me)).toEqual(ME)
    }
    const sent = world.recorded.map(({ requestBody }) => 'query' in JSON.parse(requestBody))
    expect(sent).toEqual([false, true, true])
    expect(JSON.parse(decode(world.recorded[0]))).toMatchObject({ errors: [{ message: 'PersistedQueryNotSupported' }] })
  })

  test("urql's exchange falls back to the full query", async () => {
    const world = await startWorld()
    const client = new Client({
      url: `${world.url}/graphql`,
      preferGetMethod: false,
      fetchOptions: { headers: authorization(world) },
      exchanges: [persistedExchange({ preferGetForPersistedQueries: true, enableForMutation: true }), fetchExchange],
    })
    const { data, error } = await client.query<{ me: unknown }>(QUERY, {}).toPromise()
    expect(error).toBeUndefined()
    expect(withoutTypenames(data?.me)).toEqual(ME)
    const sent = world.recorded.map(({ path }) => new URL(path, world.url).searchParams.has('query'))
    expect(sent).toEqual([false, true])
    expect(JSON.parse(decode(world.recorded[0]))).toMatchObject({ errors: [{ message: 'PersistedQueryNotSupported' }] })
  })

  test('a hash that comes with its query is answered', async () => {
    const gateway = await startGateway()
    const extensions = { persistedQuery: { version: 1, sha256Hash: await sha256('{ __typename }') } }
    const answer = await gateway.send('POST', '/graphql', JSON.stringify({ query: '{ __typename }', extensions }))
    expect([answer.status, answer.json()]).toEqual([200, { data: { __typename: 'Query' } }])
  })
})

describe('a feature that does not exist is refused with an explanation', () => {
  test('each operation of an Apollo batch is told that batching is not supported', async () => {
    const world = await startWorld()
    const link = new BatchHttpLink({ uri: `${world.url}/graphql`, headers: authorization(world), batchMax: 2 })
    const client = new ApolloClient({ link, cache: new InMemoryCache() })
    const asked = ['query A { me { email } }', 'query B { me { email } }'].map((query) =>
      client.query({ query: gql(query), fetchPolicy: 'no-cache' }).catch((error: unknown) => error),
    )
    // Each operation gets the reason, not the message that there is one answer for two operations.
    for (const one of await Promise.all(asked)) {
      expect(one).toBeInstanceOf(CombinedGraphQLErrors)
      expect(one).toMatchObject({
        errors: [{ message: expect.stringMatching(/one operation/), extensions: { code: 'BATCHING_NOT_SUPPORTED' } }],
      })
    }
    expect(world.recorded.map(({ status }) => status)).toEqual([400])
    expect(JSON.parse(decode(world.recorded[0]))).toHaveLength(2)
  })

  test('subscriptions of Apollo Client and urql are told that there are none', async () => {
    const { gatewayUrl, ...world } = await startWorld()
    const url = `${gatewayUrl}/graphql`
    const document = gql('subscription { me { email } }')
    const link = new HttpLink({ uri: url, headers: authorization(world) })
    const apollo = new ApolloClient({ link, cache: new InMemoryCache() })
    const urql = new Client({ url, fetchSubscriptions: true, preferGetMethod: false, exchanges: [fetchExchange] })
    const [ofApollo, ofUrql] = await Promise.all([
      new Promise<{ readonly error?: unknown }>((resolve) => apollo.subscribe({ query: document }).subscribe(resolve)),
      new Promise<{ readonly error?: unknown }>((resolve) => urql.subscription(document, {}).subscribe(resolve)),
    ])
    expect(ofApollo.error).toMatchObject({
      errors: [
        {
          message: expect.stringContaining('subscription operation is not supported'),
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        },
      ],
    })
    // It accepts events alone.
    expect(ofUrql.error).toMatchObject({ graphQLErrors: [{ extensions: { code: 'NOT_ACCEPTABLE' } }] })
  })

  test.for([
    ['@defer', '{ me { ... @defer { email } } }'],
    ['@stream', '{ me { projects @stream(initialCount: 1) { ref } } }'],
  ] as const)('a query with %s is refused with a message that names it', async ([name, query]) => {
    const world = await startWorld()
    const body = JSON.stringify({ query })
    const headers = {
      'content-type': 'application/json',
      accept: 'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9',
      ...authorization(world),
    }
    const answer = await rawRead(`${world.gatewayUrl}/graphql`, { method: 'POST', headers, body })
    const [error] = JSON.parse(answer.text).errors
    expect([answer.status, error.extensions.code]).toEqual([400, 'INCREMENTAL_DELIVERY_NOT_SUPPORTED'])
    expect(error.message).toContain(name)
  })
})

/** Returns the text of a refusal, which is never compressed. */
function decode(recorded: Recorded | undefined): string {
  expect(recorded?.headers['content-encoding']).toBeUndefined()
  return recorded?.bytes.toString() ?? ''
}
