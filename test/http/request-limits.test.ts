// How large a request may be, to the byte, and how long it may take.
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { toProblem } from '../../src/http/problem-details.ts'
import { createHttpServer } from '../../src/http/server/server.ts'
import { startGateway } from '../support/gateway.ts'
import { serverOptions } from '../support/server-options.ts'
import { exchange, openSocket, readAnswers, readToEnd, requestText } from '../support/wire.ts'
import { ANA } from '../support/workspaces.ts'

const BODY = JSON.stringify({ email: ANA })
const HEADERS = [
  ['Content-Type', 'application/json'],
  ['Connection', 'close'],
] as const

function chunked(body: string): string {
  const headers = [...HEADERS, ['Transfer-Encoding', 'chunked'] as const]
  const chunks = [...body].map((character) => `1\r\n${character}\r\n`).join('')
  return requestText({ method: 'POST', target: '/login', headers, body: `${chunks}0\r\n\r\n` })
}

function inOneChunk(body: string): ReadableStream<Uint8Array> {
  return new Blob([body]).stream()
}

describe('a body', () => {
  test.each([
    ['is read at exactly the limit', BODY.length, 200],
    ['is refused one byte above the limit', BODY.length - 1, 413],
  ])('%s, with its length and in chunks', async (_, bodyLimitBytes, status) => {
    const gateway = await startGateway({ bodyLimitBytes })
    const whole = requestText({ method: 'POST', target: '/login', headers: HEADERS, body: BODY })
    for (const request of [whole, chunked(BODY)]) {
      const [answer] = readAnswers(await exchange(gateway.url, request))
      expect(answer?.status).toBe(status)
    }
  })
})

describe.each([
  ['POST', '/login', 200, { email: ANA }],
  ['POST', '/token', 401, { refreshToken: 'unknown' }],
  ['DELETE', '/logout', 401, { refreshToken: 'unknown' }],
  ['POST', '/logout', 401, { refreshToken: 'unknown' }],
] as const)('the body of %s %s', (method, path, status, fields) => {
  /** Has an unknown field, which clients may send. */
  function bodyOf(byteLength: number): string {
    const empty = JSON.stringify({ ...fields, device: '' })
    return JSON.stringify({ ...fields, device: 'x'.repeat(byteLength - empty.length) })
  }

  test.each([
    ['is read at 16 KiB', 16_384, status, 'with its length', (body: string) => body],
    ['is read at 16 KiB', 16_384, status, 'in chunks', inOneChunk],
    ['is refused above 16 KiB', 16_385, 413, 'with its length', (body: string) => body],
    ['is refused above 16 KiB', 16_385, 413, 'in chunks', inOneChunk],
  ])('%s (%i bytes, status %i, %s)', async (_, byteLength, expected, _how, write) => {
    const gateway = await startGateway()
    const headers = { 'content-type': 'application/json' }
    const sent = { method, headers, body: write(bodyOf(byteLength)), duplex: 'half' }
    const response = await fetch(gateway.url + path, sent)
    const text = await response.text()
    expect([response.status, text]).toEqual([expected, expect.any(String)])
    if (expected === 413)
      expect(JSON.parse(text)).toMatchObject({ code: 'BODY_TOO_LARGE', detail: expect.stringContaining('16384 bytes') })
    expect(text).not.toContain('xxx')
  })
})

test('headers may take ten seconds, a request thirty, and an idle connection outlives those of the documented proxies', () => {
  const server = createHttpServer(async () => ({ status: 200, headers: {}, body: '' }), serverOptions())
  expect([server.headersTimeout, server.requestTimeout]).toEqual([10_000, 30_000])
  // Caddy keeps them longest, for two minutes.
  expect(server.keepAliveTimeout).toBeGreaterThan(120_000)
})

