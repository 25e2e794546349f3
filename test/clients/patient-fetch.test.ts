// Tests what the guide for frontends says about a busy gateway, with Apollo Client.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { RetryLink } from '@apollo/client/link/retry'
import { expect, test } from 'vitest'
import { listenForTest } from '../support/listen-for-test.ts'
import { ANA } from '../support/workspaces.ts'
import { createPatientFetch } from './patient-fetch.ts'

const QUERY = gql('{ me { email } }')
const ANSWER = { data: { me: { __typename: 'User', email: ANA } } }
const REFUSAL = { errors: [{ message: 'busy', extensions: { code: 'UNAVAILABLE' } }] }

/** Answers as a gateway that is busy for the first requests, with these values of `Retry-After`. */
async function startBusy(retryAfter: readonly string[]) {
  const sent: string[] = []
  const url = await listenForTest(
    createServer(async (request, response) => {
      const wait = retryAfter[sent.length]
      sent.push(await text(request))
      const busy = wait === undefined ? {} : { 'retry-after': wait }
      response.writeHead(wait === undefined ? 200 : 503, {
        'content-type': 'application/graphql-response+json',
        ...busy,
      })
      response.end(JSON.stringify(wait === undefined ? ANSWER : REFUSAL))
    }),
  )
  return { url, sent }
}

/** `waits` are the waits in milliseconds, none of which takes time. */
function createFetch() {
  const waits: number[] = []
  const fetch = createPatientFetch((resolve, milliseconds) => {
    waits.push(milliseconds)
    resolve(null)
  })
  return { fetch, waits }
}

function ask(link: ApolloClient['link']) {
  return new ApolloClient({ link, cache: new InMemoryCache() }).query({ query: QUERY })
}

test('the RetryLink of Apollo Client does not send a request again that a busy gateway refused', async () => {
  const { url, sent } = await startBusy(['1'])
  const asked = ask(new RetryLink().concat(new HttpLink({ uri: url })))
  await expect(asked).rejects.toBeInstanceOf(CombinedGraphQLErrors)
  expect(sent).toHaveLength(1)
})

test('the fetch of the guide waits as long as a busy gateway says, and sends the same request again', async () => {
  const { url, sent } = await startBusy(['4', 'Sun, 29 Nov 2026 10:00:00 GMT'])
  const { fetch, waits } = createFetch()
  expect((await ask(new HttpLink({ uri: url, fetch }))).data).toEqual(ANSWER.data)
  expect(waits).toEqual([4_000, 2_000])
  expect(new Set(sent).size).toBe(1)
})

test.each([
  ['that is still busy at the third request', ['1', '1', '1'], 3],
  ['that says to wait for minutes', ['300'], 1],
])('the fetch of the guide returns the refusal of a gateway %s', async (_what, retryAfter, requests) => {
  const { url, sent } = await startBusy(retryAfter)
  const { fetch } = createFetch()
  await expect(ask(new HttpLink({ uri: url, fetch }))).rejects.toThrow('busy')
  expect(sent).toHaveLength(requests)
})
