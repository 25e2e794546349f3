// Tests the login guard "local": which requests count as requests of this machine, and where `serve` may listen.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type CreateGuard, guardsOf } from '../../src/auth/guards/guards.ts'
import { createLocalGuard } from '../../src/auth/guards/local.ts'
import type { FailureCode } from '../../src/errors.ts'
import { SESSION_ROUTES } from '../../src/rest/routes.ts'
import { type CallerParts, callerWith } from '../support/callers.ts'
import { type Finished, run, runHere, serveForTest } from '../support/command-line.ts'
import { expectGraphQLFailure, expectProblem } from '../support/failures.ts'
import { ask, bearer, startGateway } from '../support/gateway.ts'
import { expectEach } from '../support/rows.ts'
import { countSessions } from '../support/sessions.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { exchange, readAnswers, requestText, type WireRequest } from '../support/wire.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

type Headers = readonly (readonly [name: string, value: string])[]

interface Scenario {
  readonly name: string
  /** Added to `Content-Type: application/json` and the gateway's own `Host`, unless the row sets these itself. */
  readonly headers: (port: string) => Headers
  /** Null: the login is answered with tokens. */
  readonly refusal: { readonly status: number; readonly code: FailureCode } | null
}

const REFUSED = { status: 403, code: 'LOGIN_REFUSED' } as const
const NOT_JSON = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' } as const

const OWN_HOSTS = ['localhost', '127.0.0.1', '[::1]', 'LocalHost']

const FOREIGN_HOSTS = [
  'evil.example.com',
  'evil.example.com:80',
  'localhost.evil.com',
  'evil.localhost',
  'localhost.localdomain',
  'localhost.',
  'localhost:',
  'localhost:1234567',
  '127.0.0.1.nip.io',
  '127.0.0.2',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '0.0.0.0',
  '[::2]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '',
]

/** Values that are no valid host: the HTTP layer answers such a request, and the guard is never asked. */
const MALFORMED_HOSTS = [
  'localhost@evil.example.com',
  'localhost/evil.example.com',
  'localhost, evil.example.com',
  'localhost:http',
  '::1',
  '[::1',
]

/** Repeated here on purpose: if a header is removed from the guard's own list, a row fails. */
const FORWARDING_HEADERS = [
  'Forwarded',
  'Via',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Port',
  'X-Forwarded-Proto',
  'X-Forwarded-Server',
  'X-Original-Forwarded-For',
  'X-Client-IP',
  'X-Cluster-Client-IP',
  'X-Real-IP',
  'X-Envoy-External-Address',
  'Fly-Client-IP',
  'CF-Connecting-IP',
  'CF-Ray',
  'CDN-Loop',
  'True-Client-IP',
  'Fastly-Client-IP',
  'X-Amzn-Trace-Id',
  'X-Amz-Cf-Id',
  'X-Azure-ClientIP',
  'X-Cloud-Trace-Context',
  'X-Vercel-Forwarded-For',
  'X-NF-Client-Connection-IP',
  'X-Varnish',
  // In lower case, as HTTP/2 sends them.
  'x-forwarded',
  'x-forwarded-by',
  'x-forwarded-client-cert',
  'x-forwarded-path',
  'x-forwarded-prefix',
  'x-forwarded-protocol',
  'x-forwarded-scheme',
  'x-forwarded-ssl',
  'x-forwarded-uri',
  'x-original-host',
  'x-original-uri',
  'x-original-url',
  'x-real-port',
  'x-originating-ip',
  'x-proxyuser-ip',
  'x-remote-addr',
  'x-remote-ip',
  'x-scheme',
  'x-url-scheme',
  'front-end-https',
  'client-ip',
  'proxy-client-ip',
  'wl-proxy-client-ip',
  'x-envoy-expected-rq-timeout-ms',
  'x-envoy-original-path',
  'fly-forwarded-port',
  'fly-forwarded-proto',
  'cf-connecting-ipv6',
  'cf-ipcountry',
  'cf-visitor',
  'akamai-origin-hop',
  'fastly-ff',
  'x-azure-fdid',
  'x-azure-ref',
  'x-arr-log-id',
  'x-appengine-user-ip',
  'x-vercel-id',
  'x-nf-request-id',
  'proxy-connection',
  'surrogate-capability',
  'x-client-port',
  'x-nginx-proxy',
  'x-queue-start',
  'x-remote-user',
  'x-request-start',
  'x-true-client-ip',
  'x-forwarded-method',
  'x-replaced-path',
  'x-original-for',
  'x-original-proto',
  'x-auth-request-user',
  'x-forwarded-access-token',
  'x-forwarded-email',
  'x-forwarded-groups',
  'x-forwarded-preferred-username',
  'x-forwarded-user',
  'l5d-client-id',
  'l5d-dst-canonical',
  'tailscale-user-login',
  'x-envoy-attempt-count',
  'x-envoy-internal',
  'cf-access-jwt-assertion',
  'x-amzn-oidc-data',
  'x-arr-ssl',
  'x-ms-client-principal',
  'x-goog-iap-jwt-assertion',
  'x-appengine-country',
  'do-connecting-ip',
  'incap-client-ip',
  'x-sucuri-clientip',
]

