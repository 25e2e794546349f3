// HTTP on the wire: malformed requests, limits, pipelining, tunnels, and clients that go away.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { guardsOf } from '../src/auth/guards/guards.ts'
import { serveForTest } from './support/command-line.ts'
import { expectProblem } from './support/failures.ts'
import { type Answer, ask, startGateway, type TestGateway } from './support/gateway.ts'
import { expectEach } from './support/rows.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { exchange, openSocket, readAnswers, readToEnd, requestText } from './support/wire.ts'
import { ANA, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

const CLOSE = ['Connection', 'close'] as const
const JSON_TYPE = ['Content-Type', 'application/json'] as const
const LOGIN = JSON.stringify({ email: ANA })

/** Not HTTP/1, or with an unclear end. Each asks to close the connection, should it be taken for a request. */
const MALFORMED: readonly { readonly name: string; readonly bytes: string | Uint8Array }[] = [
  { name: 'a word', bytes: 'hello\r\n\r\n' },
  { name: 'a TLS handshake', bytes: Buffer.from('16030100c8010000c40303', 'hex') },
  { name: 'the preface of HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' },
  { name: 'a request line without a target', bytes: lines('GET HTTP/1.1', 'Host: localhost') },
  { name: 'a version that is no number', bytes: lines('GET /healthz HTTP/x', 'Host: localhost') },
  { name: 'another protocol', bytes: lines('GET /healthz ICY/1.1', 'Host: localhost') },
  { name: 'the version HTTP/2 in a request line of HTTP/1', bytes: lines('GET /healthz HTTP/2.0', 'Host: localhost') },
  { name: 'a target with a user', bytes: lines('GET http://ana@localhost/healthz HTTP/1.1', 'Host: localhost') },
  { name: 'a target without a host', bytes: lines('GET http:///healthz HTTP/1.1', 'Host: localhost') },
  {
    name: 'a target without a host, in capitals, with an empty Host',
    bytes: lines('GET HTTP:///healthz HTTP/1.1', 'Host:'),
  },
  { name: 'a target with a port but no host', bytes: lines('GET http://:80/healthz HTTP/1.1', 'Host: localhost') },
  { name: 'a method that HTTP does not have', bytes: lines('FETCH /healthz HTTP/1.1', 'Host: localhost') },
  { name: 'a method in lower case', bytes: lines('get /healthz HTTP/1.1', 'Host: localhost') },
  { name: 'a target with a space in it', bytes: lines('GET /he althz HTTP/1.1', 'Host: localhost') },
  {
    name: 'a target with a byte that is not ASCII',
    bytes: Buffer.from(lines('GET /exports?r=\xe9 HTTP/1.1', 'Host: localhost'), 'latin1'),
  },
  {
    name: 'lines that end in a line feed alone',
    bytes: lines('GET /healthz HTTP/1.1', 'Host: localhost').replaceAll('\r', ''),
  },
  { name: 'a header without a colon', bytes: lines('GET /healthz HTTP/1.1', 'Host: localhost', 'X 1') },
  { name: 'a header without a name', bytes: lines('GET /healthz HTTP/1.1', 'Host: localhost', ': 1') },
  { name: 'a space before the colon', bytes: lines('GET /healthz HTTP/1.1', 'Host : localhost') },
  {
    name: 'a header over two lines',
    bytes: lines('GET /projects HTTP/1.1', 'Host: localhost', 'Authorization: Bearer a.', ' b.c'),
  },
  { name: 'a NUL in a header', bytes: lines('GET /healthz HTTP/1.1', 'Host: local\0host') },
  { name: 'no Host', bytes: lines('GET /healthz HTTP/1.1') },
  { name: 'two Hosts', bytes: lines('GET /healthz HTTP/1.1', 'Host: localhost', 'Host: localhost') },
  {
    name: 'a second Host after 100 other headers',
    bytes: lines('GET /healthz HTTP/1.1', 'Host: localhost', ...Array(100).fill('a:'), 'Host: localhost'),
  },
  { name: 'two lengths', bytes: post(['Content-Length', '27'], ['Content-Length', '28']) },
  { name: 'the same length twice', bytes: post(['Content-Length', '27'], ['Content-Length', '27']) },
  { name: 'a list of lengths', bytes: post(['Content-Length', '27, 27']) },
  { name: 'a negative length', bytes: post(['Content-Length', '-1']) },
  { name: 'a length with a sign', bytes: post(['Content-Length', '+27']) },
  { name: 'a length in hexadecimal', bytes: post(['Content-Length', '0x1b']) },
  { name: 'a length that is too large', bytes: post(['Content-Length', '9'.repeat(40)]) },
  { name: 'a length and chunks', bytes: post(['Content-Length', '27'], ['Transfer-Encoding', 'chunked']) },
  { name: 'chunks and a length', bytes: post(['Transfer-Encoding', 'chunked'], ['Content-Length', '27']) },
  { name: 'a transfer coding that does not end in chunks', bytes: post(['Transfer-Encoding', 'chunked, identity']) },
  { name: 'a chunk without a size', bytes: post(['Transfer-Encoding', 'chunked'], JSON_TYPE) },
]

function lines(...given: readonly string[]): string {
  return [...given, 'Connection: close', '', ''].join('\r\n')
}

function post(...headers: (readonly [name: string, value: string])[]): string {
  return requestText({ method: 'POST', target: '/login', headers: [...headers, CLOSE], body: LOGIN })
}

async function expectToServe(gateway: TestGateway): Promise<void> {
  expect((await ask(`${gateway.url}/healthz`)).status).toBe(200)
  const { accessToken } = await gateway.login(ANA)
  expect((await gateway.get('/projects', accessToken)).status).toBe(200)
}

async function startSmallWorld(): Promise<TestGateway> {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  return gateway
}

/** The answers that arrive until the connection ends. */
async function answersTo(
  gateway: TestGateway,
  request: string | Uint8Array,
  methods?: string[],
): Promise<readonly Answer[]> {
  return readAnswers(await exchange(gateway.url, request), methods)
}

/** The status, and the body without the request id, which differs for each refused request. */
function withoutId(answer: Answer | undefined): readonly [status: number | undefined, text: string | undefined] {
  return [answer?.status, answer?.text.replace(answer.headers.get('x-request-id') ?? '', '')]
}

test('malformed requests are answered 400 with a problem, and the connection is closed', async () => {
  const gateway = await startSmallWorld()
  await expectEach(MALFORMED, async ({ bytes }) => {
    const answers = await answersTo(gateway, bytes)
    expect(answers.map(({ status }) => status)).toEqual([400])
    const [answer] = answers
    if (answer) expectProblem(answer, { status: 400, code: 'BAD_REQUEST', hasNot: [ANA] })
    expect(answer?.headers.get('connection')).toBe('close')
    expect(gateway.reported).toEqual([])
  })
  await expectToServe(gateway)
})

test.each([
  [
    'characters beyond ASCII',
    ['/exports?r=caf\u00e9', '/caf\u00e9', '/graphql?query={me{project(ref:"\u65e5"){name}}}'],
  ],
  ['a control character', ['/exports?r=my\tsite', '/exports?r=my\u007fsite']],
  ['a space', ['/exports?r=my site', '/exports?r=my Home site', '/my site']],
  ['no slash', ['projects', '127.0.0.1:80', '']],
])('an address with %s is refused with the advice that mends it', async (_, targets) => {
  const gateway = await startSmallWorld()
  for (const target of targets) {
    const [answer] = await answersTo(gateway, Buffer.from(requestText({ target, headers: [CLOSE] })))
    const detail =
      'The address is invalid: begin it with a slash, and percent-encode spaces and all that is not visible ASCII, such as %20 and %C3%A9.'
    expect([answer?.status, answer?.json().detail], target).toEqual([400, detail])
  }
})

test('a percent-encoded address is read', async () => {
  const gateway = await startSmallWorld()
  const [answer] = await answersTo(gateway, requestText({ target: '/exports?r=caf%C3%A9', headers: [CLOSE] }))
  expect(answer?.status).toBe(401)
})

test('headers over the limit are answered 431 with a problem, whichever header is too large', async () => {
  const gateway = await startSmallWorld()
  const long = 'a'.repeat(20_000)
  const rows = [
    { name: 'one long header', request: requestText({ headers: [['X-Long', long]] }) },
    { name: 'a long token', request: requestText({ headers: [['Authorization', `Bearer ${long}`]] }) },
    { name: 'a long target', request: requestText({ target: `/exports?r=${long}` }) },
    {
      name: 'many headers',
      request: requestText({ headers: Array.from({ length: 900 }, (_, index) => [`X-${index}`, 'a'.repeat(20)]) }),
    },
  ]
  await expectEach(rows, async ({ request }) => {
    const [answer, ...more] = await answersTo(gateway, request)
    expect(more).toEqual([])
    if (!answer) throw new Error('no answer')
    expectProblem(answer, { status: 431, code: 'HEADERS_TOO_LARGE', hasNot: [long] })
    // A long target counts too, and its client may have no headers of its own.
    expect(answer.json().detail).toContain('address')
  })
  await expectToServe(gateway)
})

test('a request with 128 header lines is read, and one with more is refused before anything else', async () => {
  const gateway = await startSmallWorld()
  const { accessToken } = await gateway.login(ANA)
  const withLines = (count: number) =>
    [
      'GET /projects HTTP/1.1',
      'Host: localhost',
      ...Array(count - 2).fill('a:'),
      `Authorization: Bearer ${accessToken}`,
    ]
      .concat('', '')
      .join('\r\n')

  const last = lines('GET /healthz HTTP/1.1', 'Host: localhost')
  expect((await answersTo(gateway, withLines(128) + last)).map(({ status }) => status)).toEqual([200, 200])
  const rows = [129, 200, 3_500].map((count) => ({ name: `${count} lines`, count }))
  await expectEach(rows, async ({ count }) => {
    // Nothing else on the connection is trusted.
    const answers = await answersTo(gateway, withLines(count) + last)
    expect(answers.map(({ status }) => status)).toEqual([431])
    const [answer] = answers
    if (answer) expectProblem(answer, { status: 431, code: 'HEADERS_TOO_LARGE', hasNot: [accessToken] })
    expect(answer?.headers.get('connection')).toBe('close')
  })
  await expectToServe(gateway)
})

describe('a client that goes away', () => {
  test('in the middle of its body affects nobody else, and is not reported', async () => {
    const gateway = await startSmallWorld()
    const cut = requestText({ method: 'POST', target: '/login', headers: [JSON_TYPE], body: LOGIN }).slice(0, -10)
    const chunked = requestText({
      method: 'POST',
      target: '/graphql',
      headers: [JSON_TYPE, ['Transfer-Encoding', 'chunked']],
      body: 'ff\r\n{"query":',
    })
    for (const bytes of [cut, chunked]) {
      const half = await openSocket(gateway.url)
      half.end(bytes)
      await readToEnd(half)
      const reset = await openSocket(gateway.url)
      reset.write(bytes)
      // Once the gateway answers a later request, it has begun with this one.
      await ask(`${gateway.url}/healthz`)
      reset.resetAndDestroy()
      await expectToServe(gateway)
    }
    expect(gateway.reported).toEqual([])
  })

  test('in the middle of a streamed export affects nobody else, and is not reported', async () => {
    const { gateway, request } = await startWithLargeExport()
    const socket = await openSocket(gateway.url)
    socket.write(request('GET', CLOSE))
    await once(socket, 'data')
    socket.resetAndDestroy()
    await expectToServe(gateway)
    expect(gateway.reported).toEqual([])
  })
})

test('the absolute form of a request target is answered like the origin form', async () => {
  const gateway = await startSmallWorld()
  const { accessToken } = await gateway.login(ANA)
  const headers = [['Authorization', `Bearer ${accessToken}`], CLOSE] as const
  for (const [absolute, relative] of [
    ['http://localhost/projects', '/projects'],
    ['http://localhost:80/exports?r=site', '/exports?r=site'],
    ['HTTP://LOCALHOST/exports?r=http://localhost/', '/exports?r=http://localhost/'],
    ['https://workspace.example.com/templates', '/templates'],
    ['http://localhost', '/'],
    ['http://localhost?r=site', '/?r=site'],
    ['http://localhost//projects', '//projects'],
  ] as const) {
    const [expected] = await answersTo(gateway, requestText({ target: relative, headers }))
    const [answer] = await answersTo(gateway, requestText({ target: absolute, headers }))
    expect(withoutId(answer), absolute).toEqual(withoutId(expected))
  }
})

test('an HTTP/1.0 request is answered and its connection closed, or kept alive when the request asks for it', async () => {
  const gateway = await startSmallWorld()
  const [answer, ...none] = await answersTo(gateway, 'GET /healthz HTTP/1.0\r\n\r\n')
  expect([answer?.status, answer?.text, none]).toEqual([200, '{"status":"ok"}', []])
  const keep = 'GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'
  const kept = await answersTo(gateway, `${keep}GET /nowhere HTTP/1.0\r\n\r\n`)
  expect(kept.map(({ status }) => status)).toEqual([200, 404])
})

test('an HTTP/1.0 request with a transfer coding is answered and its connection closed, even if it asks for keep-alive', async () => {
  const gateway = await startSmallWorld()
  const query = '{"query":"{ __typename }"}'
  const request = requestText({
    method: 'POST',
    target: '/graphql',
    version: '1.0',
    headers: [JSON_TYPE, ['Connection', 'keep-alive'], ['Transfer-Encoding', 'chunked']],
    body: `${query.length.toString(16)}\r\n${query}\r\n0\r\n\r\n`,
  })
  const answers = await answersTo(gateway, request + requestText({ headers: [CLOSE] }))
  expect(answers.map(({ status, headers }) => [status, headers.get('connection')])).toEqual([[200, 'close']])
})

test.each(['gzip, chunked', 'chunked, chunked', 'identity, chunked', 'x,chunked'])(
  'the transfer coding "%s" is refused, and the connection is closed',
  async (coding) => {
    const gateway = await startSmallWorld()
    const body = `${LOGIN.length.toString(16)}\r\n${LOGIN}\r\n0\r\n\r\n`
    for (const version of ['1.1', '1.0']) {
      const headers = [JSON_TYPE, ['Connection', 'keep-alive'], ['Transfer-Encoding', coding]] as const
      const request = requestText({ method: 'POST', target: '/login', version, headers, body })
      const [answer, ...more] = await answersTo(gateway, request + requestText({ headers: [CLOSE] }))
      if (!answer) throw new Error('no answer')
      expectProblem(answer, { status: 400, code: 'BAD_REQUEST', hasNot: [ANA, 'gzip'] })
      expect([answer.headers.get('connection'), more]).toEqual(['close', []])
    }
    await expectToServe(gateway)
  },
)

test('the transfer coding "chunked" is recognized in any letter case', async () => {
  const gateway = await startSmallWorld()
  const body = `${LOGIN.length.toString(16)}\r\n${LOGIN}\r\n0\r\n\r\n`
  const headers = [JSON_TYPE, ['Transfer-Encoding', 'Chunked']] as const
  const request = requestText({ method: 'POST', target: '/login', headers, body })
  const answers = await answersTo(gateway, request + requestText({ headers: [CLOSE] }))
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
})

describe('requests on one connection', () => {
  test('are answered in order, however long each takes', async () => {
    const { gateway, request, body } = await startWithLargeExport()
    const { accessToken } = await gateway.login(ANA)
    const authorization = ['Authorization', `Bearer ${accessToken}`] as const
    const answers = await answersTo(
      gateway,
      [
        requestText({}),
        request('GET'),
        requestText({ target: '/nowhere' }),
        requestText({ method: 'POST', target: '/login', headers: [JSON_TYPE], body: LOGIN }),
        requestText({ target: '/exports?r=site', headers: [authorization] }),
        requestText({ method: 'POST', target: '/login', headers: [JSON_TYPE], body: '{' }),
        requestText({ target: '/projects', headers: [CLOSE] }),
      ].join(''),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200, 200, 400, 401])
    expect(answers[1]?.text === body).toBe(true)
    expect(answers[4]?.text).toBe('[{"path":"new.html"},1.0]')
  })

  test('take effect in order: a read behind a logout is refused, and a logout behind a read waits for it', async () => {
    const gateway = await startSmallWorld()
    const { accessToken, refreshToken } = await gateway.login(ANA)
    const read = requestText({ target: '/templates', headers: [['Authorization', `Bearer ${accessToken}`]] })
    const logout = requestText({
      method: 'DELETE',
      target: '/logout',
      headers: [JSON_TYPE],
      body: JSON.stringify({ refreshToken }),
    })
    const answers = await answersTo(gateway, `${read}${logout}${read}${requestText({ headers: [CLOSE] })}`)
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 401, 200])
  })

  test('continue after one that was refused before its body was read, if the body arrived with the head', async () => {
    const gateway = await startSmallWorld()
    const refused = requestText({ method: 'POST', target: '/projects', headers: [JSON_TYPE], body: LOGIN })
    const answers = await answersTo(gateway, `${refused}${refused}${requestText({ headers: [CLOSE] })}`)
    expect(answers.map(({ status }) => status)).toEqual([405, 405, 200])
    expect(answers[0]?.headers.get('connection')).toBe('keep-alive')
  })

  test('are answered before malformed bytes after them are refused', async () => {
    const gateway = await startSmallWorld()
    const { accessToken } = await gateway.login(ANA)
    const read = requestText({ target: '/templates', headers: [['Authorization', `Bearer ${accessToken}`]] })
    const answers = await answersTo(gateway, `${read}hello\r\n\r\n`)
    expect(answers.map(({ status }) => status)).toEqual([200, 400])
    expect(answers[0]?.text).toBe('[{"id":"t1","name":"Landing"}]')
  })

  test('never have the refusal of the next one inside a body that is being sent', async () => {
    const { gateway, request, body } = await startWithLargeExport()
    const socket = await openSocket(gateway.url)
    socket.write(request('GET'))
    const first = await pausedAfterFirstChunk(socket)
    socket.write('hello\r\n\r\n')
    const all = Buffer.concat([first, await readToEnd(socket)])
    const sent = all.subarray(all.indexOf('\r\n\r\n') + 4).toString('latin1')
    const expected = Buffer.from(body).toString('latin1')
    // The body is whole or cut short; only the refusal may follow a whole body.
    expect(expected.startsWith(sent) || sent.startsWith(expected)).toBe(true)
  })

  test('are never read from the body of another request, even if nobody reads that body', async () => {
    const gateway = await startSmallWorld()
    const smuggled = requestText({ target: '/nowhere', headers: [CLOSE] })
    const rows = [
      { name: 'GET of an open path', method: 'GET', target: '/healthz', status: 200 },
      { name: 'GET of a read', method: 'GET', target: '/projects', status: 401 },
      { name: 'HEAD', method: 'HEAD', target: '/healthz', status: 200 },
      { name: 'OPTIONS', method: 'OPTIONS', target: '/login', status: 204 },
      { name: 'a wrong method', method: 'PUT', target: '/login', status: 405 },
      { name: 'an unknown path', method: 'POST', target: '/elsewhere', status: 404 },
      { name: 'a body that is malformed', method: 'POST', target: '/logout', status: 400 },
    ]
    await expectEach(rows, async ({ method, target, status }) => {
      for (const body of [smuggled, `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`]) {
        const chunked = body === smuggled ? [] : [['Transfer-Encoding', 'chunked'] as const]
        const request = requestText({ method, target, headers: chunked, body })
        // The gateway may keep or close the connection, but it never answers the body.
        const answers = await answersTo(gateway, request + requestText({ target: '/readyz', headers: [CLOSE] }), [
          method,
        ])
        expect(answers.map((answer) => answer.status)).toEqual(answers.length === 1 ? [status] : [status, 200])
      }
    })
  })
})

