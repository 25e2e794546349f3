// What the server does for every request: ids, repeated headers, the Host, the target, and room for a streamed body.
import { expect, test } from 'vitest'
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import type { GatewayRequest } from '../../src/http/request.ts'
import type { GatewayResponse } from '../../src/http/response.ts'
import { createHttpServer, type ServerOptions } from '../../src/http/server/server.ts'
import { listenForTest } from '../support/listen-for-test.ts'
import { serverOptions } from '../support/server-options.ts'
import { exchange, openSocket, readAnswers, requestText } from '../support/wire.ts'

async function* streamed(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('ok')
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('a part')
  throw new Error('gone')
}

const KEPT: GatewayResponse = { status: 200, headers: {}, body: 'ok', derived: {} }

async function serve(options: Partial<ServerOptions> = {}) {
  const requests: GatewayRequest[] = []
  const server = createHttpServer(
    async (request) => {
      requests.push(request)
      if (request.path === '/kept') return KEPT
      if (request.path === '/streamed') return { status: 200, headers: {}, body: streamed() }
      if (request.path === '/broken') return { status: 200, headers: {}, body: broken() }
      return {
        status: 200,
        headers: {},
        body: 'ok',
        ...(request.path === '/fails' ? { failureCode: 'NOT_FOUND' } : {}),
      }
    },
    serverOptions({ bodyLimitBytes: 1_000, ...options }),
  )
  const url = await listenForTest(server)
  return {
    url,
    requests,
    async ask(request: Parameters<typeof requestText>[0]) {
      const headers = [...(request.headers ?? []), ['Connection', 'close'] as const]
      const [answer] = readAnswers(await exchange(url, requestText({ ...request, headers })), [request.method ?? 'GET'])
      return answer
    },
  }
}

test('every connection is reported, even one that sends nothing or is closed because there are too many', async () => {
  let count = 0
  function onConnection(): void {
    count += 1
  }
  const { url } = await serve({ maxConnections: 2, accepting: { onConnection } })
  const sockets = await Promise.all([1, 2, 3].map(() => openSocket(url)))
  await expect.poll(() => count).toBe(3)
  for (const socket of sockets) socket.destroy()
})

