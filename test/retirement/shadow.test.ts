// Tests the shadow, which compares REST answers with those of the old server, and lets either side answer.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { describe, expect, test } from 'vitest'
import { compareBytes, digestsOf } from '../../src/rest/shadow/compare-bytes.ts'
import type { ShadowCounts } from '../../src/rest/shadow/shadow-report.ts'
import { runHere, type Serving, serveHereForTest } from '../support/command-line.ts'
import { type Answer, ask, bearer } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { type PlainServer, type PlainServerOptions, startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { exchange, readAnswers, requestText } from '../support/wire.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const LONG = exportLine(BEN, {
  r: 'long',
  createdAt: '2026-01-01T00:00:00Z',
  elements: Array.from({ length: 2_000 }, (_, index) => `{"path":"${index}","content":"${'é'.repeat(700)}"}`),
})
const WORLD = SMALL_WORLD + documentLine('project', BEN, '{"id":"p9","ref":"long","n":1.0}') + LONG
const READS = ['/projects', '/templates', '/ui-libraries', '/exports?r=site', '/exports?r=long', '/exports?r=none']

interface Line {
  readonly level: number
  readonly msg: string
  readonly shadow?: Record<string, unknown> & ShadowCounts
}

interface Setting {
  readonly old: PlainServer
  readonly gateway: Serving
  readonly login: (email: string) => Promise<{ accessToken: string; refreshToken: string }>
  readonly read: (accessToken: string, path: string, headers?: Record<string, string>) => Promise<Answer>
  /** Stops the gateway and returns its differences and its last summary. */
  readonly stop: () => Promise<{ differences: readonly object[]; counts: ShadowCounts | undefined; stderr: string }>
}

async function start(args: readonly string[], options: Partial<PlainServerOptions> = {}): Promise<Setting> {
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  await runHere(['import', '-', '--database', database], { stdin: WORLD })
  const old = await startPlainServer({ records: WORLD, basePath: '/v1', ...options })
  const flags = ['--database', database, '--shadow', old.url, '--shadow-confirm', '0', ...args]
  const gateway = await serveHereForTest(flags)
  return {
    old,
    gateway,
    async login(email) {
      const answer = await ask(`${gateway.url}/login`, {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify({ email }),
      })
      return answer.json()
    },
    read: (accessToken, path, headers = {}) =>
      ask(`${gateway.url}${path}`, { headers: { ...bearer(accessToken), ...headers } }),
    async stop() {
      expect(await gateway.kill('SIGTERM')).toBe(0)
      await old[Symbol.asyncDispose]()
      const logged: readonly Line[] = jsonLines(gateway.stderr())
      return {
        differences: logged.flatMap(({ msg, shadow }) =>
          msg === 'the old server answers differently' && shadow ? [shadow] : [],
        ),
        counts: logged.findLast(({ msg }) => msg === 'compared with the old server')?.shadow,
        stderr: gateway.stderr(),
      }
    },
  }
}

/** Counts the requests for data that the old server received. */
const readsAt = ({ requests }: PlainServer) =>
  requests.filter(({ method, path }) => method === 'GET' && path !== '/').length

/** The metrics of a gateway with `--admin-port 0`. */
async function metricsOf(gateway: Serving): Promise<string> {
  const admin = /"url":"(\S+?)","msg":"metrics and health/.exec(gateway.stderr())?.[1]
  return (await ask(`${admin}/metrics`)).text
}

/** Waits until the old server has received this many requests for data. */
async function untilAsked(old: PlainServer, count: number): Promise<void> {
  await expect.poll(() => readsAt(old)).toBeGreaterThanOrEqual(count)
}

const expectNoSecrets = (stderr: string, secrets: readonly string[]) => {
  for (const secret of [...secrets, ANA, BEN]) expect(stderr).not.toContain(secret)
}

