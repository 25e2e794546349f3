// Tests HTTP pipelining: backpressure, order of the answers, request bodies, and connections that end.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Handler } from '../src/http/handler.ts'
import { createHttpServer } from '../src/http/server/server.ts'
import { startGateway } from './support/gateway.ts'
import { listenForTest } from './support/listen-for-test.ts'
import { liveBytes } from './support/live-bytes.ts'
import { serverOptions } from './support/server-options.ts'
import { exchange, openSocket, readAnswers, readToEnd, requestText } from './support/wire.ts'
import { ANA, SMALL_WORLD } from './support/workspaces.ts'

const COUNT = 3_000
const CLOSE = ['Connection', 'close'] as const

async function serve(handle: Handler): Promise<string> {
  const server = createHttpServer(handle, serverOptions())
  return listenForTest(server)
}

/** Requests the paths `/0` to `/${count - 1}`; the last request asks to close the connection. */
function requests(count: number): string {
  return Array.from({ length: count }, (_, at) =>
    requestText({ target: `/${at}`, headers: at === count - 1 ? [CLOSE] : [] }),
  ).join('')
}

/** Waits until a count no longer grows, and returns it. */
async function settled(count: () => number): Promise<number> {
  for (let before = -1; ; ) {
    await delay(400)
    if (count() === before) return before
    before = count()
  }
}

function expectInOrder(bytes: Buffer, count: number): void {
  const answers = readAnswers(bytes)
  expect(answers.length).toBe(count)
  for (const [at, { status, text }] of answers.entries()) {
    expect(status).toBe(200)
    expect(text.slice(0, text.indexOf(' '))).toBe(`/${at}`)
  }
}

test('four connections that pipeline 3,000 requests for openapi.json and read nothing cost little memory', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const one = requestText({ target: '/openapi.json' })
  const last = requestText({ target: '/openapi.json', headers: [CLOSE] })
  const before = await liveBytes()
  const sockets: Socket[] = []
  for (let at = 0; at < 4; at += 1) {
    const socket = await openSocket(gateway.url)
    socket.pause()
    socket.write(one.repeat(COUNT - 1) + last)
    sockets.push(socket)
  }
  await delay(1_500)
  expect((await liveBytes()) - before).toBeLessThan(32 * 1_048_576)
  const { accessToken } = await gateway.login(ANA)
  expect((await gateway.get('/projects', accessToken)).status).toBe(200)
  const [first, ...others] = sockets
  for (const socket of others) socket.destroy()
  const answers = first ? readAnswers(await readToEnd(first)) : []
  expect(answers.length).toBe(COUNT)
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
})

test('a client that sends 3,000 requests but reads nothing gets what the network holds, later the rest', async () => {
  const filling = ` ${'x'.repeat(65_536)}`
  let handled = 0
  const url = await serve(async ({ path }) => {
    handled += 1
    return { status: 200, headers: {}, body: path + filling }
  })
  const socket = await openSocket(url)
  socket.pause()
  socket.write(requests(COUNT))
  // At 64 KB each: what the kernel takes, and a few more. A single read of the socket contains more than a thousand
  // requests.
  expect(await settled(() => handled)).toBeLessThan(400)
  expectInOrder(await readToEnd(socket), COUNT)
  expect(handled).toBe(COUNT)
})

test('the gateway reads only a few requests of a client that keeps sending while nothing is answered', async () => {
  const over = Promise.withResolvers<void>()
  const url = await serve(async () => {
    await over.promise
    return { status: 200, headers: {}, body: '' }
  })
  const socket = await openSocket(url)
  const ten = requestText({ target: '/', headers: [['X-Filling', 'x'.repeat(8_000)]] }).repeat(10)
  for (let written = 0; written < 500; written += 1) socket.write(ten)
  // More than half of the 40 MB is still in this process: the kernel holds some on either side.
  expect(await settled(() => socket.writableLength)).toBeGreaterThan((500 * ten.length) / 2)
  socket.destroy()
  over.resolve()
})