test.each([
  ['takes too long', 408, 'REQUEST_TIMEOUT', ['Content-Length', '2'], 'x'],
  ['is malformed', 400, 'BAD_REQUEST', ['Transfer-Encoding', 'chunked'], '1\r\nx\r\nno length\r\n'],
] as const)(
  'a client whose body %s is cut off half a minute after the %s, if it keeps its end open, and is counted once',
  async (_, status, code, framing, body) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const observed: unknown[] = []
    const malformed: string[] = []
    const server = createHttpServer(
      async (request) => {
        const failure = await request.body().then(
          () => null,
          (error) => toProblem(error, () => undefined, 'id'),
        )
        return failure ?? { status: 200, headers: {}, body: '' }
      },
      serverOptions({
        observers: [({ record }) => void observed.push([record.status, record.failureCode])],
        onMalformed: (refused) => void malformed.push(refused),
      }),
    )
    // The other row has no timeouts: node:http would end that connection too, half a minute of real time later.
    server.headersTimeout = status === 408 ? 300 : 0
    server.requestTimeout = server.headersTimeout
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, allowHalfOpen: true })
    onTestFinished(() => {
      client.destroy()
      server.close()
    })
    const [connection] = (await once(server, 'connection')) as [Socket]
    let received = ''
    client.on('data', (chunk) => {
      received += chunk
    })
    client.write(requestText({ method: 'POST', headers: [framing], body }))
    await once(client, 'end')
    expect(readAnswers(Buffer.from(received)).map((answer) => answer.status)).toEqual([status])
    vi.advanceTimersByTime(29_999)
    expect([connection.destroyed, observed]).toEqual([false, []])
    const closed = once(connection, 'close')
    vi.advanceTimersByTime(1)
    await closed
    await expect.poll(() => observed).toEqual([[status, code]])
    expect(malformed).toEqual([])
  },
)

test('a connection opened ahead is not refused when the time for headers is over, and is kept as long as an idle one', async () => {
  const timeouts: (number | undefined)[] = []
  const connections: Socket[] = []
  const server = createHttpServer(
    async () => {
      timeouts.push(connections[0]?.timeout)
      return { status: 200, headers: {}, body: '' }
    },
    serverOptions({ headersTimeoutMs: 300 }),
  )
  let overdue = 0
  server.on('connection', (connection: Socket) => connections.push(connection))
  server.on('clientError', () => {
    overdue += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [asking, silent, slow] = [await openSocket(url), await openSocket(url), await openSocket(url)]
  await expect.poll(() => overdue).toBe(3)
  const kept = connections.map(({ timeout }) => timeout)
  asking.write(requestText({ headers: [['Connection', 'close']] }))
  expect(readAnswers(await readToEnd(asking)).map(({ status }) => status)).toEqual([200])
  slow.write('GET / HT')
  expect(readAnswers(await readToEnd(slow)).map(({ status }) => status)).toEqual([408])

  const unusedMs = server.keepAliveTimeout - server.headersTimeout
  expect(kept).toEqual([unusedMs, unusedMs, unusedMs])
  // An answer may take longer than that.
  expect(timeouts).toEqual([0])
  connections[1]?.emit('timeout')
  expect(String(await readToEnd(silent))).toBe('')
})

test('no timer waits for a client that left before its refusal was sent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { promise: answering, resolve: answer } = Promise.withResolvers<void>()
  const server = createHttpServer(async () => {
    await answering
    return { status: 200, headers: {}, body: '' }
  }, serverOptions())
  const refused = once(server, 'clientError')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  const [connection] = (await once(server, 'connection')) as [Socket]
  client.write(`${requestText({})}no request\r\n\r\n`)
  await refused
  const closed = new Promise((resolve) => connection.once('close', resolve))
  client.resetAndDestroy()
  await closed
  answer()
  await new Promise((resolve) => setImmediate(resolve))
  expect(vi.getTimerCount()).toBe(0)
})

test('a client that sends much ahead for a tunnel before it reads anything gets the refusal', async () => {
  // Otherwise the gateway closes the connection a second later, however slow the machine is.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const server = createHttpServer(async () => ({ status: 200, headers: {}, body: '' }), serverOptions())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  client.on('error', () => {})
  onTestFinished(() => void client.destroy())
  const [connection] = (await once(server, 'connection')) as [Socket]
  client.write(requestText({ method: 'CONNECT', target: 'localhost:22' }))
  client.write(Buffer.alloc(8_388_608))
  await expect.poll(() => connection.bytesRead).toBeGreaterThan(8_388_608)
  expect(readAnswers(await readToEnd(client)).map(({ status }) => status)).toEqual([405])
})