const FOREIGN_ORIGINS: readonly ((port: string) => string)[] = [
  () => 'https://evil.example.com',
  () => 'null',
  () => '',
  () => 'file://',
  () => 'http://127.0.0.1',
  () => 'http://127.0.0.1:1',
  (port) => `https://127.0.0.1:${port}`,
  (port) => `http://localhost:${port}`,
  (port) => `http://127.0.0.1:${port}.evil.example.com`,
  (port) => `http://127.0.0.1:${port}/`,
  (port) => `http://127.0.0.1:${port}, http://evil.example.com`,
]

const SCENARIOS: readonly Scenario[] = [
  { name: 'a program on this machine', headers: () => [], refusal: null },
  ...OWN_HOSTS.flatMap((host): readonly Scenario[] => [
    { name: `Host ${host}`, headers: () => [['Host', host]], refusal: null },
    { name: `Host ${host} with a port`, headers: (port) => [['Host', `${host}:${port}`]], refusal: null },
  ]),
  ...FOREIGN_HOSTS.map(
    (host): Scenario => ({ name: `Host "${host}"`, headers: () => [['Host', host]], refusal: REFUSED }),
  ),
  ...FORWARDING_HEADERS.flatMap((name): readonly Scenario[] => [
    { name: `${name} of a proxy`, headers: () => [[name, '127.0.0.1']], refusal: REFUSED },
    { name: `an empty ${name}`, headers: () => [[name, '']], refusal: REFUSED },
  ]),
  ...FOREIGN_ORIGINS.map(
    (origin): Scenario => ({
      name: `Origin "${origin('PORT')}"`,
      headers: (port) => [['Origin', origin(port)]],
      refusal: REFUSED,
    }),
  ),
  // Programs and pages of this machine send some of these too.
  ...['X-Request-Id', 'Traceparent', 'Sentry-Trace'].map(
    (name): Scenario => ({ name: `${name}, no sign of a proxy`, headers: () => [[name, 'f00']], refusal: null }),
  ),
  {
    name: 'a page of a name that an attacker points here (DNS rebinding)',
    headers: (port) => [
      ['Host', `evil.example.com:${port}`],
      ['Origin', `http://evil.example.com:${port}`],
      ['Sec-Fetch-Site', 'same-origin'],
    ],
    refusal: REFUSED,
  },
  {
    name: 'a page of the gateway itself',
    headers: (port) => [
      ['Origin', `http://127.0.0.1:${port}`],
      ['Sec-Fetch-Site', 'same-origin'],
    ],
    refusal: null,
  },
  {
    name: 'a page of the gateway itself by its other name',
    headers: (port) => [
      ['Host', `localhost:${port}`],
      ['Origin', `http://localhost:${port}`],
    ],
    refusal: null,
  },
  ...(['cross-site', 'same-site', 'sideways', ''] as const).map(
    (site): Scenario => ({
      name: `Sec-Fetch-Site "${site}"`,
      headers: () => [['Sec-Fetch-Site', site]],
      refusal: REFUSED,
    }),
  ),
  ...(['same-origin', 'none'] as const).map(
    (site): Scenario => ({
      name: `Sec-Fetch-Site "${site}"`,
      headers: () => [['Sec-Fetch-Site', site]],
      refusal: null,
    }),
  ),
  // The types that a page of another site may send without a preflight (CORS-safelisted).
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'].map(
    (type): Scenario => ({ name: `a body of ${type}`, headers: () => [['Content-Type', type]], refusal: NOT_JSON }),
  ),
]