test('a slow handler has at most 16 requests of one connection in flight', async () => {
  let [running, most] = [0, 0]
  const url = await serve(async ({ path }) => {
    running += 1
    most = Math.max(most, running)
    await delay(1)
    running -= 1
    return { status: 200, headers: {}, body: `${path} ` }
  })
  const socket = await openSocket(url)
  socket.write(requests(1_000))
  expectInOrder(await readToEnd(socket), 1_000)
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(16)
})

test('in one turn of the event loop, only a few of the requests that clients have sent ahead are handled', async () => {
  let [inThisTurn, most] = [0, 0]
  const url = await serve(async ({ path }) => {
    if (inThisTurn === 0) setImmediate(() => (inThisTurn = 0))
    inThisTurn += 1
    most = Math.max(most, inThisTurn)
    return { status: 200, headers: {}, body: `${path} ` }
  })
  const counts = [1_000, 1_000, ...Array.from({ length: 20 }, () => 16)]
  const sockets = await Promise.all(counts.map(() => openSocket(url)))
  // A turn accepts one connection: only those that have been accepted are read in the same turn.
  for (const socket of sockets) {
    socket.write(requestText({ method: 'HEAD' }))
    await once(socket, 'data')
  }
  const ends = sockets.map(readToEnd)
  for (const [at, count] of counts.entries()) sockets[at]?.write(requests(count))
  for (const [at, count] of counts.entries()) expectInOrder((await ends[at]) ?? Buffer.alloc(0), count)
  // One of each connection, 64 behind those, and the waiting ones of one connection.
  expect(most).toBeLessThanOrEqual(counts.length + 64 + 16)
})

test('a request that may change something runs alone on its connection, and safe ones run together', async () => {
  const running: string[] = []
  const began: string[] = []
  const url = await serve(async ({ method }) => {
    began.push([...running, method].join(' '))
    running.push(method)
    // The next one of the connection would begin meanwhile.
    for (let turns = 0; turns < 5; turns += 1) await nextTurn()
    running.splice(running.indexOf(method), 1)
    return { status: 200, headers: {}, body: null }
  })
  const methods = ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE', 'PUT', 'GET']
  const sent = methods.map((method, at) => requestText({ method, headers: at === methods.length - 1 ? [CLOSE] : [] }))
  const socket = await openSocket(url)
  socket.write(sent.join(''))
  await readToEnd(socket)
  expect(began).toEqual(['GET', 'GET HEAD', 'POST', 'OPTIONS', 'DELETE', 'PUT', 'GET'])
})

/** A server that answers `/other` at once, and everything else once `over` is resolved. */
function createWaitingServer() {
  const over = Promise.withResolvers<void>()
  let refused = 0
  const server = createHttpServer(
    async ({ path }) => {
      if (path !== '/other') await over.promise
      return { status: 200, headers: {}, body: `${path} ` }
    },
    serverOptions({
      onRefusedConnection(reason) {
        if (reason === 'tooManyAhead') refused += 1
      },
    }),
  )
  return { server, over, refused: () => refused }
}

test('when many connections send very many requests ahead, some are closed, and everybody else is answered', async () => {
  const { server, over, refused } = createWaitingServer()
  const url = await listenForTest(server)
  const sockets = await Promise.all(Array.from({ length: 16 }, () => openSocket(url)))
  const ends = sockets.map((socket) => readToEnd(socket).catch(() => Buffer.alloc(0)))
  for (const socket of sockets) socket.write(requests(1_500))
  await expect.poll(refused).toBeGreaterThan(0)
  const other = await exchange(url, requestText({ target: '/other', headers: [CLOSE] }))
  expect(readAnswers(other).map(({ status }) => status)).toEqual([200])
  over.resolve()
  const last = '/1499 '
  const answered = (await Promise.all(ends)).filter((bytes) => bytes.subarray(-last.length).toString() === last)
  for (const bytes of answered) expectInOrder(bytes, 1_500)
  expect(answered.length).toBeGreaterThan(0)
  expect(answered.length + refused()).toBe(sockets.length)
})

