// Tests connections that are closed without an answer. Only a metric and the log report them.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createHttpServer } from '../../src/http/server/server.ts'
import type { ServingProcess } from '../support/command-line.ts'
import { ask } from '../support/gateway.ts'
import { listenForTest } from '../support/listen-for-test.ts'
import { serverOptions } from '../support/server-options.ts'
import { exchange, openSocket, readAnswers, readToEnd, requestText } from '../support/wire.ts'
import { serveWatched, sumOf } from './watched.ts'

const REFUSED = 'workspace_gateway_connections_refused_total'

/** Returns the log lines that contain these words, without their time. */
function linesOf({ stderr }: ServingProcess, words: string): readonly object[] {
  const lines = stderr()
    .split('\n')
    .filter((line) => line.includes(words))
  return lines.map((line) => ({ ...JSON.parse(line), time: undefined }))
}

describe.skipIf(process.platform !== 'linux')('with few open files', () => {
  /** Opens 140 connections one after the other. Returns them, and whether each got the answer to this request. */
  async function open140(url: string, request: string, answer: string) {
    const sockets: Socket[] = []
    const answers: boolean[] = []
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    for (let count = 0; count < 140; count += 1) {
      const socket = await openSocket(url)
      sockets.push(socket)
      const isAnswered = new Promise<boolean>((resolve) => {
        socket.once('data', (bytes) => resolve(String(bytes).startsWith(answer)))
        socket.once('close', () => resolve(false))
      })
      socket.write(request)
      answers.push(await isAnswered)
    }
    return { sockets, answers }
  }

  test('connections beyond the open files are closed, counted and logged once, and the admin port still answers', async () => {
    const { serving, adminUrl, metrics } = await serveWatched([], {}, { maxOpenFiles: 128 })
    // The gateway waits for the bodies of these requests.
    const headers = [
      ['Content-Type', 'application/json'],
      ['Content-Length', '9'],
      ['Expect', '100-continue'],
    ] as const
    const request = requestText({ method: 'POST', target: '/login', headers })
    const { sockets, answers } = await open140(serving.url, request, 'HTTP/1.1 100 ')
    // At least half of the files are for clients.
    expect(answers.filter(Boolean)).toHaveLength(64)
    const text = await metrics()
    expect(sumOf(text, REFUSED, { reason: 'tooMany' })).toBe(76)
    expect(sumOf(text, 'process_max_fds')).toBe(128)
    expect(sumOf(text, 'process_open_fds')).toBeGreaterThan(64)
    expect((await ask(`${adminUrl}/readyz`)).status).toBe(200)
    expect(linesOf(serving, 'connections are closed at once')).toEqual([
      { level: 40, count: 1, msg: expect.stringContaining('open files') },
    ])
    for (const socket of sockets) socket.destroy()
    await expect.poll(async () => (await ask(`${serving.url}/healthz`).catch(() => null))?.status).toBe(200)
  })

  test('idle connections give way to new ones, the one that was idle longest first', async () => {
    const { serving, metrics } = await serveWatched([], {}, { maxOpenFiles: 128 })
    const { sockets, answers } = await open140(serving.url, requestText({}), 'HTTP/1.1 200 ')
    expect(answers.filter(Boolean)).toHaveLength(140)
    expect(sumOf(await metrics(), REFUSED, { reason: 'tooMany' })).toBe(0)
    const isOpen = () => sockets.map(({ destroyed, readableEnded }) => !destroyed && !readableEnded)
    await expect.poll(isOpen).toEqual(sockets.map((_, index) => index >= 140 - 63))
  })

  test('a connection on which half of a head has arrived gives way only if the same is true of all others', async () => {
    const { serving } = await serveWatched([], {}, { maxOpenFiles: 128 })
    const request = requestText({})
    const lastRequest = requestText({ headers: [['Connection', 'close']] })
    const begun = await openSocket(serving.url)
    begun.write(request)
    await once(begun, 'data')
    begun.write(lastRequest.slice(0, -2))
    const { sockets, answers } = await open140(serving.url, request, 'HTTP/1.1 200 ')
    expect(answers.filter(Boolean)).toHaveLength(140)
    begun.write(lastRequest.slice(-2))
    expect(readAnswers(await readToEnd(begun))).toHaveLength(1)
    const held = sockets.filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded)
    for (const socket of held) socket.write(request.slice(0, -2))
    // They take the two places that are free, and do not give way.
    const unused = [await openSocket(serving.url), await openSocket(serving.url)]
    onTestFinished(() => {
      for (const socket of unused) socket.destroy()
    })
    const later = await open140(serving.url, request, 'HTTP/1.1 200 ')
    expect(later.answers.filter(Boolean)).toHaveLength(140)
  })
})

