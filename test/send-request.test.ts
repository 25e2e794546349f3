// sendRequest answers like fetch, and outlives a server that closes its connection while the body waits to be read.
import { getEventListeners, once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { sendRequest } from '../src/send-request.ts'
import { freePort } from './support/free-port.ts'
import { listenForTest } from './support/listen-for-test.ts'

/** Answers each request with these bytes, calls `then`, and closes the connection. */
async function serve(answer: (request: string) => readonly (string | Buffer)[]) {
  const closed: Promise<unknown>[] = []
  const requests: string[] = []
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {})
    socket.once('data', (data) => {
      requests.push(data.toString())
      for (const part of answer(data.toString())) socket.write(part)
      closed.push(once(socket, 'finish'))
      socket.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`, closed, requests }
}

const signal = new AbortController().signal

test.each(['Content-Length: 65536\r\n', ''])(
  'a connection that closes while the body waits to be read loses nothing of it (%j)',
  async (length) => {
    const body = Buffer.alloc(65_536, 'a')
    const { url, closed } = await serve(() => [`HTTP/1.1 200 OK\r\n${length}Connection: close\r\n\r\n`, body])
    const response = await sendRequest(url, { method: 'GET', signal })
    await closed[0]
    // The end of the connection has arrived here when another one was served.
    await (await sendRequest(url, { method: 'GET', signal })).arrayBuffer()
    expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true)
  },
)

test.each([
  ['gzip', gzipSync('[1]')],
  ['x-gzip', gzipSync('[1]')],
  ['br', brotliCompressSync('[1]')],
  ['deflate', deflateSync('[1]')],
  ['zstd', zstdCompressSync('[1]')],
  ['gzip, br', brotliCompressSync(gzipSync('[1]'))],
])('a body is decoded from %s, and its headers no longer name the coding', async (coding, body) => {
  const { url } = await serve(() => [
    `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n`,
    body,
  ])
  const response = await sendRequest(url, { method: 'GET', signal })
  expect([...response.headers]).toEqual([])
  expect(await response.text()).toBe('[1]')
})

test.each(['utf-8', 'gzip, utf-8', Array(6).fill('gzip').join(', ')])(
  'a body in an unknown coding, or in too many, stays as it is, with the headers that describe it: %s',
  async (coding) => {
    const { url } = await serve(() => [
      `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: 3\r\n\r\n[1]`,
    ])
    const response = await sendRequest(url, { method: 'GET', signal })
    expect([...response.headers]).toEqual([
      ['content-encoding', coding],
      ['content-length', '3'],
    ])
    expect(await response.text()).toBe('[1]')
  },
)

test('bodies have their length in bytes in both directions, and the request leaves no listener behind', async () => {
  const { url, requests } = await serve(() => ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[1]'])
  const stop = new AbortController()
  const response = await sendRequest(url, { method: 'POST', body: '"é"', signal: stop.signal })
  expect([...response.headers]).toEqual([['content-length', '3']])
  expect(await response.text()).toBe('[1]')
  expect(requests[0]).toContain('content-length: 4\r\n')
  expect(requests[0]).toMatch(/\r\n\r\n"é"$/)
  await expect.poll(() => getEventListeners(stop.signal, 'abort')).toEqual([])
})

test('chunks that arrive together are joined, so that chunks of one byte take their reader no longer', async () => {
  const chunks = '1\r\n \r\n'.repeat(8_000)
  const { url } = await serve(() => [`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`])
  const { body } = await sendRequest(url, { method: 'GET', signal })
  const parts: number[] = []
  for await (const { byteLength } of body ?? []) parts.push(byteLength)
  expect(parts.reduce((sum, length) => sum + length, 0)).toBe(8_000)
  expect(parts.length).toBeLessThan(800)
})

test('a body that nobody wants closes its connection, whether or not its reading has begun', async () => {
  const left: Promise<unknown>[] = []
  const server = createHttpServer((_, response) => {
    left.push(once(response, 'close'))
    response.write('[')
  })
  const url = await listenForTest(server)
  const [unread, begun] = await Promise.all([sendRequest(url, { method: 'GET' }), sendRequest(url, { method: 'GET' })])
  await unread.body?.cancel()
  for await (const _ of begun.body ?? []) break
  await Promise.all(left)
  expect(left).toHaveLength(2)
})

test('an answer without a body leaves its connection to the next request', async () => {
  const server = createHttpServer((_, response) => response.end())
  server.keepAliveTimeout = 0
  const url = await listenForTest(server)
  const stop = new AbortController()
  await sendRequest(url, { method: 'HEAD', signal: stop.signal })
  await expect.poll(() => getEventListeners(stop.signal, 'abort')).toEqual([])
})

test('a connection that cannot be opened leaves no timer behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const url = `http://127.0.0.1:${await freePort('127.0.0.1')}/`
  await expect(sendRequest(url, { method: 'GET' })).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  // The socket emits `close` in a later turn. `expect.poll` would let the time of the timer pass.
  for (let turn = 0; turn < 100 && vi.getTimerCount() > 0; turn += 1) await nextTurn()
  expect(vi.getTimerCount()).toBe(0)
})

test('a connection has ten seconds to open, and an answer has as long as it takes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const received = Promise.withResolvers<Socket>()
  const server = createServer((socket) => socket.once('data', () => received.resolve(socket)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = Object(server.address())
  const answer = sendRequest(`http://127.0.0.1:${port}/`, { method: 'GET', signal })
  const socket = await received.promise
  vi.advanceTimersByTime(600_000)
  socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[1]')
  expect(await (await answer).text()).toBe('[1]')

  // A name server that does not answer.
  const lookup = vi.spyOn(process.getBuiltinModule('node:dns'), 'lookup').mockImplementation(() => Object.create(null))
  onTestFinished(() => lookup.mockRestore())
  const late = expect(sendRequest('http://silent.example/', { method: 'GET', signal })).rejects.toMatchObject({
    code: 'ETIMEDOUT',
  })
  await expect.poll(() => vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(10_000)
  await late
})

test.each([
  ['HEAD', '200 OK', 'gzip'],
  ['GET', '304 Not Modified', 'gzip'],
  ['GET', '204 No Content', 'gzip'],
  ['GET', '401 Unauthorized\r\nContent-Length: 0', 'gzip'],
  ['GET', '401 Unauthorized\r\nContent-Length: 0', 'deflate'],
  ['GET', '401 Unauthorized\r\nContent-Length: 0', 'br'],
])('an answer to %s without a body is empty, whatever coding it names: %s, %s', async (method, head, coding) => {
  const { url } = await serve(() => [`HTTP/1.1 ${head}\r\nContent-Encoding: ${coding}\r\nETag: "a"\r\n\r\n`])
  const response = await sendRequest(url, { method, signal })
  expect([response.headers.get('etag'), await response.text()]).toEqual(['"a"', ''])
})

test.each([
  ['its length', 'Content-Length: 9\r\n\r\n[1'],
  ['its last chunk', 'Transfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n'],
])('a body that ends before %s is an error, not a shorter body', async (_, rest) => {
  const { url } = await serve(() => [`HTTP/1.1 200 OK\r\n${rest}`])
  const response = await sendRequest(url, { method: 'GET', signal })
  await expect(response.text()).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test('a connection that closes without an answer, and a status that is none, are errors', async () => {
  const { url: silent } = await serve(() => [])
  await expect(sendRequest(silent, { method: 'GET', signal })).rejects.toMatchObject({ code: 'ECONNRESET' })
  const { url: switching } = await serve(() => ['HTTP/1.1 101 Other\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'])
  await expect(sendRequest(switching, { method: 'GET', signal })).rejects.toMatchObject({ code: 'ECONNRESET' })
  const { url: strange } = await serve(() => ['HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'])
  await expect(sendRequest(strange, { method: 'GET', signal })).rejects.toThrow(RangeError)
})

test('a read is sent again when its server closes a connection that is used again, and a write is not', async () => {
  const used = new Set<Socket>()
  const methods: unknown[] = []
  const url = await listenForTest(
    createHttpServer(({ method, socket }, response) => {
      methods.push(method)
      if (used.has(socket)) socket.resetAndDestroy()
      else response.end('[1]')
      used.add(socket)
    }),
  )
  const read = async (method: string) => (await sendRequest(url, { method })).text()
  expect([await read('GET'), await read('GET')]).toEqual(['[1]', '[1]'])
  await expect(sendRequest(url, { method: 'POST' })).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect([await read('GET'), await read('HEAD')]).toEqual(['[1]', ''])
  expect(methods).toEqual(['GET', 'GET', 'GET', 'POST', 'GET', 'HEAD', 'HEAD'])
})

test('a body that is a stream is sent whole, and so is its error if it cannot be read', async () => {
  const server = createHttpServer((request, response) => void request.pipe(response))
  const url = await listenForTest(server)
  const parts = Array.from({ length: 100 }, (_, at) => Buffer.alloc(10_000, String(at)))
  const response = await sendRequest(url, { method: 'POST', body: Readable.from(parts) })
  expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.concat(parts))).toBe(true)
  const reason = new Error('the disk failed')
  const failing = new Readable({ read: () => void failing.destroy(reason) })
  await expect(sendRequest(url, { method: 'POST', body: failing })).rejects.toBe(reason)
})

test('the rest of a stream is not sent to a server that has answered, although the connection stays open', async () => {
  const url = await listenForTest(createHttpServer((_, response) => void response.end('enough')))
  const endless = new Readable({ read: () => void endless.push(Buffer.alloc(10_000)) })
  const closed = once(endless, 'close')
  const response = await sendRequest(url, { method: 'POST', body: endless })
  expect(await response.text()).toBe('enough')
  await closed
})

test('the reason of an abort is the error of the request, and of a body that is being read', async () => {
  const reason = new Error('enough')
  const { url } = await serve(() => ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1'])
  await expect(sendRequest(url, { method: 'GET', signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  const server = createServer((socket) => socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n[1')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = Object(server.address())
  const stop = new AbortController()
  const response = await sendRequest(`http://127.0.0.1:${port}/`, { method: 'GET', signal: stop.signal })
  const read = response.text()
  stop.abort(reason)
  await expect(read).rejects.toBe(reason)
})
