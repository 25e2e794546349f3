// Clients that close their connection after they sent a request, and wait for no answer, as a closing page does.
import { once } from 'node:events'
import { IncomingMessage, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { GatewayRequest } from '../../src/http/request.ts'
import { createBodyReader } from '../../src/http/server/read-body.ts'
import { createHttpServer } from '../../src/http/server/server.ts'
import { startGateway } from '../support/gateway.ts'
import { listenForTest } from '../support/listen-for-test.ts'
import { serverOptions } from '../support/server-options.ts'
import { openSocket, readAnswers, readToEnd, requestText } from '../support/wire.ts'

const MIB = 1_048_576
/** More than begin in one turn. */
const CLIENTS = 100
const RESPONSE = {} as ServerResponse

test.each([
  ['REST', '/logout', (refreshToken: string) => ({ refreshToken })],
  [
    'GraphQL',
    '/graphql',
    (refreshToken: string) => ({ query: `mutation { logout(refreshToken: "${refreshToken}") }` }),
  ],
])('every logout is done, even if a hundred clients send one and close at once, over %s', async (_, target, bodyOf) => {
  const observed: string[] = []
  const observe = ({ path }: GatewayRequest) => void observed.push(path)
  const { url, login, send } = await startGateway({ observers: [observe] })
  const tokens = []
  for (let count = 0; count < CLIENTS; count += 1) tokens.push((await login('ana@example.com')).refreshToken)
  const sockets = await Promise.all(tokens.map(() => openSocket(url)))
  for (const [index, socket] of sockets.entries()) {
    socket.end(
      requestText({
        method: 'POST',
        target,
        headers: [['Content-Type', 'application/json']],
        body: JSON.stringify(bodyOf(tokens[index] ?? '')),
      }),
    )
  }
  await expect.poll(() => observed.filter((path) => path === target).length).toBe(CLIENTS)
  const refreshes = await Promise.all(
    tokens.map((refreshToken) => send('POST', '/token', JSON.stringify({ refreshToken }))),
  )
  expect(new Set(refreshes.map(({ status }) => status))).toEqual(new Set([401]))
})

test('a client that closes its side is answered, although an earlier request of the connection would have been given up', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const server = createHttpServer(async ({ path, onClosed }) => {
    if (path === '/first') onClosed(() => {})
    else await ended
    return { status: 200, headers: {}, body: null }
  }, serverOptions())
  server.on('connection', (socket) => void socket.once('end', () => setImmediate(end)))
  const socket = await openSocket(await listenForTest(server))
  socket.write(requestText({ target: '/first' }))
  await once(socket, 'readable')
  socket.end(requestText({ target: '/second' }))
  expect(readAnswers(await readToEnd(socket))).toHaveLength(2)
})

test('requests that would be given up leave nothing behind on their connection', async () => {
  const listeners: number[] = []
  const server = createHttpServer(async ({ onClosed }) => {
    onClosed(() => {})
    listeners.push(connection?.listenerCount('end') ?? 0)
    return { status: 200, headers: {}, body: null }
  }, serverOptions())
  let connection: Socket | null = null
  server.once('connection', (accepted: Socket) => {
    connection = accepted
  })
  const socket = await openSocket(await listenForTest(server))
  const answers = readToEnd(socket)
  socket.write(requestText({}).repeat(9) + requestText({ headers: [['Connection', 'close']] }))
  expect(readAnswers(await answers)).toHaveLength(10)
  expect(listeners).toEqual(Array(10).fill(listeners[0]))
})