const TRUSTED = 'https://app.example.com'

const TRUSTING: readonly Scenario[] = [
  {
    name: 'the trusted origin',
    headers: () => [
      ['Origin', TRUSTED],
      ['Sec-Fetch-Site', 'cross-site'],
    ],
    refusal: null,
  },
  { name: 'no origin', headers: () => [], refusal: null },
  ...[
    'http://app.example.com',
    'https://app.example.com:444',
    'https://app.example.com.evil.example.com',
    'https://evil.example.com',
    'null',
    '*',
  ].map(
    (origin): Scenario => ({ name: `the origin ${origin}`, headers: () => [['Origin', origin]], refusal: REFUSED }),
  ),
  {
    name: 'the trusted origin through a proxy',
    headers: () => [
      ['Origin', TRUSTED],
      ['X-Forwarded-For', '127.0.0.1'],
    ],
    refusal: REFUSED,
  },
  {
    name: 'the trusted origin at a foreign Host',
    headers: () => [
      ['Origin', TRUSTED],
      ['Host', 'evil.example.com'],
    ],
    refusal: REFUSED,
  },
]

const LOGIN_TWIN = SESSION_ROUTES.find(({ path }) => path === '/login')?.twin ?? ''

/** The same login over both protocols, with the same headers. */
function loginsOf(url: string, { headers }: Scenario, email = ANA): readonly [rest: string, graphql: string] {
  const { host, port } = new URL(url)
  const given = headers(port)
  const has = (name: string) => given.some(([other]) => other === name)
  const all: Headers = [
    ...(has('Host') ? [] : [['Host', host] as const]),
    ...(has('Content-Type') ? [] : [['Content-Type', 'application/json'] as const]),
    ...given,
    ['Connection', 'close'],
  ]
  const post = (target: string, body: object): WireRequest => ({
    method: 'POST',
    target,
    headers: all,
    body: JSON.stringify(body),
  })
  return [
    requestText(post('/login', { email })),
    requestText(post('/graphql', { query: LOGIN_TWIN, variables: { email } })),
  ]
}

async function answerTo(url: string, request: string) {
  const [answer, ...more] = readAnswers(await exchange(url, request))
  if (!answer || more.length > 0) throw new Error(`${more.length + 1} answers to one request`)
  return answer
}

function localGuard(...trustedOrigins: readonly string[]): CreateGuard {
  return guardsOf(['local'], { trustedOrigins })
}

/** Tries every row over both protocols, on one gateway. */
async function expectScenarios(scenarios: readonly Scenario[], createGuard = localGuard()): Promise<void> {
  const gateway = await startGateway({ createGuard })
  await expectEach(scenarios, async (scenario) => {
    const before = countSessions(gateway.databasePath)
    const [rest, graphql] = loginsOf(gateway.url, scenario)
    const answers = [await answerTo(gateway.url, rest), await answerTo(gateway.url, graphql)] as const
    const opened = countSessions(gateway.databasePath) - before
    if (scenario.refusal === null) {
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(answers[0].json().refreshToken).toMatch(/^wgr_/)
      expect(answers[1].json().data.login.refreshToken).toMatch(/^wgr_/)
      expect(opened).toBe(2)
    } else {
      const hasNot = [ANA, 'evil.example.com']
      expectProblem(answers[0], { ...scenario.refusal, hasNot })
      expectGraphQLFailure(answers[1], { ...scenario.refusal, hasNot })
      // A request with a wrong content type is no GraphQL request, so its answer has no `data`.
      expect(answers[1].json().data).toBe(scenario.refusal === NOT_JSON ? undefined : null)
      expect(opened).toBe(0)
    }
    expect(gateway.reported).toEqual([])
  })
}