test('requests that are discarded behind the last one of a connection count until it closes', async () => {
  const { server, over, refused } = createWaitingServer()
  const url = await listenForTest(server)
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(url)))
  const ends = sockets.map((socket) => readToEnd(socket).catch(() => null))
  const last = 'GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
  for (const socket of sockets) socket.write(last + requestText({}).repeat(1_500))
  await expect.poll(refused).toBeGreaterThan(0)
  over.resolve()
  await Promise.all(ends)
  // They no longer count once their connections have closed.
  expectInOrder(await exchange(url, requests(100)), 100)
})

test('pipelined request bodies arrive whole, each with its own request', async () => {
  const url = await serve(async ({ path, body }) => {
    const bytes = await body()
    return { status: 200, headers: {}, body: `${path} ${bytes.byteLength}` }
  })
  const socket = await openSocket(url)
  const lengths = Array.from({ length: 200 }, (_, at) => (at % 7) * 20_000 + 1)
  for (const [at, length] of lengths.entries()) {
    const headers = at === lengths.length - 1 ? [CLOSE] : []
    socket.write(requestText({ method: 'POST', target: `/${at}`, headers, body: 'x'.repeat(length) }))
  }
  const answers = readAnswers(await readToEnd(socket))
  expect(answers.map(({ text }) => text)).toEqual(lengths.map((length, at) => `/${at} ${length}`))
})

test('bytes that are not HTTP are refused after the answers to the many requests before them', async () => {
  const url = await serve(async ({ path }) => {
    await delay(1)
    return { status: 200, headers: {}, body: `${path} ` }
  })
  const socket = await openSocket(url)
  const asked = Array.from({ length: 100 }, (_, at) => requestText({ target: `/${at}` })).join('')
  socket.write(`${asked}this is not HTTP\r\n\r\n`)
  const answers = readAnswers(await readToEnd(socket))
  expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 100 }, () => 200), 400])
})

test('requests that wait when the client disconnects are not handled', async () => {
  let handled = 0
  let leave = (): void => {}
  const url = await serve(async ({ path }) => {
    handled += 1
    if (handled === 16) leave()
    await delay(50)
    return { status: 200, headers: {}, body: path }
  })
  const socket = await openSocket(url)
  leave = () => socket.destroy()
  socket.write(requests(1_000))
  // The gateway notices that the client is gone when it sends the first answers.
  expect(await settled(() => handled)).toBeLessThan(50)
})

test('a client that leaves many requests behind costs no stack trace for each of them', async () => {
  const { prepareStackTrace, stackTraceLimit } = Error
  const depths: number[] = []
  Error.prepareStackTrace = (error, frames) => {
    if (error.message === 'aborted') depths.push(frames.length)
    return String(error)
  }
  onTestFinished(() => void Object.assign(Error, { prepareStackTrace }))
  let handled = 0
  const server = createHttpServer(() => {
    handled += 1
    return new Promise(() => {})
  }, serverOptions())
  const connected = once(server, 'connection')
  const socket = await openSocket(await listenForTest(server))
  const [connection] = (await connected) as [Socket]
  socket.write(requests(500))
  await expect.poll(() => handled).toBe(16)
  const closed = once(connection, 'close')
  connection.destroy()
  await closed
  expect(depths.filter((depth) => depth > 0)).toEqual([])
  expect(Error.stackTraceLimit).toBe(stackTraceLimit)
  expect(stackTraceLimit).toBeGreaterThan(0)
})