test('an answer has a request id if it failed, or if all answers have one', async () => {
  const plain = await serve()
  expect((await plain.ask({}))?.headers.has('x-request-id')).toBe(false)
  expect((await plain.ask({ target: '/fails' }))?.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
  const telling = await serve({ hasRequestIds: true })
  expect((await telling.ask({}))?.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
})

test('a reply that is sent many times has a different request id each time, and stores none', async () => {
  const { ask } = await serve({ hasRequestIds: true })
  const answers = [await ask({ target: '/kept' }), await ask({ target: '/kept' }), await ask({ target: '/kept' })]
  const ids = answers.map((answer) => answer?.headers.get('x-request-id') ?? '')
  expect(ids.filter((id) => !/^[0-9a-f]{32}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(3)
  expect(KEPT.derived).not.toEqual({})
  expect(ids.filter((id) => JSON.stringify(KEPT.derived).includes(id))).toEqual([])
})

test.each([
  [
    [
      ['From', 'a'],
      ['Date', 'b'],
    ],
    200,
  ],
  [
    [
      ['Host', 'a'],
      ['Host', 'b'],
    ],
    400,
  ],
  [
    [
      ['Host', 'a'],
      ['hOST', 'a'],
    ],
    400,
  ],
  [[['Hosts', 'a']], 200],
] as const)('with the headers %j the status is %d: only a repeated Host is refused', async (headers, status) => {
  const { ask } = await serve()
  expect((await ask({ headers }))?.status).toBe(status)
})

/** Sends the head as it is: a request of HTTP/1.0 may have no Host. */
async function answersToHead(url: string, version: string, lines: readonly string[]) {
  const head = [`GET / HTTP/${version}`, ...lines, 'Connection: close', '', ''].join('\r\n')
  return readAnswers(await exchange(url, head), ['GET'])
}

test.each([
  ['Authorization: Bearer a', 'Authorization: Bearer b'],
  ['Authorization: Bearer a', 'aUTHORIZATION: Bearer a'],
  ['Authorization: Bearer a', 'Accept: */*', 'Authorization:'],
  ['Content-Type: application/json', 'Content-Type: text/plain'],
  ['content-type: application/json', 'CONTENT-TYPE: application/json'],
])('two lines of a header field that proxies read are refused: %s, %s', async (...lines) => {
  const { url, requests } = await serve()
  for (const [version, host] of [
    ['1.1', ['Host: a']],
    ['1.0', ['Host: a']],
    ['1.0', []],
  ] as const) {
    const [answer] = await answersToHead(url, version, [...host, ...lines])
    expect([answer?.status, answer?.json().code]).toEqual([400, 'BAD_REQUEST'])
    expect(answer?.text).not.toContain('Bearer')
  }
  expect(requests).toEqual([])
})

test.each([
  ['Authorization: Bearer a', 'Content-Type: application/json'],
  ['If-None-Match: "a"', 'If-None-Match: "b"'],
  ['Cache-Control: no-cache', 'Cache-Control: no-store'],
  ['Max-Forwards: 1', 'Max-Forwards: 2'],
  ['Authorizatio: a', 'Authorizations: a'],
])('other header lines are accepted: %s, %s', async (...lines) => {
  const { url } = await serve()
  expect((await answersToHead(url, '1.1', ['Host: a', ...lines]))[0]?.status).toBe(200)
  expect((await answersToHead(url, '1.0', lines))[0]?.status).toBe(200)
})

test.each([
  'a',
  'a.example:80',
  'A-b_c.example.',
  'a%2Fb',
  "!$&'()*+,;=~",
  '192.0.2.1:4000',
  '[::1]',
  '[2001:db8::192.0.2.1]:4000',
  'a:',
  '',
])('the Host "%s" is valid', async (host) => {
  const { ask } = await serve()
  expect((await ask({ headers: [['Host', host]] }))?.status).toBe(200)
})

test.each([
  'a b',
  'a/b',
  'a b/@',
  'user@a',
  'a?b',
  'a#b',
  'a%2',
  'a%zz',
  'a\\b',
  'a"b',
  '<a>',
  'a:b',
  'a:80:80',
  '::1',
  '[::1',
  '[]',
  '[a.example]x',
  '[::g]',
  'b\xfccher.example',
])('the Host "%s" is invalid, and is refused', async (host) => {
  const { ask, requests } = await serve()
  for (const version of ['1.0', '1.1']) {
    const answer = await ask({ version, headers: [['Host', host]] })
    expect([answer?.status, answer?.json().code]).toEqual([400, 'BAD_REQUEST'])
  }
  expect(requests).toEqual([])
})

test.each([
  ['/a/b?c=d?e', '/a/b', 'c=d?e', 'localhost'],
  ['/a', '/a', '', 'localhost'],
  ['/?', '/', '', 'localhost'],
  ['http://other.example:81/a?b', '/a', 'b', 'other.example:81'],
  ['HTTPS://other.example', '/', '', 'other.example'],
  ['http://other.example?b', '/', 'b', 'other.example'],
  ['/http://other.example/', '/http://other.example/', '', 'localhost'],
])('the target %s is the path %s with the query "%s" of the host %s', async (target, path, search, host) => {
  const { ask, requests } = await serve()
  await ask({ target })
  expect(requests.map((request) => [request.path, request.search, request.header('host')])).toEqual([
    [path, search, host],
  ])
})

test('a request has its HTTP version, and its repeated headers as one', async () => {
  const { ask, requests } = await serve()
  await ask({ version: '1.0' })
  await ask({
    headers: [
      ['Set-Cookie', 'a'],
      ['Set-Cookie', 'b'],
    ],
  })
  expect(requests.map(({ httpVersion }) => httpVersion)).toEqual(['1.0', '1.1'])
  expect(requests.map(({ header }) => header('set-cookie'))).toEqual([undefined, 'a, b'])
})

test('a streamed body without room in memory is refused, and a HEAD of it, which needs none, is answered', async () => {
  const { ask } = await serve({ inFlight: createInFlightBytes(0) })
  const [refused, head] = [await ask({ target: '/streamed' }), await ask({ target: '/streamed', method: 'HEAD' })]
  expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([503, '1'])
  expect(head?.status).toBe(200)
  const roomy = await serve()
  expect((await roomy.ask({ target: '/streamed' }))?.text).toBe('ok')
})

test('a streamed body that breaks off is not taken for whole, by a client of HTTP/1.0 either', async () => {
  const { url } = await serve()
  const bytes = await exchange(url, requestText({ target: '/broken' }))
  expect(() => readAnswers(bytes)).toThrow('not a chunk')
  // HTTP/1.0 has no chunks: a body without a length is whole when the connection ends, unless it is reset.
  const old = exchange(url, requestText({ target: '/broken', version: '1.0' }))
  await expect(old).rejects.toMatchObject({ code: 'ECONNRESET' })
})