describe('the login guard "local"', () => {
  test('admits programs and pages of this machine', () =>
    expectScenarios(SCENARIOS.filter(({ refusal }) => refusal === null)))

  test('refuses every request that may come from elsewhere, opens no session for it and names no email', () =>
    expectScenarios(SCENARIOS.filter(({ refusal }) => refusal !== null)))

  test('is not asked about a request with a malformed Host, and no session is opened', async () => {
    const gateway = await startGateway({ createGuard: localGuard() })
    const rows = MALFORMED_HOSTS.map(
      (host): Scenario => ({ name: host, headers: () => [['Host', host]], refusal: null }),
    )
    await expectEach(rows, async (scenario) => {
      for (const request of loginsOf(gateway.url, scenario)) {
        const answer = await answerTo(gateway.url, request)
        expectProblem(answer, { status: 400, code: 'BAD_REQUEST', hasNot: [ANA, 'evil.example.com'] })
      }
    })
    expect(countSessions(gateway.databasePath)).toBe(0)
  })

  test('admits pages of a trusted origin, and of no other', () => expectScenarios(TRUSTING, localGuard(TRUSTED)))

  test('admits pages of the subdomains of a trusted domain, and of no other domain', () =>
    expectScenarios(
      [
        { name: 'a page below it', headers: () => [['Origin', 'https://app.example.com']], refusal: null },
        { name: 'a page beside it', headers: () => [['Origin', 'https://app.example.org']], refusal: REFUSED },
      ],
      localGuard('https://*.example.com'),
    ))

  test('does not admit the origin "null", because a sandboxed frame of any site has it', () =>
    expectScenarios(
      [{ name: 'a sandboxed frame', headers: () => [['Origin', 'null']], refusal: REFUSED }],
      localGuard('null'),
    ))

  test('does not treat * as a wildcard: with * for CORS, pages of other origins still cannot sign in', () =>
    expectScenarios(
      [{ name: 'a page of any origin', headers: () => [['Origin', TRUSTED]], refusal: REFUSED }],
      localGuard('*'),
    ))

  test('refuses before it checks the email, so that strangers cannot tell valid emails from invalid ones', async () => {
    const gateway = await startGateway()
    const stranger: Scenario = { name: '', headers: () => [['Host', 'evil.example.com']], refusal: REFUSED }
    for (const email of [ANA, 'not an email', '']) {
      const [rest, graphql] = loginsOf(gateway.url, stranger, email)
      const hasNot = email === '' ? [] : [email]
      expectProblem(await answerTo(gateway.url, rest), { ...REFUSED, hasNot })
      expectGraphQLFailure(await answerTo(gateway.url, graphql), { ...REFUSED, hasNot })
    }
  })

  test('refuses HTTP/1.0, with and without a Host, over both protocols', async () => {
    const gateway = await startGateway()
    const body = JSON.stringify({ email: ANA })
    const query = JSON.stringify({ query: LOGIN_TWIN, variables: { email: ANA } })
    for (const host of ['Host: localhost\r\n', '']) {
      for (const [target, content] of [
        ['/login', body],
        ['/graphql', query],
      ] as const) {
        const head = `POST ${target} HTTP/1.0\r\n${host}Content-Type: application/json\r\n`
        const answer = await answerTo(gateway.url, `${head}Content-Length: ${content.length}\r\n\r\n${content}`)
        expect([answer.status, answer.text.includes('HTTP/1.0')]).toEqual([403, true])
      }
    }
    expect(countSessions(gateway.databasePath)).toBe(0)
  })

  test.each([
    ['from another machine', { peer: { address: '192.0.2.1' } }, 'login-guard'],
    ['from a trusted proxy', { peer: { isTrustedProxy: true } }, 'login-guard'],
    ['in HTTP/1.0', { httpVersion: '1.0' }, 'login-guard'],
    ['with a forwarding header', { headers: { via: '1.1 x' } }, 'xfwd'],
    ['through a rewrite of Next', { headers: { 'x-forwarded-host': 'localhost:3000' } }, 'let the page ask'],
    ['for another Host', { headers: { host: 'app.example.com' } }, 'changeOrigin'],
    ['without a Host', { headers: { host: undefined } }, 'changeOrigin'],
    ['without a content type', { headers: { 'content-type': undefined } }, 'application/json'],
    ['from a page of another origin, or behind Vite', { headers: { origin: 'http://localhost:5173' } }, 'cors-origin'],
    ['from another site', { headers: { 'sec-fetch-site': 'cross-site' } }, 'cors-origin'],
  ] satisfies readonly (readonly [string, CallerParts, string])[])(
    'names the option that would admit a request %s',
    async (_, parts: CallerParts, remedy) => {
      const headers = { host: 'localhost', 'content-type': 'application/json', ...parts.headers }
      const caller = callerWith({ ...parts, headers })
      const decision = await createLocalGuard({ trustedOrigins: [] }, null).decide({ caller, email: ANA, code: null })
      expect(decision).toMatchObject({ outcome: 'passed', remedy: expect.stringContaining(remedy) })
    },
  )

  test('asks the kernel which user owns the connection, where the kernel can tell', async () => {
    const headers = { host: 'localhost', 'content-type': 'application/json' }
    const attempt = { caller: callerWith({ headers }), email: ANA, code: null }
    for (const [owner, outcome] of [
      [1000, 'admitted'],
      [1001, 'passed'],
      [0, 'passed'],
      [null, 'passed'],
    ] as const) {
      const guard = createLocalGuard({ trustedOrigins: [] }, { userId: 1000, socketOwner: async () => owner })
      expect((await guard.decide(attempt)).outcome, `owner ${owner}`).toBe(outcome)
    }
  })

  test('refuses two Host headers in either order', async () => {
    const gateway = await startGateway()
    for (const hosts of [
      ['localhost', 'evil.example.com'],
      ['evil.example.com', 'localhost'],
    ]) {
      const scenario: Scenario = { name: '', headers: () => hosts.map((host) => ['Host', host]), refusal: REFUSED }
      for (const request of loginsOf(gateway.url, scenario)) {
        expect((await answerTo(gateway.url, request)).status, hosts.join(', ')).toBe(400)
      }
    }
    expect(countSessions(gateway.databasePath)).toBe(0)
  })

  test('checks the host of an absolute request target, not the Host header (RFC 9112 section 3.2.2)', async () => {
    const gateway = await startGateway()
    const login = (target: string) =>
      requestText({
        method: 'POST',
        target,
        headers: [
          ['Content-Type', 'application/json'],
          ['Connection', 'close'],
        ],
        body: JSON.stringify({ email: ANA }),
      })
    expect((await answerTo(gateway.url, login('http://localhost/login'))).status).toBe(200)
    expect((await answerTo(gateway.url, login('http://evil.example.com/login'))).status).toBe(403)
    expect(countSessions(gateway.databasePath)).toBe(1)
  })

  test('guards only the login: a request with a token may come from anywhere', async () => {
    const gateway = await startGateway()
    await gateway.load(SMALL_WORLD)
    const { accessToken, refreshToken } = await gateway.login(ANA)
    const foreign = [
      ['Host', 'workspace.example.com'],
      ['X-Forwarded-For', '192.0.2.1'],
      ['Origin', 'https://evil.example.com'],
      ['Content-Type', 'application/json'],
      ['Connection', 'close'],
    ] as const
    const requests: readonly WireRequest[] = [
      { target: '/projects', headers: [...foreign, ['Authorization', `Bearer ${accessToken}`]] },
      { method: 'POST', target: '/token', headers: foreign, body: JSON.stringify({ refreshToken }) },
      { method: 'DELETE', target: '/logout', headers: foreign, body: JSON.stringify({ refreshToken }) },
    ]
    for (const request of requests) {
      expect((await answerTo(gateway.url, requestText(request))).status, request.target).toBe(200)
    }
  })

  test.each([
    ['127.0.0.1', true],
    ['127.9.8.7', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['192.0.2.1', false],
    ['10.0.0.1', false],
    ['::ffff:192.0.2.1', false],
    ['fe80::1', false],
    ['::', false],
    ['0.0.0.0', false],
    ['', false],
    ['localhost', false],
  ])('treats a request from %s as one of this machine: %s', async (peerAddress, isLocal) => {
    const headers: Readonly<Record<string, string>> = { host: 'localhost', 'content-type': 'application/json' }
    const caller = callerWith({ peer: { address: peerAddress }, headers })
    const decision = await createLocalGuard({ trustedOrigins: [] }, null).decide({ caller, email: ANA, code: null })
    if (isLocal) expect(decision).toEqual({ outcome: 'admitted', email: ANA })
    else expect(decision).toMatchObject({ reason: expect.stringContaining('another machine') })
  })

  test.each([
    ['application/json', true],
    ['application/json; charset=utf-8', true],
    ['text/plain', false],
    ['text/plain; application/json', false],
    [undefined, false],
  ])('accepts a body of type %s as JSON: %s', async (contentType, isJson) => {
    const headers: Readonly<Record<string, string | undefined>> = { host: 'localhost', 'content-type': contentType }
    const caller = callerWith({ peer: { address: '::1' }, headers })
    const { outcome } = await createLocalGuard({ trustedOrigins: [] }, null).decide({ caller, email: ANA, code: null })
    expect(outcome === 'admitted').toBe(isJson)
  })
})

test('the login guard "open" admits every request that "local" refuses with LOGIN_REFUSED', () =>
  expectScenarios(
    SCENARIOS.filter(({ refusal }) => refusal === REFUSED).map((scenario) => ({ ...scenario, refusal: null })),
    guardsOf(['open'], { trustedOrigins: [] }),
  ))

describe('serve', () => {
  /** The command must fail with usage advice and without a stack trace. */
  function expectNoStart({ exitCode, stdout, stderr }: Finished): void {
    expect([exitCode, stdout]).toEqual([2, ''])
    for (const advice of ['--host', '127.0.0.1', '--login-guard']) expect(stderr).toContain(advice)
    expect(stderr).not.toMatch(/\n\s+at /)
  }

  test.each([
    ['--host 0.0.0.0', ['--host', '0.0.0.0']],
    ['--host ::', ['--host', '::']],
    ['an address of a network', ['--host', '192.0.2.1']],
    ['a name that may be anywhere', ['--host', 'gateway.example.com']],
    ['the guard "local" by name', ['--host', '0.0.0.0', '--login-guard', 'local']],
  ])('does not start with the guard "local" where other machines can connect: %s', async (_, args) => {
    const database = join(temporaryDirectory(), 'data', 'workspace.db')
    expectNoStart(await runHere(['serve', '--port', '0', '--database', `file:${database}`, ...args]))
    expect(existsSync(dirname(database))).toBe(false)
  })

  test('does not start there either if the environment sets the host', async () => {
    const cwd = temporaryDirectory()
    expectNoStart(await run(['serve', '--port', '0'], { cwd, env: { WORKSPACE_GATEWAY_HOST: '0.0.0.0' } }))
    expect(existsSync(join(cwd, 'data'))).toBe(false)
  })

  test('starts there with the guard "open", warns, and lets strangers sign in', async () => {
    const args = ['--host', '0.0.0.0', '--login-guard', 'open']
    const serving = await serveForTest(args, { cwd: temporaryDirectory() })
    const url = serving.url.replace('0.0.0.0', '127.0.0.1')
    const stranger: Scenario = {
      name: '',
      headers: () => [
        ['Host', 'gateway.example.com'],
        ['X-Forwarded-For', '192.0.2.1'],
      ],
      refusal: null,
    }
    for (const request of loginsOf(url, stranger)) expect((await answerTo(url, request)).status).toBe(200)
    // Only a caller on this machine may use the demo workspace.
    const [login = ''] = loginsOf(url, stranger, 'demo@example.com')
    const { accessToken } = (await answerTo(url, login)).json()
    const read = await ask(`${url}/projects`, { headers: bearer(accessToken) })
    expect([read.status, read.json().code]).toEqual([404, 'NO_WORKSPACE'])
    expect(serving.stdout()).toBe(`listening on ${serving.url}\n`)
    expect(await serving.kill('SIGTERM')).toBe(0)
    expect(serving.stderr()).toMatch(/login guard \\?"open\\?".*anyone/)
  })

  test('starts on a loopback address without a warning', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const serving = await serveForTest(['--host', host, '--no-demo'], { cwd: temporaryDirectory() })
      expect((await ask(`${serving.url}/healthz`)).status).toBe(200)
      expect(await serving.kill('SIGTERM')).toBe(0)
      expect(serving.stderr()).not.toContain('login guard')
    }
  })
})
