// Tests the record of a request that observers receive.
import { expect, test } from 'vitest'
import type { RequestRecord } from '../../src/http/request-record.ts'
import { startGateway } from '../support/gateway.ts'
import { exchange } from '../support/wire.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const ORIGIN = 'https://app.example.com'

async function startWatched() {
  const records: RequestRecord[] = []
  const gateway = await startGateway({
    corsOrigins: [ORIGIN],
    observers: [({ record }) => records.push({ ...record })],
  })
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  /** Returns the records since the last call. The client may have its answer a moment before it is recorded. */
  const taken = async (count = 1) => {
    await expect.poll(() => records.length).toBe(count)
    return records.splice(0)
  }
  await taken()
  return { gateway, accessToken, taken }
}

test('an observer gets the route, the status, the bytes of every response, and whether it was kept', async () => {
  const { gateway, accessToken, taken } = await startWatched()
  const { text } = await gateway.get('/projects', accessToken)
  const [made] = await taken()
  expect(made).toMatchObject({
    route: { method: 'GET', path: '/projects' },
    viewer: { email: ANA },
    status: 200,
    sentBytes: Buffer.byteLength(text),
    isKept: false,
    failureCode: null,
  })
  expect(made?.durationMs).toBeGreaterThan(0)
  await gateway.get('/projects', accessToken)
  expect(await taken()).toMatchObject([{ isKept: true, sentBytes: Buffer.byteLength(text) }])
  const { headers } = await gateway.get('/projects', accessToken)
  await gateway.get('/projects', accessToken, { 'if-none-match': headers.get('etag') ?? '' })
  expect(await taken(2)).toMatchObject([{ status: 200 }, { status: 304, sentBytes: 0, isKept: true }])
  await fetch(`${gateway.url}/projects`, { method: 'HEAD', headers: { authorization: `Bearer ${accessToken}` } })
  expect(await taken()).toMatchObject([{ route: { method: 'HEAD', path: '/projects' }, sentBytes: 0, status: 200 }])
})

test('a GraphQL answer has the name of its operation, also when it was kept', async () => {
  const { gateway, accessToken, taken } = await startWatched()
  for (const isKept of [false, true]) {
    await gateway.graphql('query Mine { me { email } }', { accessToken })
    expect(await taken()).toMatchObject([
      { operationName: 'Mine', isKept, route: { method: 'POST', path: '/graphql' } },
    ])
  }
  await gateway.graphql('{ me { email } }', { accessToken })
  expect(await taken()).toMatchObject([{ operationName: null, isKept: false }])
})

test('a GraphQL answer without data has a failure code even with status 200; one with data has none', async () => {
  const { gateway, accessToken, taken } = await startWatched()
  const { status } = await gateway.graphql('{ me { nothing } }', { accessToken })
  expect([status, await taken()]).toMatchObject([200, [{ status: 200, failureCode: 'GRAPHQL_VALIDATION_FAILED' }]])
  await gateway.graphql('{ me { email } node(id: "none") { id } }', { accessToken })
  expect(await taken()).toMatchObject([{ status: 200, failureCode: null }])
})

test('a refusal has its code over REST and GraphQL, and a request for an unknown path has no route', async () => {
  const { gateway, taken } = await startWatched()
  await gateway.get('/projects')
  await gateway.get('/projects', 'e.e.e')
  await gateway.get('/nothing-here')
  await gateway.send('PUT', '/projects', '{}')
  await gateway.graphql('{ me { email } }', { accessToken: 'e.e.e' })
  await gateway.graphql('{ nonsense }')
  expect(await taken(6)).toMatchObject([
    { status: 401, failureCode: 'UNAUTHENTICATED', viewer: null },
    { status: 401, failureCode: 'INVALID_TOKEN', viewer: null },
    { status: 404, failureCode: 'NOT_FOUND', route: null },
    { status: 405, failureCode: 'METHOD_NOT_ALLOWED', route: { method: 'PUT', path: '/projects' } },
    { status: 401, failureCode: 'INVALID_TOKEN', route: { path: '/graphql' } },
    { status: 200, failureCode: 'GRAPHQL_VALIDATION_FAILED' },
  ])
  await exchange(gateway.url, 'GET /projects HTTP/1.1\r\nConnection: close\r\n\r\n')
  expect(await taken()).toMatchObject([{ status: 400, failureCode: 'BAD_REQUEST', route: null }])
})

test('the record says whether the origin was refused', async () => {
  const { gateway, taken } = await startWatched()
  await gateway.get('/healthz', undefined, { origin: 'https://evil.example' })
  await gateway.get('/healthz', undefined, { origin: ORIGIN })
  expect(await taken(2)).toMatchObject([{ isOriginRefused: true }, { isOriginRefused: false }])
})