test('HEAD of a streamed export answers with its length and no body, and keeps the connection alive', async () => {
  const { gateway, request, body } = await startWithLargeExport()
  const both = `${request('HEAD')}${request('HEAD', CLOSE)}`
  const answers = await answersTo(gateway, both, ['HEAD', 'HEAD'])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  for (const { headers } of answers) expect(headers.get('content-length')).toBe(String(Buffer.byteLength(body)))
  const [get] = await answersTo(gateway, request('GET', CLOSE))
  expect(get?.headers.get('etag')).toBe(answers[0]?.headers.get('etag'))
  expect(get?.text === body).toBe(true)
})

describe('Expect: 100-continue', () => {
  const head = (length: number) =>
    requestText({
      method: 'POST',
      target: '/login',
      headers: [JSON_TYPE, ['Expect', '100-continue'], ['Content-Length', String(length)], CLOSE],
    })

  test('is answered with 100, and then the body is answered', async () => {
    const gateway = await startSmallWorld()
    const socket = await openSocket(gateway.url)
    socket.write(head(LOGIN.length))
    const first = await pausedAfterFirstChunk(socket)
    expect(first.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write(LOGIN)
    const [answer] = readAnswers(await readToEnd(socket))
    expect(answer?.status).toBe(200)
  })

  test('is answered 413 when the announced body is too large', async () => {
    const gateway = await startSmallWorld()
    const socket = await openSocket(gateway.url)
    socket.write(head(3_000_000))
    let seen = Buffer.alloc(0)
    // The gateway may close now or wait for the rest.
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      seen = Buffer.concat([seen, chunk])
      if (seen.includes('}')) break
    }
    const last = readAnswers(seen).at(-1)
    if (!last) throw new Error('no answer')
    expectProblem(last, { status: 413, code: 'BODY_TOO_LARGE', hasNot: [] })
  })

  test('is ignored in HTTP/1.0, which has no such answer', async () => {
    const gateway = await startGateway({ createGuard: guardsOf(['open'], { trustedOrigins: [] }) })
    const headers = [JSON_TYPE, ['Expect', '100-continue']] as const
    const text = requestText({ method: 'POST', target: '/login', version: '1.0', headers, body: LOGIN })
    expect((await answersTo(gateway, text)).map(({ status }) => status)).toEqual([200])
  })

  test('is the only expectation: a request with any other one is answered like every request', async () => {
    const gateway = await startSmallWorld()
    const headers = [JSON_TYPE, ['Expect', 'tokens'], CLOSE] as const
    const [answer, ...more] = await answersTo(
      gateway,
      requestText({ method: 'POST', target: '/login', headers, body: LOGIN }),
    )
    expect([answer?.status, answer?.headers.get('api-version'), more]).toEqual([200, '1.2', []])
  })
})