test('a connection stays open after a burst, and later requests are read from it', async () => {
  const url = await serve(async ({ path }) => ({ status: 200, headers: {}, body: `${path} ` }))
  const socket = await openSocket(url)
  for (let round = 0; round < 3; round += 1) {
    socket.write(Array.from({ length: 500 }, (_, at) => requestText({ target: `/${at}` })).join(''))
    expectInOrder(await readCount(socket, 500), 500)
  }
  socket.destroy()
})

async function readCount(socket: Socket, count: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let ends = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const onData = (chunk: Buffer) => {
    chunks.push(chunk)
    ends = Buffer.concat(chunks).toString('latin1').split('HTTP/1.1 200').length - 1
    if (ends === count) setTimeout(resolve, 100)
  }
  socket.on('data', onData)
  await promise
  socket.off('data', onData)
  return Buffer.concat(chunks)
}

const UNFINISHED = requestText({ method: 'POST', target: '/first', headers: [['Content-Length', '10']], body: 'abc' })

test.each([
  ['whose answer came before its body was whole', UNFINISHED, 'defghij', false],
  [
    'of HTTP/1.0 with chunks, which a proxy may see end elsewhere',
    requestText({
      method: 'POST',
      target: '/first',
      version: '1.0',
      headers: [
        ['Connection', 'keep-alive'],
        ['Transfer-Encoding', 'chunked'],
      ],
    }),
    '0\r\n\r\n',
    true,
  ],
])('the gateway handles nothing behind a request %s', async (_, first, rest, isAtOnce) => {
  const handled: string[] = []
  const url = await serve(async ({ path }) => {
    handled.push(path)
    return { status: 200, headers: {}, body: `${path} ` }
  })
  const socket = await openSocket(url)
  const behind = rest + requestText({ method: 'POST', target: '/behind' }).repeat(50)
  socket.write(isAtOnce ? first + behind : first)
  if (!isAtOnce) {
    // The head of the answer has arrived.
    await new Promise((resolve) => socket.once('readable', resolve))
    socket.write(behind)
  }
  const [answer, ...others] = readAnswers(await readToEnd(socket))
  expect([answer?.status, answer?.headers.get('connection'), others]).toEqual([200, 'close', []])
  expect(handled).toEqual(['/first'])
})

test('bytes that are not HTTP are refused once, however many pieces arrive while an answer is pending', async () => {
  const refused: string[] = []
  const { promise: answering, resolve: answer } = Promise.withResolvers<void>()
  const server = createHttpServer(
    async ({ path }) => {
      await answering
      return { status: 200, headers: {}, body: `${path} ` }
    },
    { ...serverOptions(), onMalformed: (code) => refused.push(code) },
  )
  let pieces = 0
  server.on('clientError', () => {
    pieces += 1
  })
  const socket = await openSocket(await listenForTest(server))
  socket.setNoDelay(true)
  socket.write(requestText({ target: '/first' }))
  while (pieces < 20) {
    socket.write('\x01')
    await delay(1)
  }
  answer()
  const answers = readAnswers(await readToEnd(socket))
  expect([answers.map(({ status }) => status), refused]).toEqual([[200, 400], ['BAD_REQUEST']])
})

test.each([
  ['is being answered', 1, [200, 400], []],
  ['still waits', 16, Array.from({ length: 16 }, () => 200), ['BAD_REQUEST']],
])('a request with a broken body that %s behind others is counted once', async (_, ahead, seen, counted) => {
  const observed: number[] = []
  const malformed: string[] = []
  const { promise: answering, resolve: answer } = Promise.withResolvers<void>()
  const server = createHttpServer(
    async ({ method, body }) => {
      await answering
      const status =
        method === 'GET'
          ? 200
          : await body().then(
              () => 200,
              () => 400,
            )
      return { status, headers: {}, body: '' }
    },
    serverOptions({
      observers: [({ record }) => void observed.push(record.status)],
      onMalformed: (code) => void malformed.push(code),
    }),
  )
  const refused = once(server, 'clientError')
  const socket = await openSocket(await listenForTest(server))
  // A safe method, which may be answered beside others.
  const broken = requestText({ method: 'QUERY', headers: [['Transfer-Encoding', 'chunked']], body: 'no length\r\n' })
  socket.write(requestText({}).repeat(ahead) + broken)
  await refused
  answer()
  const answers = readAnswers(await readToEnd(socket))
  expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: ahead }, () => 200), 400])
  await expect.poll(() => observed).toEqual(seen)
  expect(malformed).toEqual(counted)
})

