// Clients that stop reading: when their connections are reset, and how much memory their answers hold.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createInFlightBytes } from '../src/http/limits/in-flight-bytes.ts'
import { createHttpServer } from '../src/http/server/server.ts'
import { expectProblem } from './support/failures.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from './support/gateway.ts'
import { liveBytes } from './support/live-bytes.ts'
import { serverOptions } from './support/server-options.ts'
import { openSocket, readAnswers, readToEnd, requestText, type WireRequest } from './support/wire.ts'
import { ANA, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

const MIB = 1_048_576
/** More than the kernel buffers for a loopback connection; half of it when compressed. */
const FILES = Array.from(
  { length: 160 },
  (_, n) => `{"path":"f${n}","content":"${randomBytes(65_536).toString('hex')}"}`,
)
const WORLD = [
  SMALL_WORLD,
  documentLine('project', ANA, '{"id":"large"}'),
  exportLine(ANA, { r: 'large', createdAt: '2026-01-01T00:00:00Z', elements: FILES }),
  ...FILES.slice(0, 50).map((text, n) => documentLine('template', ANA, `{"id":"t${n}","file":${text}}`)),
].join('')

async function start(options: TestGatewayOptions = {}): Promise<TestGateway & { readonly accessToken: string }> {
  const gateway = await startGateway(options)
  await gateway.load(WORLD)
  return { ...gateway, accessToken: (await gateway.login(ANA)).accessToken }
}

/** Sends a request, waits for the first bytes of the answer, and reads nothing more. */
async function stall(gateway: TestGateway, target: string, accessToken: string, accept = 'identity'): Promise<Socket> {
  const socket = await openSocket(gateway.url)
  onTestFinished(() => {
    socket.destroy()
  })
  const headers = [['Authorization', `Bearer ${accessToken}`] as const, ['Accept-Encoding', accept] as const]
  socket.write(requestText({ target, headers }))
  await once(socket, 'readable')
  return socket
}

test.each([
  ['an export', '/exports?r=large', 'identity'],
  ['a compressed export', '/exports?r=large', 'gzip'],
  ['a long list', '/templates', 'identity'],
])('%s is cut off when its client stops reading, and the bytes sent are reported', async (_, target, accept) => {
  const gateway = await start({ sendTimeoutMs: 300 })
  await stall(gateway, target, gateway.accessToken, accept)
  await expect.poll(() => gateway.brokenOff).toHaveLength(1)
  const [event] = gateway.brokenOff
  expect(event).toMatchObject({ reason: 'stalled', method: 'GET', path: target.split('?')[0], status: 200 })
  expect(event?.sentBytes).toBeGreaterThan(0)
  expect(JSON.stringify(event)).not.toContain('large')
})

test('clients that stalled together lose their connections one per turn of the event loop', async () => {
  const sendTimeoutMs = 300
  const gateway = await start({ sendTimeoutMs })
  for (let reader = 0; reader < 8; reader += 1) await stall(gateway, '/exports?r=large', gateway.accessToken)
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  // Until the kernel has taken all that it buffers.
  for (let turns = 0; turns < 500; turns += 1) await turn()
  // The event loop is blocked until all of them are due.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, sendTimeoutMs)
  let mostInTurn = 0
  for (let known = gateway.brokenOff.length; known < 8; known = gateway.brokenOff.length) {
    await turn()
    mostInTurn = Math.max(mostInTurn, gateway.brokenOff.length - known)
  }
  expect(mostInTurn).toBe(1)
})

test('a connection on which small answers pile up unread is cut off too', async () => {
  const gateway = await start({ sendTimeoutMs: 300 })
  const socket = await openSocket(gateway.url)
  socket.pause()
  socket.write(requestText({ target: '/openapi.json' }).repeat(3_000))
  const stalled = () => gateway.brokenOff.filter(({ reason }) => reason === 'stalled')
  await expect.poll(stalled).toMatchObject([{ path: '/openapi.json' }])
})

/** Reads an answer to its end, and waits after each chunk of at most 64 KiB for as long as `pause` says. */
async function readSlowly(
  gateway: TestGateway,
  target: string,
  accessToken: string,
  pause: (chunks: number, receivedBytes: number) => number,
): Promise<string> {
  const socket = await openSocket(gateway.url)
  const headers = [
    ['Authorization', `Bearer ${accessToken}`],
    ['Connection', 'close'],
  ] as const
  socket.write(requestText({ target, headers }))
  const chunks: Buffer[] = []
  let receivedBytes = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    receivedBytes += chunk.byteLength
    const pauseMs = pause(chunks.length, receivedBytes)
    if (pauseMs > 0) await delay(pauseMs)
  }
  return readAnswers(Buffer.concat(chunks))[0]?.text ?? 'no answer'
}