test('HTTP methods that the gateway does not have are refused, and an upgrade is ignored', async () => {
  const gateway = await startSmallWorld()
  for (const method of ['TRACE', 'PROPFIND', 'PURGE', 'LOCK']) {
    const [answer] = await answersTo(gateway, requestText({ method, headers: [CLOSE, ['X-Secret', 'letmein']] }))
    if (!answer) throw new Error(`no answer to ${method}`)
    expectProblem(answer, { status: 405, code: 'METHOD_NOT_ALLOWED', hasNot: ['letmein'] })
  }
  const upgrade = requestText({
    headers: [
      ['Connection', 'upgrade, close'],
      ['Upgrade', 'websocket'],
    ],
  })
  expect((await answersTo(gateway, upgrade)).map(({ status }) => status)).toEqual([200])
  await expectToServe(gateway)
})

describe('a CONNECT request', () => {
  const tunnel = requestText({ method: 'CONNECT', target: 'localhost:22', headers: [['X-Secret', 'letmein']] })

  function expectRefused(answer: Answer | undefined): void {
    if (!answer) throw new Error('no answer to CONNECT')
    expectProblem(answer, { status: 405, code: 'METHOD_NOT_ALLOWED', hasNot: ['letmein', 'localhost'] })
    expect([answer.headers.get('allow'), answer.headers.get('connection')]).toEqual(['', 'close'])
  }

  test('is refused together with the bytes that were sent ahead for the tunnel', async () => {
    const gateway = await startSmallWorld()
    for (const ahead of ['', 'SSH-2.0-client\r\n', requestText({})]) {
      const [answer, ...more] = await answersTo(gateway, tunnel + ahead)
      expectRefused(answer)
      expect(more).toEqual([])
    }
    expect(gateway.reported).toEqual([])
    await expectToServe(gateway)
  })

  test('is refused after the requests before it are answered', async () => {
    const { gateway, request, body } = await startWithLargeExport()
    const [large, health, refused, ...more] = await answersTo(gateway, request('GET') + requestText({}) + tunnel)
    expect([large?.text === body, health?.text]).toEqual([true, '{"status":"ok"}'])
    expectRefused(refused)
    expect(more).toEqual([])
  })

  test('is refused and its connection ends, even when the client keeps its end open or resets it', async () => {
    const gateway = await startSmallWorld()
    const { hostname, port } = new URL(gateway.url)
    const open = connect({ host: hostname, port: Number(port), allowHalfOpen: true }).on('error', () => {})
    const closed = new Promise((resolve) => open.once('close', resolve))
    open.write(tunnel)
    open.on('data', () => {})
    await once(open, 'end')
    // Whatever is written from now on is ignored until the gateway has closed its end.
    const writing = setInterval(() => open.write('more'), 50)
    await closed
    clearInterval(writing)
    const leaving = await openSocket(gateway.url)
    leaving.write(tunnel)
    leaving.resetAndDestroy()
    await expectToServe(gateway)
  })
})

