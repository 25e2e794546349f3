// Tests routes that are being retired: their headers, brownouts and end, and the options that plan them.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { parseOptions } from '../../src/cli/options/option.ts'
import { retirementOptions } from '../../src/cli/options/retirement/retirement-options.ts'
import { toRetirementPlan } from '../../src/cli/retirement/to-retirement-plan.ts'
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import { runHere } from '../support/command-line.ts'
import { type Answer, startGateway } from '../support/gateway.ts'
import { ANA, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const planOf = (values: Record<string, string>) => toRetirementPlan(parseOptions(retirementOptions, values))

/** The clock of a test gateway starts at the beginning of 2026. */
const PLAN = {
  deprecated: '*=2025-12-01,/projects=2025-11-01T12:00:00Z',
  sunset: '/projects=2026-03-01,/templates=2026-02-01',
  deprecationLink: '/projects=https://example.com/rest-goes',
  brownout: '/projects=2026-01-10T09:00:00Z/15m,/projects=2026-01-11/1h',
}
const SUNSET = 'Sun, 01 Mar 2026 00:00:00 GMT'

function announced({ headers }: Answer) {
  return ['deprecation', 'sunset', 'link'].map((name) => headers.get(name))
}

async function start() {
  const gateway = await startGateway({ retirement: planOf(PLAN), corsOrigins: ['https://app.example.com'] })
  await gateway.load(SMALL_WORLD)
  return { gateway, until: (time: string) => gateway.advance((Date.parse(time) - gateway.now()) / 1_000) }
}

describe('a route that is being retired', () => {
  test('announces it in every answer, also kept ones, 304 and failures; GraphQL and other paths do not', async () => {
    const { gateway } = await start()
    const { accessToken } = await gateway.login(ANA)
    const expected = [
      '@1761998400',
      SUNSET,
      '<https://example.com/rest-goes>; rel="deprecation", <https://example.com/rest-goes>; rel="sunset"',
    ]
    const first = await gateway.get('/projects', accessToken)
    const kept = await gateway.get('/projects', accessToken)
    const unchanged = await gateway.get('/projects', accessToken, { 'if-none-match': first.headers.get('etag') ?? '' })
    const refused = await gateway.get('/projects')
    const head = await gateway.send('HEAD', '/projects', undefined, { authorization: `Bearer ${accessToken}` })
    const wrongMethod = await gateway.send('PUT', '/projects', '{}')
    const answers = [first, kept, unchanged, refused, head, wrongMethod]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 304, 401, 200, 405])
    for (const answer of answers) expect(announced(answer)).toEqual(expected)
    expect(kept.text).toBe(first.text)

    const exported = await gateway.get('/exports?r=site', accessToken)
    expect(announced(exported)).toEqual(['@1764547200', null, null])
    const graphql = await gateway.graphql('{ me { projects { data } } }', { accessToken })
    expect([graphql.status, ...announced(graphql)]).toEqual([200, null, null, null])
    expect(announced(await gateway.get('/healthz'))).toEqual([null, null, null])
    const fromPage = await gateway.get('/projects', accessToken, { origin: 'https://app.example.com' })
    expect(fromPage.headers.get('access-control-expose-headers')).toMatch(/Deprecation.*Link.*Sunset/)
  })

  test('announces it below a base path, too', async () => {
    const gateway = await startGateway({ retirement: planOf(PLAN), basePath: '/v1' })
    const refused = await gateway.get('/v1/templates')
    expect([refused.status, ...announced(refused)]).toEqual([401, '@1764547200', 'Sun, 01 Feb 2026 00:00:00 GMT', null])
  })

  test('announces it, also to a page of a listed origin, when there is no room to send the answer', async () => {
    const inFlight = createInFlightBytes(1_048_576)
    const gateway = await startGateway({
      retirement: planOf(PLAN),
      corsOrigins: ['https://app.example.com'],
      inFlight,
      cacheBytes: 16_777_216,
    })
    await gateway.load(documentLine('template', ANA, `{"id":"t1","name":"${'x'.repeat(300_000)}"}`))
    const { accessToken } = await gateway.login(ANA)
    const read = () =>
      gateway.get('/templates', accessToken, { origin: 'https://app.example.com', 'accept-encoding': 'identity' })
    const sent = await read()
    expect(sent.status).toBe(200)
    using others = inFlight.open(0)
    others.require(1_048_576 - inFlight.byteLength())
    const unsent = await read()
    expect([unsent.status, unsent.json().code]).toEqual([503, 'UNAVAILABLE'])
    expect(announced(unsent)).toEqual(announced(sent))
    for (const name of ['access-control-allow-origin', 'access-control-expose-headers', 'vary']) {
      expect(unsent.headers.get(name)).toBe(sent.headers.get(name))
    }
    expect(unsent.headers.get('access-control-allow-origin')).toBe('https://app.example.com')
    expect(unsent.headers.get('etag')).toBeNull()
  })

  test('announces a link without any date as a page about deprecations, and is not deprecated by it', async () => {
    const brownout = '/exports=2026-01-01/1h'
    const plan = planOf({ deprecated: '/templates=2025-12-01', deprecationLink: '*=https://example.com/a', brownout })
    const gateway = await startGateway({ retirement: plan })
    const link = '<https://example.com/a>; rel="deprecation"'
    expect(announced(await gateway.get('/projects'))).toEqual([null, null, link])
    expect(announced(await gateway.get('/exports?r=site'))).toEqual([null, null, link])
    expect(announced(await gateway.get('/templates'))).toEqual(['@1764547200', null, link])
    const { paths } = (await gateway.get('/openapi.json')).json()
    const isDeprecated = (path: string) => paths[path].get.deprecated
    expect(['/projects', '/exports', '/templates'].map(isDeprecated)).toEqual([undefined, undefined, true])
  })

  test('is deprecated in the OpenAPI document; a route without a date, or with only a brownout, is not', async () => {
    const plan = planOf({ ...PLAN, deprecated: '/projects=2025-11-01T12:00:00Z', brownout: '/exports=2026-01-11/1h' })
    const gateway = await startGateway({ retirement: plan })
    const { paths } = (await gateway.get('/openapi.json')).json()
    const told = (path: string) => {
      const { deprecated, description, externalDocs } = paths[path].get
      return { deprecated, description, externalDocs }
    }
    expect(told('/projects')).toEqual({
      deprecated: true,
      description: 'Deprecated as of 2025-11-01T12:00:00Z. Answers 410 from 2026-03-01T00:00:00Z on.',
      externalDocs: { url: 'https://example.com/rest-goes' },
    })
    expect(told('/templates')).toEqual({
      deprecated: true,
      description: 'Answers 410 from 2026-02-01T00:00:00Z on.',
    })
    for (const path of ['/exports', '/ui-libraries']) expect(told(path)).toEqual({})
    const config = await createConfig({ extends: ['spec'] })
    const source = (await gateway.get('/openapi.json')).text
    expect(await lintFromString({ source, absoluteRef: 'openapi.json', config })).toEqual([])
  })

  test('refuses requests during its brownouts, and only then, with a problem that says what to do', async () => {
    const { gateway, until } = await start()
    const read = async () => gateway.get('/projects', (await gateway.login(ANA)).accessToken)
    until('2026-01-10T08:59:59Z')
    expect((await read()).status).toBe(200)
    until('2026-01-10T09:00:30Z')
    const refused = await read()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '870'])
    expect(announced(refused)[1]).toBe(SUNSET)
    expect(refused.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
    expect(refused.json()).toEqual({
      type: 'about:blank',
      title: 'Service Unavailable',
      status: 503,
      code: 'ROUTE_BROWNOUT',
      requestId: refused.headers.get('x-request-id'),
      detail:
        'GET /projects will be retired at 2026-03-01T00:00:00Z, and does not answer until 2026-01-10T09:15:00Z. In GraphQL: { me { projects { data } } } (more at https://example.com/rest-goes)',
    })
    const { accessToken } = await gateway.login(ANA)
    expect((await gateway.get('/templates', accessToken)).status).toBe(200)
    expect((await gateway.graphql('{ me { projects { data } } }', { accessToken })).status).toBe(200)
    until('2026-01-10T09:15:00Z')
    expect((await read()).status).toBe(200)
    until('2026-01-11T00:30:00Z')
    expect((await read()).status).toBe(503)
    // A brownout is planned, so it is not reported as a failure.
    expect(gateway.reported).toEqual([])
  })

  test('names its link even when that contains an @', async () => {
    const link = 'https://example.com/@acme/rest-goes?v=a@1#@b'
    const brownout = '/projects=2026-01-01/1h'
    const plan = planOf({ sunset: '/templates=2025-12-01', deprecationLink: `*=${link}`, brownout })
    const gateway = await startGateway({ retirement: plan })
    for (const [path, status] of [
      ['/templates', 410],
      ['/projects', 503],
    ] as const) {
      const refused = await gateway.get(path)
      expect(refused.status).toBe(status)
      expect(refused.json().detail).toContain('(more at https://example.com/%40acme/rest-goes?v=a%401#%40b)')
    }
    expect((await gateway.get('/templates')).headers.get('link')).toBe(`<${link}>; rel="sunset"`)
  })

  test('says when it answers again if brownouts overlap or touch', async () => {
    const brownout =
      '*=2026-01-10T09:00:00Z/15m,/projects=2026-01-10T09:10:00Z/2h,/projects=2026-01-10T11:10:00Z/5m,/projects=2026-01-10T12:00:00Z/1h'
    const gateway = await startGateway({ retirement: planOf({ brownout }) })
    gateway.advance((Date.parse('2026-01-10T09:12:00Z') - gateway.now()) / 1_000)
    const refused = await gateway.get('/projects')
    // That is at 11:15.
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '7380'])
    expect(refused.json().detail).toContain('does not answer until 2026-01-10T11:15:00Z')
    expect((await gateway.get('/templates')).headers.get('retry-after')).toBe('180')
  })

  test('answers 410 from its end on, also where a reply was kept or a 304 was due', async () => {
    const { gateway, until } = await start()
    const before = await gateway.login(ANA)
    const etag = (await gateway.get('/templates', before.accessToken)).headers.get('etag') ?? ''
    until('2026-01-31T23:59:59Z')
    const { accessToken, refreshToken } = await gateway.login(ANA)
    expect((await gateway.get('/templates', accessToken)).status).toBe(200)
    until('2026-02-01T00:00:00Z')
    for (const headers of [{}, { 'if-none-match': etag }]) {
      const gone = await gateway.get('/templates', accessToken, headers)
      expect([gone.status, gone.json().code]).toEqual([410, 'ROUTE_RETIRED'])
      expect(gone.json().detail).toBe(
        'GET /templates was retired at 2026-02-01T00:00:00Z. In GraphQL: { me { templates { data } } }',
      )
      expect(announced(gone)).toEqual(['@1764547200', 'Sun, 01 Feb 2026 00:00:00 GMT', null])
    }
    expect((await gateway.get('/projects', accessToken)).status).toBe(200)
    expect((await gateway.send('POST', '/token', JSON.stringify({ refreshToken }))).status).toBe(200)
    expect(
      (await gateway.graphql('{ me { templates { data } } }', { accessToken })).json().data.me.templates,
    ).toHaveLength(1)
  })
})