test('a stopping server answers every request in flight, then closes the connection', async () => {
  const handled: string[] = []
  const { promise: answering, resolve: answer } = Promise.withResolvers<void>()
  const server = createHttpServer(async ({ path }) => {
    handled.push(path)
    await answering
    return { status: 200, headers: {}, body: `${path} ` }
  }, serverOptions())
  const socket = await openSocket(await listenForTest(server))
  socket.write(requestText({ target: '/0' }) + requestText({ target: '/1' }) + requestText({ target: '/2' }))
  await expect.poll(() => handled.length).toBe(3)
  server.close()
  answer()
  expectInOrder(await readToEnd(socket), 3)
})

test('a stopping server does nothing for a request that arrives after it has ended the connection', async () => {
  const handled: string[] = []
  const { promise: answering, resolve: answer } = Promise.withResolvers<void>()
  const server = createHttpServer(async ({ path }) => {
    handled.push(path)
    return { status: 200, headers: {}, body: Readable.from(lateEnd(answering)) }
  }, serverOptions())
  const connected = once(server, 'connection')
  const socket = await openSocket(await listenForTest(server))
  const [connection] = (await connected) as [Socket]
  // The connection stays open for reading until its last bytes have gone out, here until the test lets them.
  const ended = Promise.withResolvers<void>()
  const end = vi.spyOn(connection, 'end').mockImplementation(() => {
    ended.resolve()
    return connection
  })
  const begun = once(socket, 'data')
  socket.write(requestText({ target: '/first' }))
  await begun
  server.close()
  answer()
  await ended.promise
  const arrived = once(server, 'request')
  socket.write(requestText({ method: 'POST', target: '/second', body: 'x' }))
  await arrived
  expect(handled).toEqual(['/first'])
  end.mockRestore()
  connection.end()
})

/** The head of this answer is sent before the server stops, so it cannot say that the connection closes. */
async function* lateEnd(over: Promise<void>): AsyncGenerator<Buffer> {
  yield Buffer.from('begun')
  await over
}

test.each(['GET', 'HEAD'])('a %s whose body never arrives gets exactly one answer', async (method) => {
  const server = createHttpServer(
    async () => ({ status: 200, headers: {}, body: Readable.from([Buffer.from('whole')]) }),
    serverOptions(),
  )
  server.requestTimeout = 300
  server.headersTimeout = 300
  const socket = await openSocket(await listenForTest(server))
  socket.write(requestText({ method, headers: [['Content-Length', '10']], body: 'abc' }))
  const answers = readAnswers(await readToEnd(socket), [method])
  expect(answers.map(({ status }) => status)).toEqual([200])
})

test('a stopping server closes a connection whose last answer was ready before an earlier one', async () => {
  const { promise: answering, resolve: answer } = Promise.withResolvers<void>()
  const handled: string[] = []
  const server = createHttpServer(async ({ path }) => {
    if (path === '/0') await answering
    handled.push(path)
    return { status: 200, headers: {}, body: `${path} ` }
  }, serverOptions())
  const socket = await openSocket(await listenForTest(server))
  socket.write(requestText({ target: '/0' }) + requestText({ target: '/1' }))
  await expect.poll(() => handled).toEqual(['/1'])
  server.close()
  answer()
  expectInOrder(await readToEnd(socket), 2)
})

const LONG = Buffer.alloc(4_000_000, 'x')

