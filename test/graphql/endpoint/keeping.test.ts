// What the gateway reads for an answer, which answers it keeps, and that it releases their memory.
import { describe, expect, test } from 'vitest'
import { createInFlightBytes } from '../../../src/http/limits/in-flight-bytes.ts'
import { StoreUnavailableError } from '../../../src/store/contract.ts'
import { bearer, startGateway, type TestGatewayOptions } from '../../support/gateway.ts'
import { exchange, readAnswers, requestText } from '../../support/wire.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../../support/workspaces.ts'

const LIST = '{ me { templates { name } } }'

/** Counts the questions to the store about lists of documents, and can make the store fail. */
async function startCounted(options: TestGatewayOptions = {}) {
  let asked = 0
  let isAway = false
  const gateway = await startGateway({
    ...options,
    wrapStore: (store) => ({
      ...store,
      documentsWithin(questions) {
        asked += questions.length
        if (isAway) throw new StoreUnavailableError('the database is away')
        return store.documentsWithin(questions)
      },
    }),
  })
  await gateway.load(SMALL_WORLD)
  const tokens = await Promise.all([ANA, BEN].map(async (email) => (await gateway.login(email)).accessToken))
  const [ana = '', ben = ''] = tokens
  return {
    gateway,
    ana,
    ben,
    setAway(away: boolean) {
      isAway = away
    },
    /** How often the store was asked during `run`. */
    async askedBy(run: () => Promise<unknown>) {
      asked = 0
      await run()
      return asked
    },
  }
}

describe('equal requests of one user', () => {
  test('are read once, whether they come together or one after the other', async () => {
    const { gateway, ana, ben, askedBy } = await startCounted()
    const ask = (accessToken: string) => gateway.graphql(LIST, { accessToken })
    // A request whose document is not cached yet waits for a turn, and others may end meanwhile.
    for (const n of [1, 2]) await gateway.graphql(LIST, { accessToken: ben, variables: { n } })
    const together = async () => {
      const answers = await Promise.all([ana, ana, ana, ana].map(ask))
      for (const { text } of answers) expect(text).toBe('{"data":{"me":{"templates":[{"name":"Landing"}]}}}')
    }
    expect(await askedBy(together)).toBe(1)
    expect(await askedBy(together)).toBe(0)
    expect(await askedBy(() => ask(ben))).toBe(1)
  })

  test('are each read if nothing may be kept', async () => {
    const { gateway, ana, askedBy } = await startCounted({ cacheBytes: 0 })
    const ask = () => gateway.graphql(LIST, { accessToken: ana })
    expect(await askedBy(() => Promise.all([ask(), ask(), ask()]))).toBe(3)
    expect(await askedBy(ask)).toBe(1)
  })
})

test('each operation of a cached document gets its own answer', async () => {
  const { gateway, ana } = await startCounted({ cacheBytes: 0 })
  const document = 'query A { me { templates { name } } } query B { me { email } }'
  // The document is cached with the second request, and the plan of an operation when it is sent again.
  for (let round = 0; round < 3; round += 1) {
    for (const [operationName, me] of [
      ['A', { templates: [{ name: 'Landing' }] }],
      ['B', { email: ANA }],
    ] as const) {
      const answer = await gateway.graphql(document, { accessToken: ana, operationName })
      expect(answer.json(), operationName).toEqual({ data: { me } })
    }
  }
})

test('a kept reply is sent in the media type that its own request accepts', async () => {
  const { gateway, ana, askedBy } = await startCounted()
  const types = ['application/json', 'application/graphql-response+json']
  for (const accept of [...types, ...types]) {
    const { headers } = await gateway.graphql(LIST, { accessToken: ana, headers: { accept } })
    expect(headers.get('content-type')).toBe(`${accept}; charset=utf-8`)
  }
  const [accept = ''] = types
  expect(await askedBy(() => gateway.graphql(LIST, { accessToken: ana, headers: { accept } }))).toBe(0)
})

test('a GET whose query string is the body of a POST does not get its kept answer', async () => {
  const { gateway, ana } = await startCounted()
  const text = '{"query":"{me{templates{name}}}"}'
  const accept = 'application/json'
  const posted = await gateway.send('POST', '/graphql', text, { ...bearer(ana), accept, 'content-type': accept })
  expect(posted.status).toBe(200)
  const headers = Object.entries({ ...bearer(ana), accept, connection: 'close' })
  const [answer] = readAnswers(await exchange(gateway.url, requestText({ target: `/graphql?${text}`, headers })))
  expect([answer?.status, answer?.json().errors?.[0].extensions.code]).toEqual([400, 'BAD_REQUEST'])
})

test('a partial answer is kept if the workspace is the reason', async () => {
  const { gateway, ana, askedBy } = await startCounted()
  const query = '{ me { templates { name } latestExport(ref: "app") { digest } } }'
  const ask = async () => {
    const { errors } = (await gateway.graphql(query, { accessToken: ana })).json()
    expect(errors.map((error: { extensions: object }) => error.extensions)).toEqual([{ code: 'NO_EXPORT' }])
  }
  expect([await askedBy(ask), await askedBy(ask)]).toEqual([1, 0])
})

test('a partial answer of an outage is not kept, and neither is a list of sessions', async () => {
  const { gateway, ana, setAway } = await startCounted()
  const ask = async (query: string) => (await gateway.graphql(query, { accessToken: ana })).json()
  const both = `{ __typename ${LIST.slice(1)}`
  setAway(true)
  expect((await ask(both)).errors[0].extensions.code).toBe('UNAVAILABLE')
  setAway(false)
  expect((await ask(both)).errors).toBeUndefined()
  const sessions = '{ me { sessions { id } first: sessions(first: 1) { id } } }'
  expect((await ask(sessions)).data.me.sessions).toHaveLength(1)
  await gateway.login(ANA)
  const { me } = (await ask(sessions)).data
  expect(me.sessions).toHaveLength(2)
  expect(me.first).toEqual(me.sessions.slice(0, 1))
})

test.for([
  ['an answer', '10000000', undefined],
  ['a refusal', '400000', 'RESPONSE_TOO_LARGE'],
] as const)('%s for a long list leaves no memory reserved', async ([, graphqlMaxReadBytes, code]) => {
  const inFlight = createInFlightBytes(100_000_000)
  const gateway = await startGateway({ inFlight, graphqlValues: { graphqlMaxReadBytes } })
  const text = (id: number) => `{"id":"t${id}","text":"${'x'.repeat(10_000)}"}`
  await gateway.load(Array.from({ length: 60 }, (_, id) => documentLine('template', ANA, text(id))).join(''))
  const { accessToken } = await gateway.login(ANA)
  const { errors } = (await gateway.graphql('{ me { templates { data } } }', { accessToken })).json()
  expect(errors?.[0].extensions.code).toBe(code)
  await expect.poll(() => inFlight.byteLength()).toBe(0)
})