describe.each(['ours', 'old'] as const)('with --answer-from %s', (who) => {
  test('equal answers are not reported, and the one different answer is reported once with its byte', async () => {
    const { old, login, read, stop } = await start(['--answer-from', who], { accessTokenTtlSeconds: 2 })
    const users = [
      { email: ANA, ...(await login(ANA)) },
      { email: BEN, ...(await login(BEN)) },
      { email: 'nobody@example.com', ...(await login('nobody@example.com')) },
    ]
    let asked = 0
    const readAll = async () => {
      for (const { email, accessToken } of users) {
        for (const path of READS) {
          const answer = await read(accessToken, path)
          const expected = old.expected(email, path)
          expect(answer.status).toBe(expected === null ? 404 : 200)
          if (who === 'old' && expected !== null) expect(answer.text).toBe(expected)
          asked += who === 'old' ? 2 : 1
        }
      }
      await untilAsked(old, asked)
    }
    await readAll()
    const isOurs = (await read(users[0]?.accessToken ?? '', '/projects')).headers.has('etag')
    expect(isOurs).toBe(who === 'ours')
    asked += who === 'old' ? 2 : 1

    // Planted: one byte in the middle of a long answer, which is the only difference.
    const long = old.workspaces.get(BEN)?.exports.get('long')?.elements as string[]
    const before = long[1_500] ?? ''
    long[1_500] = before.replace('content":"é', 'content":"è')
    const at = Buffer.from(old.expected(BEN, '/exports?r=long') ?? '').findIndex(
      (byte, index) => byte !== expectedBytes[index],
    )
    await readAll()
    await readAll()
    const { differences, counts, stderr } = await stop()
    expect(differences).toEqual([
      {
        route: 'GET /exports',
        user: expect.stringMatching(/^hmac-sha256:[0-9a-f]{32}$/),
        ref: 'long',
        ours: 200,
        old: 200,
        at,
      },
    ])
    expect(at).toBeGreaterThan(1_500 * 1_400)
    expect(counts).toMatchObject({ skipped: { noRoom: 0, brokenOff: 0, oldAway: 0 } })
    expect(counts?.different).toBeGreaterThanOrEqual(1)
    expect(counts?.equal).toBeGreaterThanOrEqual(50)
    expectNoSecrets(
      stderr,
      users.flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken]),
    )
    expect(old.openSessions()).toBe(0)
  })
})

const expectedBytes = Buffer.from(
  `[${Array.from({ length: 2_000 }, (_, index) => `{"path":"${index}","content":"${'é'.repeat(700)}"}`).join(',')}]`,
)

test('a different status is reported, and tokens that the old server has forgotten are renewed', async () => {
  const { old, gateway, login, read, stop } = await start(['--admin-port', '0'])
  const { accessToken } = await login(ANA)
  expect((await read(accessToken, '/projects', { 'graphql-client-name': 'web' })).status).toBe(200)
  await untilAsked(old, 1)
  await old.kill({ forgetsSessions: true })
  await old.restart()
  old.workspaces.delete(ANA)
  expect((await read(accessToken, '/projects')).status).toBe(200)
  await untilAsked(old, 2)
  await expect
    .poll(() => metricsOf(gateway))
    .toContain('workspace_gateway_shadow_comparisons_total{outcome="different"} 1')
  expect(await metricsOf(gateway)).toContain('workspace_gateway_rest_calls_total{route="GET /projects",client="web"} 1')
  const { differences } = await stop()
  expect(differences).toEqual([
    { route: 'GET /projects', user: expect.any(String), ref: null, ours: 200, old: 404, at: null },
  ])
})

test('an old server that is down or never answers fails no read; surplus comparisons are skipped', async () => {
  const { old, login, read, stop } = await start(['--shadow-concurrency', '1'])
  old.setIntercept(() => true)
  const { accessToken } = await login(ANA)
  for (let round = 0; round < 30; round += 1) {
    const answers = await Promise.all(Array.from({ length: 40 }, () => read(accessToken, '/projects')))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  }
  await old.kill()
  expect((await read(accessToken, '/projects')).status).toBe(200)
  const { differences, counts } = await stop()
  expect(differences).toEqual([])
  expect(counts?.skipped.noRoom).toBeGreaterThan(100)
})

