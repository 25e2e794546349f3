// Tests the `fetch` wrapper of the guide for frontends with Apollo Client, urql, ky and REST.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { Client, fetchExchange } from '@urql/core'
import ky from 'ky'
import { describe, expect, test, vi } from 'vitest'
import { ask, startGateway, type TestGateway } from '../support/gateway.ts'
import { listenForTest } from '../support/listen-for-test.ts'
import { ANA, BEN, SMALL_WORLD } from '../support/workspaces.ts'
import { createSignedInFetch, type Tokens } from './signed-in-fetch.ts'

const ME = '{ me { email } }'

/** Longer than the lifetime of an access token, shorter than a session. */
const PAST_ACCESS_TOKENS_SECONDS = 3_600

async function startWithEndedToken() {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const tokens: Tokens = { ...(await gateway.login(ANA)) }
  gateway.advance(PAST_ACCESS_TOKENS_SECONDS)
  const signedOut: string[] = []
  const fetchFrom = (url: string) => createSignedInFetch(url, tokens, () => signedOut.push('now'))
  return { gateway, tokens, signedOut, fetchFrom, fetch: fetchFrom(gateway.url) }
}

type AskMe = (gateway: TestGateway, signedInFetch: typeof fetch) => Promise<unknown>

const CLIENTS: Readonly<Record<string, AskMe>> = {
  async 'Apollo Client'({ url }, fetch) {
    const client = new ApolloClient({
      link: new HttpLink({ uri: `${url}/graphql`, fetch }),
      cache: new InMemoryCache(),
    })
    return (await client.query({ query: gql(ME), fetchPolicy: 'no-cache' })).data
  },
  async urql({ url }, fetch) {
    const client = new Client({ url: `${url}/graphql`, fetch, preferGetMethod: false, exchanges: [fetchExchange] })
    const { data, error } = await client.query(ME, {})
    if (error) throw error
    return data
  },
  async ky({ url }, fetch) {
    return (await ky.post(`${url}/graphql`, { fetch, json: { query: ME } }).json<{ data: unknown }>()).data
  },
  async REST({ url }, fetch) {
    const response = await fetch(`${url}/projects`)
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    return { me: { email: ANA, projects: await response.json() } }
  },
}

describe('the fetch wrapper of the guide for frontends', () => {
  test.for(Object.entries(CLIENTS))('renews an expired access token for %s', async ([, askMe]) => {
    const { gateway, tokens, signedOut, fetch } = await startWithEndedToken()
    const ended = tokens.accessToken
    const answers = await Promise.all([askMe(gateway, fetch), askMe(gateway, fetch), askMe(gateway, fetch)])
    for (const answer of answers) expect(answer).toMatchObject({ me: { email: ANA } })
    expect(tokens.accessToken).not.toBe(ended)
    expect(signedOut).toEqual([])
  })

  test('sends the headers of a `Request`, which some clients pass, also after a renewal', async () => {
    const { gateway, fetch } = await startWithEndedToken()
    const { accessToken } = await gateway.login(ANA)
    const etag = (await gateway.get('/projects', accessToken)).headers.get('etag') ?? ''
    const conditional = () => fetch(new Request(`${gateway.url}/projects`, { headers: { 'if-none-match': etag } }))
    expect([(await conditional()).status, (await conditional()).status]).toEqual([304, 304])
  })

  test('renews the token only once, even for a request whose 401 arrives after the renewal', async () => {
    const { gateway, tokens } = await startWithEndedToken()
    let renewals = 0
    const late = Promise.withResolvers<void>()
    const front = await listenForTest(
      createServer(async (request, response) => {
        const { url = '/', method = 'GET', headers } = request
        if (url === '/token') renewals += 1
        const body = method === 'POST' ? { body: await text(request) } : {}
        const sent = { authorization: headers.authorization ?? '', 'content-type': 'application/json' }
        const answer = await ask(`${gateway.url}${url}`, { method, headers: sent, ...body })
        if (url === '/templates' && answer.status === 401) await late.promise
        response.writeHead(answer.status).end(answer.text)
      }),
    )
    const fetchThrough = createSignedInFetch(front, tokens, () => {})
    const slow = fetchThrough(`${front}/templates`)
    expect((await fetchThrough(`${front}/projects`)).status).toBe(200)
    late.resolve()
    expect([(await slow).status, renewals]).toEqual([200, 1])
  })

  test.for([
    ['succeeds', false],
    ['fails', true],
  ] as const)('changes nothing for somebody who has signed in before a renewal %s', async ([, hasEnded]) => {
    const { gateway, tokens, signedOut } = await startWithEndedToken()
    if (hasEnded) await gateway.send('DELETE', '/logout', JSON.stringify({ refreshToken: tokens.refreshToken }))
    const front = await listenForTest(
      createServer(async (request, response) => {
        const { url = '/', method = 'GET', headers } = request
        const body = method === 'POST' ? { body: await text(request) } : {}
        const sent = { authorization: headers.authorization ?? '', 'content-type': 'application/json' }
        const answer = await ask(`${gateway.url}${url}`, { method, headers: sent, ...body })
        if (url === '/token') Object.assign(tokens, await gateway.login(BEN))
        response.writeHead(answer.status).end(answer.text)
      }),
    )
    const fetch = createSignedInFetch(front, tokens, () => signedOut.push('now'))
    // A mutation must not be sent again for somebody else.
    expect((await fetch(`${front}/projects`)).status).toBe(401)
    expect(await (await fetch(`${front}/projects`)).json()).toMatchObject([{ name: 'Secret of ben' }])
    expect(signedOut).toEqual([])
  })

  test('reports an ended session when that is why it cannot renew the token', async () => {
    const { gateway, tokens, signedOut, fetch } = await startWithEndedToken()
    await gateway.send('DELETE', '/logout', JSON.stringify({ refreshToken: tokens.refreshToken }))
    const sent = vi.spyOn(globalThis, 'fetch')
    for (const askMe of Object.values(CLIENTS)) await expect(askMe(gateway, fetch)).rejects.toThrow()
    expect(signedOut).toEqual(Object.keys(CLIENTS).map(() => 'now'))
    // The request and the renewal: with the same token, the request would be refused again.
    expect(sent).toHaveBeenCalledTimes(2 * signedOut.length)
    sent.mockRestore()
  })

  test('keeps the session when the gateway is busy', async () => {
    const { gateway, signedOut, fetch, fetchFrom } = await startWithEndedToken()
    const busy = await listenForTest(createServer((_request, response) => response.writeHead(503).end()))
    for (const askMe of Object.values(CLIENTS)) await expect(askMe(gateway, fetchFrom(busy))).rejects.toThrow()
    expect(signedOut).toEqual([])
    expect(await CLIENTS.REST?.(gateway, fetch)).toMatchObject({ me: { email: ANA } })
  })
})
