// Bad requests over REST and GraphQL, and bad tokens: each is refused with its code, and not repeated.
import { describe, expect, test } from 'vitest'
import { createAccessTokens } from '../src/auth/tokens/access-token.ts'
import { READ_ROUTES } from '../src/rest/routes.ts'
import { BODIES } from './bad-input/bodies.ts'
import { GRAPHQL_DOCUMENTS } from './bad-input/graphql-documents.ts'
import { PLACES } from './bad-input/places.ts'
import { JSON_TYPE, operation, send, startWorld, testScenarios, type World } from './bad-input/scenario.ts'
import {
  ACCESS_TOKENS,
  type AccessScenario,
  ENDED_ACCESS_TOKENS,
  ENDED_REFRESH_TOKENS,
  REFRESH_TOKENS,
  type RefreshScenario,
  withForge,
} from './bad-input/tokens.ts'
import { expectGraphQLFailure, expectProblem } from './support/failures.ts'
import { openTestKeyset } from './support/keyset.ts'
import { expectEach } from './support/rows.ts'
import { ANA, BEN } from './support/workspaces.ts'

const READS = READ_ROUTES.map(({ path }) => (path === '/exports' ? '/exports?r=site' : path))

describe('a bad request is refused with a code, and without what was sent', () => {
  testScenarios(BODIES)
  testScenarios(PLACES)
})

describe('GraphQL requests', () => testScenarios(GRAPHQL_DOCUMENTS))

describe('every read refuses', () => {
  test('tokens that are missing, broken, forged or written in another way', async () => {
    const world = await withForge(await startWorld())
    await expectEach(ACCESS_TOKENS, async (scenario) => {
      await expectRefused(world, scenario)
      // It was refused for its own reason, because the session goes on.
      expect((await world.gateway.get('/projects', world.ana.accessToken)).status).toBe(200)
    })
  })

  test.each(ENDED_ACCESS_TOKENS)('$name', async (scenario) => {
    await expectRefused(await withForge(await startWorld()), scenario)
  })

  async function expectRefused(
    world: Awaited<ReturnType<typeof withForge>>,
    { authorization, code }: AccessScenario,
  ): Promise<void> {
    const value = await authorization(world)
    const headers = value === null ? {} : { authorization: value }
    const [, token] = /^\S+ (.{4,})$/.exec(value ?? '') ?? []
    const expected = { status: 401, code, hasNot: token === undefined ? [] : [token] }
    for (const path of READS) {
      expectProblem(await send(world.gateway, { method: 'GET', path, headers }), expected)
      // A match with stored data must not tell a stranger anything either.
      const conditional = { method: 'GET', path, headers: { ...headers, 'if-none-match': '*' } }
      expectProblem(await send(world.gateway, conditional), expected)
    }
    for (const query of ['{ me { email } }', '{ __schema { queryType { name } } me { email } }']) {
      const status = code === 'UNAUTHENTICATED' ? 200 : 401
      expectGraphQLFailure(await send(world.gateway, operation(query, { headers })), { ...expected, status })
    }
    const introspection = await send(world.gateway, operation('{ __schema { queryType { name } } }', { headers }))
    if (code === 'UNAUTHENTICATED') expect(introspection.json().errors).toBeUndefined()
    else expectGraphQLFailure(introspection, expected)
    expect(world.gateway.reported).toEqual([])
  }

  test('a token with a line break, which no header can carry', async () => {
    const { gateway, ana, forge } = await withForge(await startWorld())
    const { verify } = createAccessTokens(await openTestKeyset(gateway), {
      issuer: 'test-issuer',
      audience: 'test-audience',
      ttlSeconds: 900,
      clock: gateway.now,
    })
    const token = forge(ana.accessToken)
    expect(await verify(token)).toMatchObject({ email: ANA })
    for (const broken of [`${token}\n`, `\n${token}`, token.replace('.', '.\n'), token.replace('.', '\r\n.')]) {
      expect(await verify(broken)).toBeNull()
    }
  })

  test('a token that is sent as a parameter instead of a header', async () => {
    const { gateway, ana } = await startWorld()
    const search = new URLSearchParams({ access_token: ana.accessToken })
    const expected = { status: 401, code: 'UNAUTHENTICATED', hasNot: [ana.accessToken] } as const
    expectProblem(await send(gateway, { method: 'GET', path: `/projects?${search}` }), expected)
  })
})

test('a forged token that is right in every way is accepted: the rows above fail for their own reasons', async () => {
  const { gateway, ana, forge } = await withForge(await startWorld())
  for (const token of [
    ana.accessToken,
    forge(ana.accessToken),
    forge(ana.accessToken, { claims: { aud: ['another', 'test-audience'], more: 1 }, header: { typ: 'AT+JWT' } }),
  ]) {
    for (const path of READS) expect((await gateway.get(path, token)).status).toBe(200)
  }
})

