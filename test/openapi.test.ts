// The OpenAPI document: it is well formed, and the answers of the gateway match it.
import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { parse, visit } from 'graphql'
import { expect, test } from 'vitest'
import { createReadOnlyGuard, guardsOf } from '../src/auth/guards/guards.ts'
import { demoExamples } from '../src/cli/demo/demo.ts'
import { FAILURE_CODES, type FailureCode } from '../src/errors.ts'
import { READ_ROUTES, SESSION_ROUTES } from '../src/rest/routes.ts'
import { StoreReadOnlyError } from '../src/store/contract.ts'
import { type Answer, bearer, startGateway, type TestGateway, type TestGatewayOptions } from './support/gateway.ts'
import { ANA, SMALL_WORLD } from './support/workspaces.ts'

const NOBODY = 'nobody@example.com'

/** The headers that the document describes wherever they are sent, in the order of their names. */
const DESCRIBED_HEADERS =
  'API-Version, ETag, Last-Modified, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id'.split(
    ', ',
  )

interface Operation {
  readonly 'x-graphql-operation': string
  readonly responses: Readonly<Record<string, Described>>
}

interface Described {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { schema: object }>>
}

interface OpenApi {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

test('the OpenAPI document passes the linter and contains every route with its twin', async () => {
  const gateway = await startGateway({ examples: await demoExamples() })
  const { text, json } = await gateway.get('/openapi.json')
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  const document: OpenApi = json()
  expect(document.info.version).toBe('1.2')
  for (const { method, path, twin } of [...READ_ROUTES, ...SESSION_ROUTES]) {
    expect(document.paths[path]?.[method.toLowerCase()]?.['x-graphql-operation']).toBe(twin)
  }
  expect(text).toContain('Quillmoor')
  // The examples are documents with their own member names, not with those of GraphQL.
  expect(text).toContain('prj_8Kq2vTnY')
  expect(text).not.toContain('documentId')
})

test('a body with a content coding is refused with 415, which the OpenAPI document describes for the route', async () => {
  const gateway = await startGateway()
  const { paths }: OpenApi = (await gateway.get('/openapi.json')).json()
  for (const { method, path } of SESSION_ROUTES) {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const answer = await gateway.send(method, path, '{}', headers)
    expect([method, path, answer.status]).toEqual([method, path, 415])
    // The header tells this 415 from the one for a media type (RFC 9110 section 12.5.3).
    expect(answer.headers.get('accept-encoding')).toBe('identity')
    expect(Object.keys(paths[path]?.[method.toLowerCase()]?.responses ?? {})).toContain('415')
  }
})

test('a body of another media type is refused with 415, which names no content coding', async () => {
  const gateway = await startGateway()
  const { status, headers } = await gateway.send('POST', '/login', 'email=ana', { 'content-type': 'text/plain' })
  expect([status, headers.get('accept-encoding')]).toEqual([415, null])
})

test('the OpenAPI document has named schemas with fields, all failure codes, and the host of the request as its server', async () => {
  const gateway = await startGateway({ trustedProxies: ['127.0.0.1'], examples: await demoExamples() })
  const { json } = await gateway.get('/openapi.json')
  const { servers, components, paths } = json()
  expect(servers).toMatchObject([{ url: gateway.url }])
  const schemas = Object.keys(components.schemas)
  expect(schemas).toEqual(expect.arrayContaining(['Project', 'ExportElement', 'Template', 'UiLibrary', 'Tokens']))
  expect(components.schemas.FailureCode.enum).toEqual(FAILURE_CODES)
  expect(components.schemas.Project.properties).toMatchObject({
    id: { type: ['string', 'integer', 'null'] },
    name: { type: ['string', 'null'] },
    tags: { type: ['array', 'null'], items: { type: ['string', 'null'] } },
  })
  expect(paths['/projects'].get.responses['200'].content['application/json'].schema).toEqual({
    type: 'array',
    items: { $ref: '#/components/schemas/Project' },
  })
  const proxied = {
    'x-forwarded-for': '192.0.2.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'api.example.com',
  }
  const behindProxy = await gateway.get('/openapi.json', undefined, proxied)
  expect(behindProxy.json().servers).toMatchObject([{ url: 'https://api.example.com' }])
  // Forwarded headers are trusted only from a trusted proxy, and a value that is no host is not repeated.
  const direct = await startGateway()
  expect((await direct.get('/openapi.json', undefined, proxied)).json().servers).toMatchObject([{ url: direct.url }])
  const odd = await gateway.get('/openapi.json', undefined, { ...proxied, 'x-forwarded-host': 'a"b<c' })
  expect(odd.text).not.toContain('b<c')
})

test('the OpenAPI document says of stored documents, and of nothing else, that they may have other members', async () => {
  const gateway = await startGateway()
  const { schemas } = (await gateway.get('/openapi.json')).json().components
  // Code generators make a type with other members only if the schema says so.
  const open = Object.keys(schemas).filter((name) => schemas[name].additionalProperties === true)
  expect(open.toSorted()).toEqual(['ExportElement', 'Project', 'Template', 'UiLibrary'])
})

test('the OpenAPI document names, for each status, the codes that a client has to distinguish', async () => {
  const gateway = await startGateway()
  const { paths } = (await gateway.get('/openapi.json')).json()
  const { schema } = paths['/exports'].get.responses['404'].content['application/problem+json']
  expect(schema.allOf).toContainEqual({
    type: 'object',
    properties: { status: { const: 404 }, code: { enum: ['NO_WORKSPACE', 'NO_PROJECT', 'NO_EXPORT'] } },
  })
})

test('the requests that the OpenAPI document shows as examples are answered from the demo workspace', async () => {
  const gateway = await startGateway({ examples: await demoExamples() })
  await gateway.load(readFileSync(new URL('../src/cli/demo/demo-workspace.ndjson', import.meta.url), 'utf8'))
  const { paths } = (await gateway.get('/openapi.json')).json()
  // Postman and others fill in these, and `<string>` for what has no example.
  const exampleOf = (path: string) => paths[path].post.requestBody.content['application/json'].example
  const login = await gateway.send('POST', '/login', JSON.stringify(exampleOf('/login')), {
    'content-type': 'application/json',
  })
  expect(login.status).toBe(200)
  const [r] = paths['/exports'].get.parameters
  expect(r).toMatchObject({ name: 'r', in: 'query', required: true })
  const exported = await gateway.get(`/exports?r=${encodeURIComponent(r.example)}`, login.json().accessToken)
  expect(exported.status).toBe(200)
  for (const path of ['/token', '/logout'])
    expect(exampleOf(path)).toEqual({ refreshToken: expect.stringMatching(/^wgr_/) })
})

test('the OpenAPI document is made once, however many host names it is requested under', async () => {
  let looks = 0
  const examples = {
    get Project() {
      looks += 1
      return { ref: 'site' }
    },
  }
  const gateway = await startGateway({ trustedProxies: ['127.0.0.1'], examples })
  const askedAt = async (host: string) => {
    const proxied = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https', 'x-forwarded-host': host }
    const { servers, ...rest } = (await gateway.get('/openapi.json', undefined, proxied)).json()
    expect(servers).toMatchObject([{ url: `https://${host}` }])
    return rest
  }
  const first = await askedAt('first.example.com')
  const looksOfOne = looks
  for (let index = 0; index < 20; index += 1) expect(await askedAt(`h${index}.example.com`)).toEqual(first)
  expect(looksOfOne).toBeGreaterThan(0)
  expect(looks).toBe(looksOfOne)
})

test('descriptions in the OpenAPI document mention nothing that only GraphQL does, and explain each member of a request', async () => {
  const gateway = await startGateway()
  const { schemas } = (await gateway.get('/openapi.json')).json().components
  const described = ['Project', 'Template', 'UiLibrary', 'ExportElement', 'Tokens', 'AccessToken', 'LoginRequest']
  const text = JSON.stringify([...described, 'TokenRequest', 'LogoutRequest'].map((name) => schemas[name]))
  expect(text).not.toMatch(/see `id`|and null when|when all of them|Apart from|`refresh`|`logout`|`login`/)
  expect(schemas.Project.properties.id.description).toMatch(/^The document's own `id`, a string or an integer/)
  expect(schemas.ExportElement.properties.id.description).toMatch(/^The element's own `id`, a string or an integer/)
  for (const name of ['LoginRequest', 'TokenRequest', 'LogoutRequest'])
    for (const member of Object.values<{ description: string }>(schemas[name].properties))
      expect(member.description, name).toMatch(/\w/)
  expect(schemas.LoginRequest.properties.code.description).toContain('mailed')
})

test('the example of a problem is valid and contains the id of its request, which is required', async () => {
  const gateway = await startGateway()
  const document = (await gateway.get('/openapi.json')).json()
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  const validate = ajv
    .addSchema({ ...document, $id: 'openapi' })
    .compile({ $ref: 'openapi#/components/schemas/Problem' })
  const [shown] = document.components.schemas.Problem.examples
  expect(validate(shown), JSON.stringify(validate.errors)).toBe(true)
  const { requestId, ...without } = shown
  expect(requestId).toMatch(/^[0-9a-f]{32}$/)
  expect(validate(without)).toBe(false)
})

test('hundreds of well-formed and malformed requests get answers that the OpenAPI document describes', async () => {
  const gateway = await startGateway({ bodyLimitBytes: 512 })
  await gateway.load(SMALL_WORLD)
  // The export is not in the future: its answer has a Last-Modified.
  gateway.advance(60 * 86_400)
  const ana = await gateway.login(ANA)
  const nobody = await gateway.login(NOBODY)
  const ended = await gateway.login(ANA)
  await gateway.send('DELETE', '/logout', JSON.stringify({ refreshToken: ended.refreshToken }))
  const document: OpenApi = (await gateway.get('/openapi.json')).json()
  const check = createCheck(document)
  const seen = new Map<string, number>()

  const request = fc.record({
    route: fc.constantFrom(...READ_ROUTES, ...SESSION_ROUTES),
    authorization: fc.constantFrom(
      ...[ana, nobody, ended].map(({ accessToken }) => `Bearer ${accessToken}`),
      `Bearer ${ana.accessToken}`,
      'Bearer',
      'Bearer x.y.z',
      'Basic YTpi',
      undefined,
    ),
    ifNoneMatch: fc.constantFrom(undefined, undefined, '*', '"x"'),
    r: fc.oneof(fc.constant('site'), fc.constantFrom(undefined, 'app', '', 'secret'), fc.string({ maxLength: 40 })),
    contentType: fc.constantFrom('application/json', 'application/json', 'text/plain', undefined),
    body: fc.oneof(
      fc.constantFrom(ANA, ' ANA@Example.COM ', NOBODY, 'no email').map((email) => JSON.stringify({ email })),
      fc
        .constantFrom(ana.refreshToken, ended.refreshToken, 'wgr_x', '')
        .map((refreshToken) => JSON.stringify({ refreshToken })),
      fc.json({ maxDepth: 2 }),
      fc.string({ maxLength: 30 }),
      fc.constant(undefined),
      fc.constant(JSON.stringify({ email: 'x'.repeat(600) })),
      // A new session each time, so that a logout can succeed.
      fc.constant('fresh'),
    ),
  })

  await fc.assert(
    fc.asyncProperty(request, async ({ route, authorization, ifNoneMatch, r, contentType, body }) => {
      const isRead = route.method === 'GET'
      const parameter = r === undefined || !isRead ? '' : `?r=${encodeURIComponent(r.toWellFormed())}`
      const fresh = async () => JSON.stringify({ refreshToken: (await gateway.login(ANA)).refreshToken })
      const isEnding = route.path === '/logout' && body?.includes(ana.refreshToken)
      const sent = isRead ? undefined : body === 'fresh' || isEnding ? await fresh() : body?.toWellFormed()
      const answer = await gateway.send(route.method, route.path + parameter, sent, {
        ...(authorization === undefined ? {} : { authorization }),
        ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      })
      check(route.method, route.path, answer)
      const name = `${route.method} ${route.path} ${answer.status}`
      seen.set(name, (seen.get(name) ?? 0) + 1)
    }),
    { numRuns: Number(process.env.TEST_REQUESTS ?? 400), seed: 20_261_121 },
  )
  expect(seen.size, JSON.stringify([...seen])).toBeGreaterThan(25)
  for (const { method, path } of [...READ_ROUTES, ...SESSION_ROUTES]) {
    expect([...seen.keys()]).toContain(`${method} ${path} 200`)
  }
  expect(gateway.reported).toEqual([])
})

test('the OpenAPI document also describes a login that is refused with 429 or 403', async () => {
  const gateway = await startGateway({ attemptsPerMinute: 1 })
  const document: OpenApi = (await gateway.get('/openapi.json')).json()
  const check = createCheck(document)
  const body = JSON.stringify({ email: ANA })
  await gateway.send('POST', '/login', body)
  const limited = await gateway.send('POST', '/login', body)
  expect(limited.status).toBe(429)
  check('POST', '/login', limited)
  const refused = await startGateway({ createGuard: guardsOf(['none'], { trustedOrigins: [] }) })
  const forbidden = await refused.send('POST', '/login', body)
  expect(forbidden.status).toBe(403)
  check('POST', '/login', forbidden)
})

test('each session route answers the failures that its row names, and no others', async () => {
  const usual = await startGateway({ bodyLimitBytes: 512 })
  const beside = (options: TestGatewayOptions) => startGateway({ databasePath: usual.databasePath, ...options })
  const refusing = (code: FailureCode) =>
    beside({
      createGuard: async () => ({
        name: 'mail',
        decide: () => ({ outcome: 'refused', code, reason: 'no', remedy: null }),
      }),
    })
  const readOnly = await beside({
    createGuard: createReadOnlyGuard,
    wrapStore: (store) => ({ ...store, revokeSessions: () => Promise.reject(new StoreReadOnlyError()) }),
  })
  const limited = await beside({ attemptsPerMinute: 1 })
  const json = { 'content-type': 'application/json' }
  /** Without a body, that of a login and a logout which nothing speaks against. */
  const attempts: readonly (readonly [gateway: TestGateway, body?: string, headers?: Record<string, string>])[] = [
    [usual, '{'],
    [usual, '{}'],
    [usual, '{"email":"no email","refreshToken":"wgr_x"}'],
    [usual, `{"x":"${'x'.repeat(600)}"}`],
    [usual, '{}', { 'content-type': 'text/plain' }],
    [usual, '{}', { ...json, 'content-encoding': 'gzip' }],
    [await refusing('LOGIN_REFUSED')],
    [await refusing('LOGIN_CODE_SENT')],
    [await refusing('LOGIN_CODE_WRONG')],
    [readOnly],
    [limited],
    [limited],
  ]
  const check = createCheck((await usual.get('/openapi.json')).json())
  const found = new Map(SESSION_ROUTES.map((route) => [route, new Set<string>()]))
  for (const [gateway, body, headers = json] of attempts) {
    const { refreshToken } = await usual.login(ANA)
    for (const [route, codes] of found) {
      const sent = body ?? JSON.stringify({ email: ANA, refreshToken })
      const answer = await gateway.send(route.method, route.path, sent, headers)
      check(route.method, route.path, answer)
      if (answer.status !== 200) codes.add(answer.json().code)
    }
  }
  for (const [{ method, path, failures }, codes] of found)
    expect([...codes].toSorted(), `${method} ${path}`).toEqual(failures.toSorted())
})

test('each read answers the failures that its row names, and no others', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const [ana, nobody] = [await gateway.login(ANA), await gateway.login(NOBODY)]
  const check = createCheck((await gateway.get('/openapi.json')).json())
  const attempts: readonly (readonly [search: string, headers: Readonly<Record<string, string>>])[] = [
    ['?r=site', {}],
    ['?r=site', bearer('x.y.z')],
    ['?r=site', bearer(nobody.accessToken)],
    ['?r=site', { ...bearer(ana.accessToken), 'accept-encoding': 'identity;q=0' }],
    ['?r=site', { ...bearer(ana.accessToken), 'if-match': '"x"' }],
    ['', bearer(ana.accessToken)],
    ['?r=none', bearer(ana.accessToken)],
    ['?r=app', bearer(ana.accessToken)],
  ]
  for (const { method, path, failures } of READ_ROUTES) {
    const found = new Set<string>()
    for (const [search, headers] of attempts) {
      const answer = await gateway.send(method, path + search, undefined, headers)
      check(method, path, answer)
      if (answer.status !== 200) found.add(answer.json().code)
    }
    expect([...found].toSorted(), path).toEqual(failures.toSorted())
  }
})

test('every object type, scalar, field and argument of the GraphQL schema has a description', () => {
  const missing: string[] = []
  const kinds: readonly string[] = [
    'ObjectTypeDefinition',
    'ScalarTypeDefinition',
    'FieldDefinition',
    'InputValueDefinition',
  ]
  visit(parse(readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8')), {
    enter(node) {
      if (!kinds.includes(node.kind) || ('description' in node && node.description)) return
      missing.push(`${node.kind} ${'name' in node ? node.name?.value : ''}`)
    },
  })
  expect(missing).toEqual([])
})

function createCheck(document: OpenApi): (method: string, path: string, answer: Answer) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ ...document, $id: 'openapi' })
  const validators = new Map<string, ValidateFunction>()

  return (method, path, { status, headers, text, json }) => {
    const what = `${method} ${path} answered ${status} ${text.slice(0, 300)}`
    const operation = `/paths/${path.replaceAll('/', '~1')}/${method.toLowerCase()}`
    const response = document.paths[path]?.[method.toLowerCase()]?.responses[String(status)]
    if (!response) throw new Error(`not documented: ${what}`)
    expect(Object.keys(response.headers ?? {}).toSorted(), what).toEqual(
      DESCRIBED_HEADERS.filter((name) => headers.has(name)),
    )
    const mediaType = headers.get('content-type')?.split(';')[0] ?? ''
    if (response.content === undefined) {
      expect(text, what).toBe('')
      return
    }
    expect(Object.keys(response.content), what).toContain(mediaType)
    const pointer = `openapi#${operation}/responses/${status}/content/${mediaType.replaceAll('/', '~1')}/schema`
    const validate = validators.get(pointer) ?? ajv.compile({ $ref: pointer })
    validators.set(pointer, validate)
    expect(validate(json()), `${what} ${JSON.stringify(validate.errors)}`).toBe(true)
  }
}
