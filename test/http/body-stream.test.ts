// A body that is read piece by piece: it may take any time, as long as something comes. Only the clock that measures
// silence is faked.
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { createHttpServer } from '../../src/http/server/server.ts'
import { serverOptions } from '../support/server-options.ts'
import { openSocket, readAnswers, requestText } from '../support/wire.ts'

const SILENCE_MS = 30_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  return () => vi.useRealTimers()
})

/** Records what was read of each body, and how its reading ended. */
async function serve() {
  const pieces: string[] = []
  const ends: string[] = []
  const server = createHttpServer(
    async (request) => {
      try {
        for await (const piece of request.bodyStream()) {
          pieces.push(String(piece))
          if (request.path === '/refuse') break
          if (request.path === '/slow') vi.advanceTimersByTime(SILENCE_MS)
        }
        ends.push('whole')
      } catch (error) {
        ends.push(error instanceof GatewayError ? error.code : String(error))
      }
      return { status: 200, headers: {}, body: ends.at(-1) ?? '' }
    },
    serverOptions({ bodyLimitBytes: 1 }),
  )
  const connections: Socket[] = []
  server.on('connection', (connection) => connections.push(connection))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = await openSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  let received = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
  })
  const bytesRead = () => connections[0]?.bytesRead ?? 0
  return { socket, pieces, ends, bytesRead, received: () => received }
}

/** Waits for real turns of the event loop until the condition is true. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}

const begin = (socket: Socket, ...headers: (readonly [string, string])[]) =>
  socket.write(requestText({ method: 'POST', headers: [['Transfer-Encoding', 'chunked'], ...headers] }))

test('a body may take forever if each piece comes in time, and nothing is cut off after its end', async () => {
  const { socket, pieces, ends, received } = await serve()
  begin(socket)
  for (let piece = 1; piece <= 4; piece += 1) {
    socket.write('1\r\nx\r\n')
    await until(() => pieces.length === piece)
    vi.advanceTimersByTime(SILENCE_MS - 1)
  }
  socket.write('0\r\n\r\n')
  await until(() => ends.length === 1)
  vi.advanceTimersByTime(2 * SILENCE_MS)
  begin(socket)
  socket.write('0\r\n\r\n')
  await until(() => ends.length === 2)
  expect(ends).toEqual(['whole', 'whole'])
  await until(() => received().toString().split('HTTP/1.1 200').length === 3)
})

test('half a minute of silence is a timeout, a client that leaves is not', async () => {
  const silent = await serve()
  begin(silent.socket)
  silent.socket.write('1\r\nx\r\n')
  await until(() => silent.pieces.length === 1)
  vi.advanceTimersByTime(SILENCE_MS)
  await until(() => silent.ends.length === 1)
  expect(silent.ends).toEqual(['REQUEST_TIMEOUT'])
  const leaving = await serve()
  begin(leaving.socket)
  leaving.socket.write('1\r\nx\r\n')
  await until(() => leaving.pieces.length === 1)
  leaving.socket.destroy()
  await until(() => leaving.ends.length === 1)
  expect(leaving.ends).toEqual(['BAD_REQUEST'])
})

test('whoever reads a body may take half a minute for each piece', async () => {
  const { socket, pieces, ends } = await serve()
  socket.write(requestText({ method: 'POST', target: '/slow', headers: [['Transfer-Encoding', 'chunked']] }))
  for (let piece = 1; piece <= 2; piece += 1) {
    socket.write('1\r\nx\r\n')
    await until(() => pieces.length === piece)
  }
  socket.write('0\r\n\r\n')
  await until(() => ends.length === 1)
  expect(ends).toEqual(['whole'])
})

test('a client that is answered early may send on, and is cut off after half a minute of silence', async () => {
  const { socket, received, bytesRead } = await serve()
  socket.write(requestText({ method: 'POST', target: '/refuse', headers: [['Transfer-Encoding', 'chunked']] }))
  socket.write('1\r\nx\r\n')
  await until(() => received().toString().includes('whole'))
  for (let piece = 1; piece <= 3; piece += 1) {
    vi.advanceTimersByTime(SILENCE_MS - 1)
    const before = bytesRead()
    socket.write('1\r\nx\r\n')
    await until(() => bytesRead() > before)
  }
  expect(socket.closed).toBe(false)
  vi.advanceTimersByTime(SILENCE_MS)
  // This is sooner than node:http looks for requests that take too long.
  await expect.poll(() => socket.closed).toBe(true)
})

test.each([
  ['gzip', 'UNSUPPORTED_MEDIA_TYPE'],
  ['identity', 'whole'],
])('the reading of a body with the content coding %s ends with %s', async (coding, end) => {
  const { socket, ends } = await serve()
  begin(socket, ['Content-Encoding', coding])
  socket.write('0\r\n\r\n')
  await until(() => ends.length === 1)
  expect(ends).toEqual([end])
})

test('a client that waits for 100 Continue gets it, others do not', async () => {
  for (const [headers, status] of [
    [[['Expect', '100-Continue']], 100],
    [[['Expect', 'something else']], 200],
    [[], 200],
  ] as const) {
    const { socket, ends, received } = await serve()
    begin(socket, ...headers)
    if (status === 100) await until(() => received().length > 0)
    socket.write('0\r\n\r\n')
    await until(() => ends.length === 1 && received().toString().includes('whole'))
    expect(readAnswers(received()).map((answer) => answer.status)).toEqual(status === 100 ? [100, 200] : [200])
  }
})