test('a client that reads slowly without stopping receives the whole answer', async () => {
  const gateway = await start({ sendTimeoutMs: 2_000 })
  const pause = (chunks: number) => (chunks % 16 === 0 ? 5 : 0)
  const text = await readSlowly(gateway, '/exports?r=large', gateway.accessToken, pause)
  expect(text).toBe(`[${FILES.join(',')}]`)
  expect(gateway.brokenOff).toEqual([])
})

// Linux holds up to 4 MB of an answer, and accepts more once about a third of that is free. This client takes about a
// second for that, and 50 ms for each 64 KiB.
test.skipIf(process.platform !== 'linux')(
  'a client that reads faster than the minimum rate is not cut off because the kernel has a large buffer',
  async () => {
    const gateway = await start({ sendTimeoutMs: 600 })
    const text = await readSlowly(gateway, '/templates', gateway.accessToken, () => 50)
    expect(JSON.parse(text)).toHaveLength(50)
    expect(gateway.brokenOff).toEqual([])
  },
)

// Some systems announce what a client has read only in steps of megabytes.
test.skipIf(process.platform !== 'linux')(
  'a client that is slow and reads on may then take longer than the timeout for 64 KiB, but not any time',
  async () => {
    const gateway = await start({ sendTimeoutMs: 600 })
    const pauseOnce = (pauseMs: number) => {
      let isDue = true
      return (_: number, receivedBytes: number) => {
        if (!isDue || receivedBytes < 1.5 * MIB) return 50
        isDue = false
        return pauseMs
      }
    }
    const [slow, stalled] = await Promise.allSettled(
      [1_000, 5_000].map((pauseMs) => readSlowly(gateway, '/templates', gateway.accessToken, pauseOnce(pauseMs))),
    )
    expect(slow).toMatchObject({ status: 'fulfilled' })
    // Reset, so that the kernel drops what it still holds for the client.
    expect(stalled).toMatchObject({ status: 'rejected', reason: { code: 'ECONNRESET' } })
    expect(gateway.brokenOff).toMatchObject([{ reason: 'stalled' }])
  },
)

test.skipIf(process.platform !== 'linux')(
  'a client that has read megabytes may then take longer than the timeout for 64 KiB',
  async () => {
    const gateway = await start({ sendTimeoutMs: 600 })
    let isDue = true
    const text = await readSlowly(gateway, '/exports?r=large', gateway.accessToken, (_, receivedBytes) => {
      if (!isDue || receivedBytes < 2 * MIB) return 0
      isDue = false
      return 1_000
    })
    expect(text).toBe(`[${FILES.join(',')}]`)
    expect(gateway.brokenOff).toEqual([])
  },
)

test('clients that stop reading a compressed export hold a chunk each: less than 32 MiB for 16 clients', async () => {
  const gateway = await start({ cacheBytes: 8 * MIB })
  const before = await liveBytes()
  for (let reader = 0; reader < 16; reader += 1) {
    await stall(gateway, '/exports?r=large', gateway.accessToken, 'gzip')
    // Until the output for this client has outgrown its buffer, so that the next client does not join it.
    await delay(250)
  }
  expect((await liveBytes()) - before).toBeLessThan(32 * MIB)
})