test('with --answer-from old, an outage is a 503, a stranger gets a 401, and conditions are passed on', async () => {
  const { old, gateway, login, read, stop } = await start(
    ['--answer-from', 'old', '--shadow-sample', '0', '--access-log', 'json'],
    {
      hasEtags: true,
      hasLastModified: true,
    },
  )
  const { accessToken, refreshToken } = await login(ANA)
  const first = await read(accessToken, '/projects')
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^W\//)
  const unchanged = await read(accessToken, '/projects', { 'if-none-match': etag })
  expect(unchanged.status).toBe(304)
  // No shared cache may give one user's documents to another, whatever the old server says about caching.
  for (const { headers } of [first, unchanged]) {
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual(['private, no-cache', 'Authorization'])
  }
  expect((await read(accessToken, '/exports?r=site')).headers.get('last-modified')).toMatch(/ GMT$/)
  const head = await ask(`${gateway.url}/projects`, { method: 'HEAD', headers: bearer(accessToken) })
  expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
    200,
    '',
    String(Buffer.byteLength(first.text)),
  ])
  expect(old.requests.at(-1)?.method).toBe('HEAD')
  const count = old.requests.length
  expect((await ask(`${gateway.url}/projects`)).status).toBe(401)
  expect((await read('eyJ.e.e', '/projects')).status).toBe(401)
  expect(old.requests).toHaveLength(count)
  // GraphQL answers from our database.
  old.workspaces.get(ANA)?.templates.pop()
  const query = encodeURIComponent('{ me { templates { name } } }')
  expect((await read(accessToken, `/graphql?query=${query}`)).json().data.me.templates).toEqual([{ name: 'Landing' }])
  expect((await read(accessToken, '/templates')).text).toBe('[]')

  await old.kill()
  const away = await read(accessToken, '/projects')
  expect([away.status, away.json().code, away.headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', '1'])
  await old.restart()
  expect((await read(accessToken, '/projects')).text).toBe(first.text)
  const logout = { method: 'DELETE', headers: JSON_TYPE, body: JSON.stringify({ refreshToken }) }
  expect((await ask(`${gateway.url}/logout`, logout)).status).toBe(200)
  expect((await read(accessToken, '/projects')).status).toBe(401)
  const { counts, stderr } = await stop()
  expect(counts).toBe(undefined)
  // The request log names the user of each read, as of those that are answered here.
  const logged = jsonLines(stderr).filter(({ route, status }) => route === '/projects' && status === 200)
  expect(logged).not.toEqual([])
  expect(logged.filter(({ user }) => user === undefined)).toEqual([])
})

test.each([401, 403] as const)(
  'with --answer-from old, access tokens that expire there with %i are renewed',
  async (status) => {
    const { old, login, read, stop } = await start(['--answer-from', 'old', '--shadow-sample', '0'], {
      accessTokenTtlSeconds: 1,
      refusedTokenStatus: status,
    })
    const { accessToken } = await login(ANA)
    while (!old.requests.some((request) => request.status === status)) {
      expect((await read(accessToken, '/projects')).status).toBe(200)
      await setTimeout(50)
    }
    expect((await read(accessToken, '/templates')).text).toBe(old.expected(ANA, '/templates'))
    await stop()
    // The session was renewed, and signed out in the end.
    expect(old.requests.filter(({ path }) => path === '/login')).toHaveLength(1)
    expect(old.openSessions()).toBe(0)
  },
)

test('with --answer-from old, a refused renewed token leads to another session and ends the first', async () => {
  let isRefused = false
  const { old, login, read, stop } = await start(['--answer-from', 'old', '--shadow-sample', '0'], {
    intercept(request, response) {
      if (request.url === '/v1/token') response.writeHead(200, JSON_TYPE).end('{"accessToken":"of.no.use"}')
      else if (isRefused && request.method === 'GET') {
        isRefused = false
        response.writeHead(401).end()
      } else return false
      return true
    },
  })
  const { accessToken } = await login(ANA)
  expect((await read(accessToken, '/projects')).status).toBe(200)
  isRefused = true
  expect((await read(accessToken, '/templates')).text).toBe(old.expected(ANA, '/templates'))
  expect(old.requests.filter(({ path }) => path === '/login')).toHaveLength(2)
  await expect.poll(old.openSessions).toBe(1)
  await stop()
  expect(old.openSessions()).toBe(0)
})