test('a wrong plan is refused, and the message names every mistake', async () => {
  const serve = (...args: string[]) => runHere(['serve', '--port', '0', ...args])
  const shape = await serve(
    '--deprecated',
    '/projects',
    '--sunset',
    '*=soon',
    '--brownout',
    '/exports=2027-01-01/9d',
    '--deprecation-link',
    '*=javascript:1',
  )
  expect([shape.exitCode, shape.stderr.split('\n').length]).toEqual([2, 5])
  for (const flag of ['--deprecated', '--sunset', '--brownout', '--deprecation-link'])
    expect(shape.stderr).toContain(flag)
  const meaning = await serve(
    '--deprecated',
    '/nothing=2027-01-01,/projects=2027-02-01',
    '--sunset',
    '/projects=2027-01-01',
  )
  expect(meaning.exitCode).toBe(2)
  expect(meaning.stderr).toBe(
    '--sunset: /projects would end before it is deprecated\n' +
      '--deprecated: /nothing is not one of /login, /token, /logout, /projects, /exports, /templates, /ui-libraries\n',
  )
})

test.each(['é', '€', '\u0001', '\u007f', '<', ' '])(
  'a link that contains %j, which no Link header may hold, prevents the start',
  async (character) => {
    const refused = await runHere([
      'serve',
      '--port',
      '0',
      '--deprecation-link',
      `*=https://example.com/a${character}b`,
    ])
    expect([refused.exitCode, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toContain('--deprecation-link')
    expect(refused.stderr).toContain('must be an address in ASCII')
  },
)