test('an unread long list makes the gateway refuse another one before its memory is used up, and answer it afterwards', async () => {
  const inFlight = createInFlightBytes(10 * MIB)
  const gateway = await start({ inFlight })
  const first = await stall(gateway, '/templates', gateway.accessToken)
  // The same request would share the answer that is held, so this one asks for another.
  const refused = await gateway.graphql('{ me { templates { data } } }', gateway)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(refused.json().errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }])
  // Small answers are still sent.
  expect((await gateway.get('/projects', gateway.accessToken)).status).toBe(200)
  first.destroy()
  await expect.poll(inFlight.byteLength).toBe(0)
  const { status, headers } = await gateway.get('/templates', gateway.accessToken)
  expect(status).toBe(200)
  await expect.poll(inFlight.byteLength).toBe(0)
  // An answer without a body holds no memory.
  const etag = headers.get('etag') ?? ''
  expect((await gateway.get('/templates', gateway.accessToken, { 'if-none-match': etag })).status).toBe(304)
  expect(
    (
      await fetch(`${gateway.url}/templates`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${gateway.accessToken}` },
      })
    ).status,
  ).toBe(200)
  await expect.poll(inFlight.byteLength).toBe(0)
})

const REST = '/templates'
const GRAPHQL = `/graphql?query=${encodeURIComponent('{ me { templates { data } } }')}`

test.each([
  ['REST', 'GraphQL', REST, GRAPHQL],
  ['GraphQL', 'REST', GRAPHQL, REST],
])(
  'a user who leaves a long list over %s unread gets no other one over %s, although half of the memory is free',
  async (_unread, _refused, unread, refused) => {
    const gateway = await start({ inFlight: createInFlightBytes(20 * MIB) })
    await stall(gateway, unread, gateway.accessToken)
    const { status, headers } = await gateway.get(refused, gateway.accessToken)
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  },
)

test('an export that the gateway has no memory to compress is refused before it begins, but sent uncompressed', async () => {
  const gateway = await start({ inFlight: createInFlightBytes(200_000) })
  const read = (coding: string) => gateway.get('/exports?r=large', gateway.accessToken, { 'accept-encoding': coding })
  const refused = await read('br')
  expect([refused.status, refused.json().code, refused.headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', '1'])
  expect((await read('identity')).status).toBe(200)
})

test('answers that wait behind an unread one are released with their connection', async () => {
  const inFlight = createInFlightBytes(64 * MIB)
  const gateway = await start({ inFlight })
  const socket = await openSocket(gateway.url)
  const request = (comment: number): WireRequest => ({
    // Requests for the same share one answer, so each query is different.
    target: `/graphql?query=${encodeURIComponent(`{ me { templates { data } } } # ${comment}`)}`,
    headers: [
      ['Authorization', `Bearer ${gateway.accessToken}`],
      ['Accept', 'application/json'],
    ],
  })
  socket.write([1, 2, 3].map((comment) => requestText(request(comment))).join(''))
  // The two waiting answers hold 12.5 MiB; the kernel may hold nearly all of the first.
  await expect.poll(inFlight.byteLength).toBeGreaterThan(12 * MIB)
  socket.destroy()
  await expect.poll(inFlight.byteLength).toBe(0)
  expect(await readToEnd(await closing(gateway.url))).toBeInstanceOf(Buffer)
})

async function closing(url: string): Promise<Socket> {
  const socket = await openSocket(url)
  socket.write(requestText({ headers: [['Connection', 'close']] }))
  return socket
}

test('a client that takes too long to send its headers is answered 408', async () => {
  const server = createHttpServer(
    async () => ({ status: 200, headers: {}, body: '' }),
    serverOptions({ headersTimeoutMs: 300 }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
  })
  const socket = await openSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n')
  const [answer] = readAnswers(await readToEnd(socket))
  if (!answer) throw new Error('no answer')
  expectProblem(answer, { status: 408, code: 'REQUEST_TIMEOUT', hasNot: [] })
})