test.each([
  ['before', ['/made', '/waits', '/waits'], 3],
  ['after', ['/made', '/waits', '/waits'], 3],
  ['before', ['/made', '/waits/twice'], 2],
  ['after', ['/made', '/waits/twice'], 2],
  ['before', ['/waits', '/waits'], 0],
  ['after', ['/waits', '/waits'], 0],
] as const)(
  'a client that closes its side %s requests begin to wait behind others gets the answers if one is under way: %j',
  async (when, targets, answers) => {
    const [ended, waiting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let left = targets.length
    const server = createHttpServer(async ({ path, onClosed }) => {
      if (when === 'before') await ended.promise
      if (path.startsWith('/waits')) onClosed(() => {})
      if (path === '/waits/twice') onClosed(() => {})
      left -= 1
      if (left === 0) waiting.resolve()
      await ended.promise
      return { status: 200, headers: {}, body: null }
    }, serverOptions())
    server.on('connection', (socket) => void socket.once('end', () => setImmediate(ended.resolve)))
    const socket = await openSocket(await listenForTest(server))
    socket.write(targets.map((target) => requestText({ target })).join(''))
    if (when === 'after') await waiting.promise
    socket.end()
    expect(readAnswers(await readToEnd(socket))).toHaveLength(answers)
  },
)

test('a request whose client reset its new connection is not handled: no limit would know its network', async () => {
  const networks: string[] = []
  const server = createHttpServer(async ({ client }) => {
    networks.push(client.address)
    return { status: 200, headers: {}, body: null }
  }, serverOptions())
  const closed = Promise.withResolvers<void>()
  server.once('connection', (socket) => void socket.once('close', () => closed.resolve()))
  const url = await listenForTest(server)
  const leaving = await openSocket(url)
  leaving.write(requestText({ method: 'POST' }))
  leaving.resetAndDestroy()
  await closed.promise
  await fetch(url)
  expect(networks).toEqual(['127.0.0.1'])
})

test.each(['before', 'after'])('a handler learns that its client has left, if it asks %s that', async (when) => {
  const [asked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const server = createHttpServer(async ({ onClosed }) => {
    asked.resolve()
    if (when === 'after') await ended
    onClosed(left.resolve)
    await left.promise
    return { status: 200, headers: {}, body: null }
  }, serverOptions())
  const connected = once(server, 'connection') as Promise<[Socket]>
  const ended = connected.then(([connection]) => once(connection, 'end'))
  const closed = once(server, 'request').then(([, response]) => once(response, 'close'))
  const socket = await openSocket(await listenForTest(server))
  socket.write(requestText({}))
  await asked.promise
  socket.destroy()
  await closed
  await left.promise
})

test('a client that closes its side behind its requests gets all answers, long after that, and then the end', async () => {
  const ended = Promise.withResolvers<unknown>()
  async function* streamed() {
    yield Buffer.from('in ')
    yield Buffer.from('pieces')
  }
  const server = createHttpServer(async ({ path }) => {
    await ended.promise
    return { status: 200, headers: {}, body: path === '/streamed' ? streamed() : path }
  }, serverOptions())
  server.once('connection', (connection) => connection.once('end', ended.resolve))
  const socket = await openSocket(await listenForTest(server))
  socket.end(['/first', '/streamed', '/last'].map((target) => requestText({ target })).join(''))
  expect(readAnswers(await readToEnd(socket)).map(({ text }) => text)).toEqual(['/first', 'in pieces', '/last'])
})

test('a body whose client has left before it is read fails as one that broke off', async () => {
  const incoming = new IncomingMessage(new Socket())
  incoming.destroy()
  await expect(createBodyReader(MIB)(incoming, RESPONSE, '192.0.2.1')).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

test('bodies of waiting requests keep their part of the memory until those requests begin', async () => {
  const readBody = createBodyReader(MIB)
  const turn = Promise.withResolvers<void>()
  const receive = (heldUntil?: Promise<void>) => {
    const incoming = new IncomingMessage(new Socket())
    incoming.push(Buffer.alloc(MIB))
    incoming.push(null)
    return readBody(incoming, RESPONSE, '192.0.2.1', MIB, heldUntil)
  }
  for (let count = 0; count < 16; count += 1) await receive(turn.promise)
  await expect(receive()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  turn.resolve()
  await turn.promise
  expect((await receive()).byteLength).toBe(MIB)
})