test('a GraphQL request gets one response with one length for every Accept header', async () => {
  const gateway = await startSmallWorld()
  const body = JSON.stringify({ query: '{ __typename }' })
  const rows = [
    '*/*',
    'application/json',
    'application/graphql-response+json',
    'text/event-stream',
    'multipart/mixed',
    'multipart/mixed;deferSpec=20220824, application/json',
    'image/png',
    'image/png, */*;q=0.1',
    '',
  ].map((accept) => ({ name: `Accept: ${accept}`, accept }))
  await expectEach(rows, async ({ accept }) => {
    for (const authorization of [[], [['Authorization', 'Bearer letmein'] as const]]) {
      const headers = [JSON_TYPE, ['Accept', accept] as const, ...authorization]
      const request = requestText({ method: 'POST', target: '/graphql', headers, body })
      const answers = await answersTo(gateway, request + requestText({ target: '/nowhere', headers: [CLOSE] }))
      // The gateway may keep or close the connection.
      expect([[], [404]]).toContainEqual(answers.slice(1).map(({ status }) => status))
      expect(answers[0]?.headers.get('api-version')).toBe('1.2')
      expect(answers[0]?.headers.get('content-encoding')).toBeNull()
    }
  })
})

describe('a body that is too large', () => {
  const SIZE = 3_000_000

  test.each([
    ['with its length', ['Content-Length', String(SIZE)], 'x'.repeat(SIZE)],
    ['in chunks', ['Transfer-Encoding', 'chunked'], `${SIZE.toString(16)}\r\n${'x'.repeat(SIZE)}\r\n0\r\n\r\n`],
  ] as const)('%s is answered 413, which a client that sends all of it first can read', async (_how, header, body) => {
    // The gateway has its own process: in this one it could not answer while the client writes.
    const { url } = await serveForTest(['--no-demo'], { cwd: temporaryDirectory() })
    for (const headers of [
      [JSON_TYPE, header],
      [JSON_TYPE, header, CLOSE],
    ]) {
      const socket = await openSocket(url)
      await write(socket, requestText({ method: 'POST', target: '/login', headers }))
      // Once the gateway answers a later request, it has seen the length.
      await ask(`${url}/healthz`)
      await write(socket, body)
      // Ends the connection if the gateway kept it alive.
      await write(socket, requestText({ headers: [CLOSE] }))
      const [answer] = readAnswers(await readToEnd(socket))
      if (!answer) throw new Error('no answer')
      expectProblem(answer, { status: 413, code: 'BODY_TOO_LARGE', hasNot: ['xxx'] })
    }
  })
})

/** Resolves when the operating system has taken all bytes. */
async function write(socket: Socket, bytes: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.write(bytes, (error) => (error ? reject(error) : resolve()))
  await promise
}

/** The first chunk. The socket stays paused until somebody reads on. */
async function pausedAfterFirstChunk(socket: Socket): Promise<Buffer> {
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return chunk
}

/** An export far larger than the socket buffers between two processes. */
async function startWithLargeExport() {
  const gateway = await startSmallWorld()
  const elements = Array.from({ length: 2_000 }, (_, index) => `{"path":"${index}","content":"${'é'.repeat(5_000)}"}`)
  await gateway.load(
    documentLine('project', ANA, '{"id":"large"}') +
      exportLine(ANA, { r: 'large', createdAt: '2026-01-01T00:00:00Z', elements }),
  )
  const { accessToken } = await gateway.login(ANA)
  return {
    gateway,
    body: `[${elements.join(',')}]`,
    request: (method: string, ...headers: (readonly [name: string, value: string])[]) =>
      requestText({
        method,
        target: '/exports?r=large',
        headers: [['Authorization', `Bearer ${accessToken}`], ...headers],
      }),
  }
}