describe('a refresh and a logout refuse', () => {
  test('tokens that are broken, forged or written in another way', async () => {
    const world = await startWorld()
    await expectEach(REFRESH_TOKENS, async (scenario) => {
      await expectRefused(world, scenario)
      const body = JSON.stringify({ refreshToken: world.ana.refreshToken })
      expect((await world.gateway.send('POST', '/token', body)).status).toBe(200)
    })
  })

  test.each(ENDED_REFRESH_TOKENS)('$name', async (scenario) => {
    await expectRefused(await startWorld(), scenario)
  })

  async function expectRefused(world: World, { refreshToken }: RefreshScenario): Promise<void> {
    const token = await refreshToken(world)
    const body = JSON.stringify({ refreshToken: token })
    const expected = { status: 401, code: 'INVALID_TOKEN', hasNot: [token] } as const
    for (const [method, path] of [
      ['POST', '/token'],
      ['DELETE', '/logout'],
      ['POST', '/logout'],
    ] as const) {
      expectProblem(await send(world.gateway, { method, path, headers: JSON_TYPE, body }), expected)
    }
    for (const query of [
      'mutation ($token: String!) { refresh(refreshToken: $token) { accessToken } }',
      'mutation ($token: String!) { logout(refreshToken: $token) }',
    ]) {
      expectGraphQLFailure(await send(world.gateway, operation(query, { variables: { token } })), expected)
    }
    expect(world.gateway.reported).toEqual([])
  }
})

test('a user without a workspace gets 404 in REST and null in GraphQL', async () => {
  const { gateway } = await startWorld()
  const { accessToken } = await gateway.login('dora@example.com')
  const hasNot = ['dora@example.com', ANA, BEN, accessToken]
  const authorization = `Bearer ${accessToken}`
  for (const path of [...READS, '/exports?r=secret']) {
    const answer = await send(gateway, { method: 'GET', path, headers: { authorization } })
    expectProblem(answer, { status: 404, code: 'NO_WORKSPACE', hasNot })
  }
  for (const path of ['/exports', '/exports?r=', '/exports?x=1']) {
    const answer = await send(gateway, { method: 'GET', path, headers: { authorization } })
    expectProblem(answer, { status: 400, code: 'MISSING_PARAMETER', hasNot })
    const anonymous = await send(gateway, { method: 'GET', path, headers: {} })
    expectProblem(anonymous, { status: 401, code: 'UNAUTHENTICATED', hasNot })
  }
  for (const { twin } of READ_ROUTES) {
    const answer = await send(gateway, operation(twin, { accessToken, variables: { r: 'secret' } }))
    expect([answer.status, answer.text]).toEqual([200, '{"data":{"me":null}}'])
  }
})

test('a wrong GraphQL document is 200 for clients of application/json, as GraphQL over HTTP asks', async () => {
  const { gateway, ana } = await startWorld()
  const headers = { accept: 'application/json' }
  for (const [query, code] of [
    ['{', 'GRAPHQL_PARSE_FAILED'],
    ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    ['mutation { a: logout(refreshToken: "x") b: logout(refreshToken: "x") }', 'GRAPHQL_VALIDATION_FAILED'],
  ] as const) {
    const answer = await send(gateway, operation(query, { headers }))
    expectGraphQLFailure(answer, { status: 200, code, hasNot: [] })
  }
  for (const [operationName, message] of [
    [undefined, 'The document has several operations: name one with `operationName`.'],
    ['C', 'The document has no operation of that name.'],
  ] as const) {
    const ask = operation('query A { __typename } query B { __typename }', {
      headers,
      ...(operationName && { operationName }),
    })
    const answer = await send(gateway, ask)
    expectGraphQLFailure(answer, { status: 200, code: 'OPERATION_NOT_FOUND', hasNot: [] })
    expect(answer.text).toContain(message)
  }
  // Failures of the caller's token and of session calls have their own status, whatever the client accepts.
  const refused = await send(gateway, operation('{ me { email } }', { headers, accessToken: ana.refreshToken }))
  expectGraphQLFailure(refused, { status: 401, code: 'INVALID_TOKEN', hasNot: [ana.refreshToken] })
  const login = await send(gateway, operation('mutation { login(email: "x") { accessToken } }', { headers }))
  expectGraphQLFailure(login, { status: 400, code: 'INVALID_EMAIL', hasNot: [] })
  // This is not a GraphQL request at all: it is 400 in every media type.
  const nothing = await send(gateway, {
    method: 'POST',
    path: '/graphql',
    headers: { ...JSON_TYPE, ...headers },
    body: '{}',
  })
  expectGraphQLFailure(nothing, { status: 400, code: 'BAD_REQUEST', hasNot: [] })
})