test('when all connections are answered at once, one gives way, not several', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  let asked = 0
  const server = createHttpServer(
    async () => {
      asked += 1
      await answered
      return { status: 200, headers: {}, body: null }
    },
    serverOptions({ maxConnections: 20 }),
  )
  const url = await listenForTest(server)
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(url)))
  for (const socket of sockets) socket.write(requestText({}))
  await expect.poll(() => asked).toBe(20)
  const answers = sockets.map((socket) => once(socket, 'data'))
  answer()
  await Promise.all(answers)
  const last = await openSocket(url)
  last.write(requestText({ headers: [['Connection', 'close']] }))
  await readToEnd(last)
  // All but the one that gave way, and the one whose place the last one took.
  const isOpen = () => sockets.filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded)
  expect(isOpen().length).toBeGreaterThanOrEqual(18)
  for (const socket of sockets) socket.destroy()
})

test('a connection on which nothing has been sent gives way to others when the time for headers is over', async () => {
  const server = createHttpServer(
    async () => ({ status: 200, headers: {}, body: null }),
    serverOptions({ maxConnections: 2, headersTimeoutMs: 300 }),
  )
  let overdue = 0
  server.on('clientError', () => {
    overdue += 1
  })
  const url = await listenForTest(server)
  const silent = [await openSocket(url), await openSocket(url)]
  await expect.poll(() => overdue).toBe(2)
  const others = [await openSocket(url), await openSocket(url)]
  const answers = others.map((socket) => once(socket, 'data'))
  for (const socket of others) socket.write(requestText({}))
  for (const [answer] of await Promise.all(answers)) expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
  for (const socket of silent) expect(String(await readToEnd(socket))).toBe('')
  for (const socket of others) socket.destroy()
})

test('a proxy without a PROXY header is counted, and logged once; an empty connection is neither', async () => {
  const flags = ['--proxy-protocol', '--trusted-proxy', '127.0.0.1', '--login-guard', 'none']
  const { serving, metrics } = await serveWatched(flags)
  const look = await openSocket(serving.url)
  look.end()
  await once(look.resume(), 'close')
  for (const bytes of [requestText({}), 'PROXY nonsense\r\n', requestText({})]) {
    expect(await exchange(serving.url, bytes)).toHaveLength(0)
  }
  const cut = await openSocket(serving.url)
  cut.end('PROXY TCP4 ')
  await once(cut.resume(), 'close')
  expect(sumOf(await metrics(), REFUSED, { reason: 'noProxyHeader' })).toBe(4)
  expect(linesOf(serving, 'PROXY header')).toEqual([
    { level: 40, peer: '127.0.0.1', count: 1, msg: expect.stringContaining('do not begin with a PROXY header') },
  ])
})

test('connections whose requests find too many others waiting are closed, counted, and logged once', async () => {
  const { serving, metrics } = await serveWatched([])
  const sockets = await Promise.all(Array.from({ length: 30 }, () => openSocket(serving.url)))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  // Nobody reads the answers, so most of the requests wait.
  for (const socket of sockets) socket.pause().write(requestText({ target: '/openapi.json' }).repeat(1_500))
  const count = async () => sumOf(await metrics(), REFUSED, { reason: 'tooManyAhead' })
  await expect.poll(count).toBeGreaterThan(0)
  expect(linesOf(serving, 'sent ahead')).toEqual([{ level: 40, count: 1, msg: expect.any(String) }])
  for (const socket of sockets) socket.destroy()
  await expect.poll(async () => (await ask(`${serving.url}/openapi.json`).catch(() => null))?.status).toBe(200)
})
