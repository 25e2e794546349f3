// CORS: which origins may read answers, what a preflight allows, and the option `--cors-origin`.
import { describe, expect, test } from 'vitest'
import { createOriginList, normalOrigin } from '../src/auth/origins.ts'
import { runHere, serveForTest } from './support/command-line.ts'
import { ask, startGateway, type TestGateway } from './support/gateway.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { exchange, readAnswers, requestText } from './support/wire.ts'

const APP = 'https://app.example.com'

function preflight(gateway: TestGateway, origin: string, headers?: string, path = '/logout') {
  return gateway.send('OPTIONS', path, undefined, {
    origin,
    'access-control-request-method': 'DELETE',
    ...(headers === undefined ? {} : { 'access-control-request-headers': headers }),
  })
}

describe('CORS', () => {
  test.each([
    [[APP], APP, true],
    [[APP], 'https://app.example.com.evil.com', false],
    [[APP], 'https://evil.com?https://app.example.com', false],
    [[APP], 'https://app.example.co', false],
    [[APP], 'http://app.example.com', false],
    [[APP], 'https://app.example.com:8443', false],
    [[APP], 'https://APP.example.com', false],
    [[APP], 'null', false],
    [[APP], '*', false],
    [['*'], 'https://anything.example', true],
    [['*'], 'null', true],
    [['null'], 'null', true],
    [['file://'], 'file://', true],
    [['file://'], 'file://x', false],
    [['https://*.example.com'], 'https://a.example.com', true],
    [['https://*.example.com'], 'https://a.b-c.example.com', true],
    [['https://*.example.com'], 'https://example.com', false],
    [['https://*.example.com'], 'https://.example.com', false],
    [['https://*.example.com'], 'https://evil.com/.example.com', false],
    [['https://*.example.com'], 'https://user@a.example.com', false],
    [['https://*.example.com'], 'https://a.example.com:8443', false],
    [['https://*.example.com'], 'https://a.example.com.evil.com', false],
    [['https://*.example.com'], 'http://a.example.com', false],
    [['https://*.example.com:8443'], 'https://a.example.com:8443', true],
  ])('with the origins %j, pages of %s may read answers: %s', async (corsOrigins, origin, isAllowed) => {
    const gateway = await startGateway({ corsOrigins })
    for (const answer of [await preflight(gateway, origin), await gateway.get('/projects', undefined, { origin })]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : null)
      expect(answer.headers.has('access-control-expose-headers')).toBe(isAllowed)
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
      expect(answer.headers.get('vary')).toContain('Origin')
    }
    expect(createOriginList(corsOrigins).includes(origin)).toBe(isAllowed && !corsOrigins.includes('*'))
  })

  test('exposes the headers that pages need', async () => {
    const gateway = await startGateway({ corsOrigins: [APP] })
    const { headers } = await gateway.get('/projects', undefined, { origin: APP })
    expect(headers.get('access-control-expose-headers')?.split(', ')).toEqual([
      ...['API-Version', 'Deprecation', 'ETag', 'Link', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'Sunset'],
      ...['WWW-Authenticate', 'X-Request-Id'],
    ])
  })

  test.each([
    ['authorization,content-type', 'authorization, content-type'],
    [
      'apollographql-client-name, apollographql-client-version',
      'apollographql-client-name, apollographql-client-version',
    ],
    ['traceparent,baggage,sentry-trace,x-requested-with', 'traceparent, baggage, sentry-trace, x-requested-with'],
    [undefined, 'Authorization, Content-Type, If-None-Match'],
    ['', 'Authorization, Content-Type, If-None-Match'],
    ['x-a, b c', 'Authorization, Content-Type, If-None-Match'],
    ['x-a, <script>', 'Authorization, Content-Type, If-None-Match'],
    ['*', '*'],
    ['x-one\t, x-two', 'x-one, x-two'],
    ['x-one\xa0, x-two', 'Authorization, Content-Type, If-None-Match'],
    [
      Array.from({ length: 64 }, (_, at) => `x-${at}`).join(', '),
      Array.from({ length: 64 }, (_, at) => `x-${at}`).join(', '),
    ],
    [Array.from({ length: 65 }, (_, at) => `x-${at}`).join(), 'Authorization, Content-Type, If-None-Match'],
    [`x-${'a'.repeat(2_046)}`, `x-${'a'.repeat(2_046)}`],
    [`x-${'a'.repeat(2_047)}`, 'Authorization, Content-Type, If-None-Match'],
  ])('answers a preflight that asks for %s with the headers that may be sent', async (asked, allowed) => {
    const gateway = await startGateway({ corsOrigins: [APP] })
    const { status, headers } = await preflight(gateway, APP, asked)
    expect([status, headers.get('access-control-allow-headers')]).toEqual([204, allowed])
    expect(headers.get('access-control-allow-methods')).toBe('DELETE, POST, OPTIONS')
    expect(headers.get('access-control-max-age')).toBe('600')
    expect(headers.get('vary')).toBe('Origin, Access-Control-Request-Headers, Access-Control-Request-Method')
  })

  const REFUSED_EARLY = [
    [
      '431',
      requestText({
        headers: [
          ['Origin', APP],
          ['X-Long', 'x'.repeat(20_000)],
        ],
      }),
    ],
    [
      '400',
      requestText({
        method: 'POST',
        target: '/login',
        headers: [
          ['Origin', APP],
          ['Transfer-Encoding', 'chunked'],
        ],
        body: 'no chunk\r\n',
      }),
    ],
    ...(
      [
        // With the three other headers, this is one more than allowed.
        ['431', Array.from({ length: 126 }, (_, at) => [`X-${at}`, 'x'])],
        ['400', [['Host', 'a b']]],
        [
          '400',
          [
            ['Authorization', 'Bearer a'],
            ['Authorization', 'Bearer b'],
          ],
        ],
      ] as const satisfies readonly (readonly [status: string, lines: readonly (readonly string[])[]])[]
    ).map(
      ([status, lines]) =>
        [
          status,
          requestText({
            headers: [
              ['Origin', APP],
              ['Connection', 'close'],
              ...lines.map(([name = '', value = '']) => [name, value] as const),
            ],
          }),
        ] as const,
    ),
    ['405', requestText({ method: 'CONNECT', target: 'a:1', headers: [['Origin', APP]] })],
  ] as const

  test.each(REFUSED_EARLY)(
    'lets any page read a %s that is answered before the origin is known (row %#)',
    async (status, request) => {
      const gateway = await startGateway({ corsOrigins: [APP] })
      const [answer] = readAnswers(await exchange(gateway.url, request))
      expect(String(answer?.status)).toBe(status)
      expect(answer?.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer?.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
      expect(answer?.headers.has('access-control-allow-credentials')).toBe(false)
    },
  )

  test.each(REFUSED_EARLY)(
    'adds no CORS header to a %s without configured origins (row %#)',
    async (status, request) => {
      const gateway = await startGateway()
      const [answer] = readAnswers(await exchange(gateway.url, request))
      expect(String(answer?.status)).toBe(status)
      expect([...(answer?.headers.keys() ?? [])].filter((name) => name.startsWith('access-control'))).toEqual([])
    },
  )

  test.each([
    ['/graphql/', ''],
    ['/graphql', '/api'],
  ])(
    'a page that asks for the wrong path %s, with the base path "%s", can read that it is wrong',
    async (path, basePath) => {
      const gateway = await startGateway({ corsOrigins: [APP], basePath })
      // A browser sends the request only after a preflight that was answered with 2xx, and allows its method.
      const { status, headers } = await preflight(gateway, APP, 'authorization', path)
      expect([status, headers.get('access-control-allow-origin')]).toEqual([204, APP])
      expect(headers.get('access-control-allow-methods')?.split(', ')).toContain('DELETE')
      const answer = await gateway.send('DELETE', path, undefined, { origin: APP })
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([404, APP])
      expect((await gateway.send('OPTIONS', path)).status).toBe(404)
    },
  )

  test('adds no CORS header to any answer without configured origins', async () => {
    const gateway = await startGateway()
    for (const answer of [
      await preflight(gateway, APP, 'traceparent'),
      await gateway.get('/healthz', undefined, { origin: APP }),
    ]) {
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
      expect(answer.headers.has('vary')).toBe(false)
    }
  })

  test('reports a refused origin once, its own origin never, and no more than a hundred origins', async () => {
    const refused: string[] = []
    const gateway = await startGateway({ corsOrigins: [APP], reportRefusedOrigin: (origin) => refused.push(origin) })
    const own = new URL(gateway.url).host
    for (const origin of [APP, `http://${own}`, `https://${own}`]) await gateway.get('/healthz', undefined, { origin })
    expect(refused).toEqual([])
    for (let round = 0; round < 3; round += 1) await preflight(gateway, 'https://evil.example')
    expect(refused).toEqual(['https://evil.example'])
    for (let at = 0; at < 200; at += 1) {
      await gateway.get('/healthz', undefined, { origin: `https://${at}.${'x'.repeat(300)}` })
    }
    expect(refused).toHaveLength(100)
    expect(Math.max(...refused.map(({ length }) => length))).toBe(200)
  })
})