test('an old server with single-use refresh tokens has one session for a user, which is ended', async () => {
  const { old, login, read, stop } = await start(['--answer-from', 'old', '--shadow-sample', '0'], {
    accessTokenTtlSeconds: 1,
    rotatesRefreshTokens: true,
  })
  const { accessToken } = await login(ANA)
  const renewals = () => old.requests.filter(({ path }) => path === '/token')
  while (renewals().length < 2) {
    expect((await read(accessToken, '/projects')).status).toBe(200)
    await setTimeout(50)
  }
  expect(old.openSessions()).toBe(1)
  await stop()
  expect(renewals().map(({ status }) => status)).toEqual([200, 200])
  expect(old.requests.filter(({ path }) => path === '/login')).toHaveLength(1)
  expect(old.openSessions()).toBe(0)
})

test.each(['ours', 'old'])(
  'an old server that requires a key with every request gets it, with --answer-from %s',
  async (who) => {
    const KEY = 'key-6f1d0c'
    const file = join(temporaryDirectory(), 'headers')
    // The file does not override headers that the gateway sets itself.
    writeFileSync(file, `X-Api-Key: ${KEY}\nAuthorization: Bearer of-nobody\n`, { mode: 0o600 })
    const refused: string[] = []
    const { old, login, read, stop } = await start(['--answer-from', who, '--shadow-headers', file], {
      intercept(request, response) {
        if (request.headers['x-api-key'] === KEY) return false
        refused.push(`${request.method} ${request.url}`)
        response.writeHead(403).end()
        return true
      },
    })
    const { accessToken } = await login(ANA)
    for (const path of READS) {
      expect((await read(accessToken, path)).status, path).toBe(old.expected(ANA, path) === null ? 404 : 200)
    }
    await untilAsked(old, READS.length * (who === 'old' ? 2 : 1))
    const { counts, differences, stderr } = await stop()
    expect([counts?.equal, counts?.different, differences]).toEqual([READS.length, 0, []])
    // The sign-out had the key too.
    expect([refused, old.openSessions()]).toEqual([[], 0])
    expectNoSecrets(stderr, [KEY, 'of-nobody'])
  },
)

test('an answer of the old server without room is aborted there', async () => {
  const unread: { readonly controller: AbortController; readonly answer: Response }[] = []
  let closed = 0
  const { gateway, login, stop } = await start(
    ['--answer-from', 'old', '--shadow-sample', '0', '--in-flight-bytes', String(1_048_576)],
    {
      intercept(request, response) {
        if (!request.url?.startsWith('/v1/exports')) return false
        response.once('close', () => {
          closed += 1
        })
        response.writeHead(200, JSON_TYPE).write('[')
        return true
      },
    },
  )
  const { accessToken } = await login(ANA)
  async function ask(): Promise<number> {
    const controller = new AbortController()
    const answer = await fetch(`${gateway.url}/exports?r=site`, {
      headers: bearer(accessToken),
      signal: controller.signal,
    })
    unread.push({ controller, answer })
    return answer.status
  }
  // Each answer holds 128 KiB until its end.
  for (let sent = 0; sent < 8; sent += 1) expect(await ask()).toBe(200)
  expect(await ask()).toBe(503)
  await expect.poll(() => closed).toBe(1)
  for (const { controller } of unread) controller.abort()
  await expect.poll(() => closed).toBe(9)
  await stop()
})

test.each(['ours', 'old'])(
  'the reason why the old server gives no answer is logged at most once a minute, with --answer-from %s',
  async (who) => {
    const { old, gateway, login, read, stop } = await start(['--answer-from', who])
    const { accessToken, refreshToken } = await login(ANA)
    await old.kill()
    const told = () => gateway.stderr().split('the old server gives no answer').length - 1
    for (let round = 0; round < 5; round += 1) {
      expect((await read(accessToken, '/projects')).status).toBe(who === 'ours' ? 200 : 503)
    }
    await expect.poll(told).toBe(1)
    const { stderr } = await stop()
    expect(stderr).toContain('"reason":"no answer (ECONNREFUSED)","msg":"the old server gives no answer"')
    expect(told()).toBe(1)
    expectNoSecrets(stderr, [accessToken, refreshToken])
  },
)

