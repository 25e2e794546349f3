// What a caller who has not signed in can make the gateway compile and keep: nothing.
import { expect, test } from 'vitest'
import { GatewayError } from '../src/errors.ts'
import { createFastPath } from '../src/graphql/endpoint/fast-path.ts'
import type { CompiledQueries } from '../src/graphql/execution/compiled-queries.ts'
import { createResponseCache } from '../src/http/caching/response-cache.ts'
import type { GatewayRequest } from '../src/http/request.ts'
import type { EndpointServices } from '../src/resolvers/services.ts'
import { callerWith } from './support/callers.ts'
import { startGateway } from './support/gateway.ts'
import { liveBytes } from './support/live-bytes.ts'
import { ANA, SMALL_WORLD } from './support/workspaces.ts'

const asked = { query: '{ __typename }', operationName: undefined, variables: {}, source: '{"query":"{ __typename }"}' }

function requestWith(authorization: string | undefined): GatewayRequest {
  return {
    method: 'POST',
    path: '/graphql',
    search: '',
    ...callerWith({ headers: { authorization } }),
    body: async () => new Uint8Array(),
  }
}

test.each([undefined, 'Bearer ', 'Bearer nonsense', 'Basic YTpi'])(
  'with Authorization %s nothing is compiled',
  async (authorization) => {
    const compiled: string[] = []
    const queries: CompiledQueries = {
      get(text) {
        compiled.push(text)
        return null
      },
    }
    const services = {
      cache: createResponseCache(1_048_576),
      sessions: {
        async viewer() {
          throw new GatewayError('INVALID_TOKEN')
        },
      },
    } as unknown as EndpointServices
    const answerFast = createFastPath(queries, services)
    expect(await answerFast(requestWith(authorization), '*/*', asked)).toBeNull()
    expect(compiled).toEqual([])
  },
)

test('a bad token is refused for a query, and not looked at by a session mutation', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { refreshToken } = await gateway.login(ANA)
  const refused = await gateway.graphql('{ __typename }', { accessToken: 'nonsense' })
  expect([refused.status, refused.json().errors[0].extensions.code]).toEqual([401, 'INVALID_TOKEN'])
  const mutation = `mutation { refresh(refreshToken: "${refreshToken}") { accessToken } }`
  const refreshed = await gateway.graphql(mutation, { accessToken: 'nonsense' })
  expect(refreshed.json().data.refresh.accessToken).toBeTruthy()
})

test('documents of strangers are not kept, nor the errors in them', async () => {
  const gateway = await startGateway()
  const send = (at: number) =>
    gateway.graphql(`{ __typename } # ${'x'.repeat(500_000)}${at}\n${at % 2 === 0 ? '' : '}'}`)
  for (let at = 0; at < 6; at += 1) await send(at)
  const before = await liveBytes()
  for (let at = 6; at < 86; at += 1) await send(at)
  // They are 40 MB.
  expect((await liveBytes()) - before).toBeLessThan(10_000_000)
})