describe('--cors-origin', () => {
  test.each([
    ['https://app.example.com:443', APP],
    ['HTTPS://App.Example.COM/', APP],
    ['http://localhost:80', 'http://localhost'],
    ['http://localhost:5173', 'http://localhost:5173'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://*.Example.com:443', 'https://*.example.com'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['capacitor://localhost', 'capacitor://localhost'],
    ['file://', 'file://'],
    ['null', 'null'],
    ['*', '*'],
  ])('%s is compared as %s', (text, origin) => expect(normalOrigin(text)).toBe(origin))

  test.each([
    'app.example.com',
    'https://',
    'https://app.example.com/path',
    'https://a:b@app.example.com',
    'https://*.com',
    'https://*.example.com:99999',
    'https://*',
    'https://app.*.com',
    '*.example.com',
    'https://app.example.com?x',
  ])('refuses to start with %s, which no browser sends', async (text) => {
    expect(normalOrigin(text)).toBeNull()
    const { exitCode, stderr } = await runHere(['serve', '--cors-origin', text])
    expect([exitCode, stderr.includes('--cors-origin (WORKSPACE_GATEWAY_CORS_ORIGIN): ')]).toEqual([2, true])
  })

  test('logs a refused origin once, with the option', async () => {
    const serving = await serveForTest(['--no-demo'], { cwd: temporaryDirectory() })
    for (let round = 0; round < 2; round += 1) await ask(`${serving.url}/healthz`, { headers: { origin: APP } })
    await serving.kill('SIGTERM')
    const lines = serving
      .stderr()
      .split('\n')
      .filter((line) => line.includes(APP))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('--cors-origin')
  })
})