test('a login that the old server refuses is logged with its status', async () => {
  const { old, gateway, login, read, stop } = await start([])
  old.setIntercept((request, response) => {
    if (request.url !== '/v1/login') return false
    response.writeHead(403).end()
    return true
  })
  const { accessToken } = await login(ANA)
  expect((await read(accessToken, '/projects')).status).toBe(200)
  const reason = '"reason":"POST /login answered 403","msg":"the old server gives no answer"'
  await expect.poll(gateway.stderr).toContain(reason)
  await stop()
})

test('a login that the old server redirects is logged with its target', async () => {
  const { old, gateway, login, read, stop } = await start(['--answer-from', 'old'])
  old.setIntercept((request, response) => {
    if (request.url !== '/v1/login') return false
    response.writeHead(301, { location: 'https://old.example.com/v1/login' }).end()
    return true
  })
  const { accessToken } = await login(ANA)
  expect((await read(accessToken, '/projects')).status).toBe(503)
  const reason = 'POST /login answered 301: it has moved to https://old.example.com/v1; give that address'
  await expect.poll(gateway.stderr).toContain(`"reason":"${reason}","msg":"the old server gives no answer"`)
  await stop()
})

test('a request at the old server is aborted when its client leaves, which is no failure in the metrics', async () => {
  let [asked, closed] = [0, 0]
  const { gateway, login, stop } = await start(['--answer-from', 'old', '--shadow-sample', '0', '--admin-port', '0'], {
    intercept(request, response) {
      if (!request.url?.startsWith('/v1/exports')) return false
      asked += 1
      response.once('close', () => {
        closed += 1
      })
      return true
    },
  })
  const headers = bearer((await login(ANA)).accessToken)
  const leaving = new AbortController()
  const left = expect(fetch(`${gateway.url}/exports?r=site`, { headers, signal: leaving.signal })).rejects.toThrow()
  await expect.poll(() => asked).toBe(1)
  leaving.abort()
  await left
  await expect.poll(() => closed).toBe(1)
  const admin = /"url":"(\S+?)","msg":"metrics and health/.exec(gateway.stderr())?.[1]
  const metrics = async () => (await ask(`${admin}/metrics`)).text
  await expect.poll(metrics).toContain('workspace_gateway_responses_broken_off_total{reason="left"} 1')
  expect(await metrics()).not.toMatch(/http_response_status_code="5/)
  await stop()
})

test('a reported reference hides tokens and emails, and the end of a long one', async () => {
  const { gateway, login, read, stop } = await start([], { faults: ['unknown-export-is-empty'] })
  const { accessToken, refreshToken } = await login(ANA)
  const long = Array(60).fill('ref').join(' ')
  const refs = ['none', accessToken, refreshToken, BEN, `${'x'.repeat(90)} ${accessToken}`, long]
  for (const ref of refs) {
    expect((await read(accessToken, `/exports?r=${encodeURIComponent(ref)}`)).status).toBe(404)
  }
  const shown = ['none', '[token]', '[email]', `${'x'.repeat(90)} [token]`, long.slice(0, 100)]
  const told = () => gateway.stderr().split('answers differently').length - 1
  await expect.poll(told).toBe(shown.length)
  const { differences, stderr } = await stop()
  expect(differences.map((found) => Object(found).ref).toSorted()).toEqual(shown.toSorted())
  expectNoSecrets(stderr, [accessToken, refreshToken])
  for (const part of accessToken.split('.')) expect(stderr).not.toContain(part.slice(0, 9))
})

test('the old server is asked for the whole reference, with a number sign in it', async () => {
  const { gateway, login } = await start(['--answer-from', 'old'])
  const { accessToken } = await login(BEN)
  // Clients that are no browsers send it as it is.
  const bytes = requestText({
    target: '/exports?r=long#2',
    headers: [...Object.entries(bearer(accessToken)), ['Connection', 'close']],
  })
  const [answer] = readAnswers(await exchange(gateway.url, bytes))
  expect(answer?.status).toBe(404)
})

test('a comparison leaves no signal behind in memory', async () => {
  const { old, login, read, stop } = await start([])
  const { accessToken } = await login(ANA)
  const signals = () => queryObjects(AbortSignal, { format: 'count' })
  const compare = async (count: number, total: number) => {
    for (let index = 0; index < count; index += 1) await read(accessToken, '/templates')
    await untilAsked(old, total)
  }
  // Opens the session and the connections, whose signals stay.
  await compare(5, 5)
  const before = signals()
  await compare(40, 45)
  await expect.poll(signals).toBeLessThan(before + 20)
  await stop()
})

test('answers are compared up to --shadow-bytes', async () => {
  const { old, gateway, login, read, stop } = await start(['--shadow-bytes', '8', '--admin-port', '0'])
  const { accessToken } = await login(ANA)
  // The answer here is [{"id":"t1","name":"Landing"}]: these differ from it in the eighth and in the ninth byte.
  for (const [template, outcome] of [
    ['{"id":1}', 'different'],
    ['{"id":"u1"}', 'equal'],
  ] as const) {
    old.workspaces.get(ANA)?.templates.splice(0, 1, template)
    await read(accessToken, '/templates')
    await expect
      .poll(() => metricsOf(gateway))
      .toContain(`workspace_gateway_shadow_comparisons_total{outcome="${outcome}"} 1`)
  }
  const { differences, counts } = await stop()
  expect(differences).toEqual([expect.objectContaining({ at: 7 })])
  expect(counts).toMatchObject({ equal: 1, cut: 1, different: 1 })
})

test('options that would send tokens in clear, or that need --shadow, are refused', async () => {
  const folder = temporaryDirectory()
  const file = join(folder, 'headers')
  writeFileSync(file, 'x-api-key: user:pass\nuser:pass of it\u0007\n')
  const database = `file:${join(folder, 'workspace.db')}`
  const serve = (...args: string[]) => runHere(['serve', '--port', '0', '--database', database, ...args])
  const cases = [
    [['--shadow', 'http://old.example.com/v1'], 'https'],
    [['--shadow', 'ftp://127.0.0.1/'], 'http'],
    [['--shadow', 'https://user:pass@old.example.com'], 'password'],
    [['--shadow', 'https://old.example.com/v1?'], 'must not contain ? or #'],
    [['--shadow', 'https://old.example.com/v1#'], 'must not contain ? or #'],
    [['--answer-from', 'old'], '--shadow'],
    [['--shadow-headers', file], '--shadow-headers: name the old server'],
    [['--shadow', 'https://old.example.com', '--shadow-headers', file], `--shadow-headers: ${file}:2 is not like`],
    [['--shadow', 'https://old.example.com', '--shadow-sample', '2'], '0 to 1'],
  ] as const
  for (const [args, hint] of cases) {
    const { exitCode, stderr } = await serve(...args)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(hint)])
    expect(stderr).not.toContain('user:pass')
  }
  const insecure = await serve('--shadow', 'http://old.example.com/v1?', '--shadow-insecure')
  expect([insecure.exitCode, insecure.stderr]).toEqual([2, expect.stringContaining('must not contain ? or #')])
  expect(insecure.stderr).not.toContain('https')
})

test.each([
  [['abc', 'def'], ['abcdef'], 99, { type: 'equal' }],
  [[], [], 99, { type: 'equal' }],
  [['abc', '', 'def'], ['a', 'bcdXf'], 99, { type: 'different', at: 4 }],
  [['abc'], ['abc', 'd'], 99, { type: 'different', at: 3 }],
  [['abc', 'd'], ['abc', 'e'], 3, { type: 'cut' }],
  [['abc'], ['abc', 'd'], 3, { type: 'different', at: 3 }],
  [['abcd'], ['abc'], 3, { type: 'different', at: 3 }],
  [['ab'], ['abc', 'd'], 3, { type: 'different', at: 2 }],
] as const)('bodies %j and %j, of which %i bytes are compared, are %j', async (some, others, maxBytes, expected) => {
  const body = async function* (parts: readonly string[]) {
    for (const part of parts) yield Buffer.from(part)
  }
  const digests = await digestsOf(body(some), maxBytes)
  expect(await compareBytes(digests, () => body(some), body(others), maxBytes)).toEqual(expected)
})