test.each([
  ['GET', 200_000],
  ['POST', 200_000],
])('a streamed answer to a %s arrives whole while the request body is still arriving', async (method, length) => {
  const url = await serve(async () => ({ status: 200, headers: {}, body: Readable.from([LONG]) }))
  const socket = await openSocket(url)
  socket.write(requestText({ method, headers: [['Content-Length', String(length)]], body: 'x' }))
  const answering = readToEnd(socket)
  // Sent while the answer arrives, and after it.
  for (let sent = 1; sent < length; sent += 1_000) {
    socket.write('x'.repeat(Math.min(1_000, length - sent)))
    await new Promise(setImmediate)
  }
  socket.write(requestText({ target: '/next', headers: [CLOSE] }))
  const answers = readAnswers(await answering)
  expect(answers.map(({ status, text }) => [status, text.length])).toEqual([
    [200, LONG.length],
    [200, LONG.length],
  ])
})

test.each([
  ['is answered if the rest has arrived meanwhile', ': localhost\r\nConnection: close\r\n\r\n', 200],
  ['is refused if the rest does not arrive then either', '', 408],
])('a request whose rest the gateway does not read, because its answers are not read, %s', async (_, rest, last) => {
  const body = LONG.subarray(0, 1_000_000)
  const server = createHttpServer(async () => ({ status: 200, headers: {}, body }), serverOptions())
  const socket = await openSocket(await listenForTest(server))
  socket.pause()
  const timedOut = once(server, 'clientError')
  // More requests than are handled at a time, and more bytes than the network holds.
  socket.write(`${requestText({}).repeat(20)}GET /healthz HTTP/1.1\r\nHost`)
  await new Promise((resolve) => server.once('request', resolve))
  // Not before: on a busy machine the first requests themselves may be late.
  server.requestTimeout = 300
  server.headersTimeout = 300
  socket.write(rest)
  await timedOut
  const answers = readAnswers(await readToEnd(socket))
  expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 200), last])
})

/** An HTTP/1.0 request with chunks: its answer closes the connection, and nothing behind it is handled. */
const LAST = requestText({
  method: 'POST',
  version: '1.0',
  headers: [
    ['Connection', 'keep-alive'],
    ['Transfer-Encoding', 'chunked'],
  ],
  body: '0\r\n\r\n',
})
const BEHIND = requestText({ method: 'GET', headers: [['X-Filling', 'x'.repeat(8_000)]] })

test('the answer that closes a connection arrives whole at a client that reads it late and has sent more', async () => {
  const { promise: answering, resolve: answer } = Promise.withResolvers<void>()
  // More than the client's side of the network holds, but less than both sides.
  const body = LONG.subarray(0, 600_000)
  const server = createHttpServer(async () => {
    await answering
    return { status: 200, headers: {}, body }
  }, serverOptions())
  let seen = 0
  server.on('request', () => {
    seen += 1
    if (seen === 51) answer()
  })
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  server.on('connection', (connection) => {
    connection.once('pause', answer)
    connection.once('close', () => close())
  })
  const socket = await openSocket(await listenForTest(server))
  socket.pause()
  // More than the gateway reads at once. If it closed the connection before it has read the rest, the kernel would
  // reset the connection and drop what the client has not read.
  socket.write(LAST + BEHIND.repeat(50))
  await closed
  const answers = readAnswers(await readToEnd(socket))
  expect(answers.map(({ status, text }) => [status, text.length])).toEqual([[200, body.length]])
})

test('the gateway reads only a few requests behind the answer that closes the connection', async () => {
  const { promise: answering, resolve: answer } = Promise.withResolvers<void>()
  let seen = 0
  const server = createHttpServer(async () => {
    await answering
    return { status: 200, headers: {}, body: '' }
  }, serverOptions())
  server.on('request', () => {
    seen += 1
  })
  const socket = await openSocket(await listenForTest(server))
  socket.write(LAST + BEHIND.repeat(1_000))
  expect(await settled(() => seen)).toBeLessThan(200)
  answer()
})
