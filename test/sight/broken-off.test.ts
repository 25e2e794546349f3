// Tests responses that break off: each is logged with its cause and the bytes that were sent, and counted.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createBrokenOffReport } from '../../src/cli/log.ts'
import { runHere, type Serving } from '../support/command-line.ts'
import { openSession } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { logInMemory } from '../support/log-in-memory.ts'
import { POSTGRES_DIRECTORY, temporaryServer } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openSocket, requestText } from '../support/wire.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'
import { startWatchedHere, sumOf } from './watched.ts'

/** Far more than the kernel buffers for a connection. */
const ELEMENTS = Array.from(
  { length: 400 },
  (_, n) => `{"path":"f${n}","content":"${randomBytes(32_768).toString('hex')}"}`,
)
const WORLD = [
  documentLine('project', ANA, '{"id":"secret-name"}'),
  exportLine(ANA, { r: 'secret-name', createdAt: '2026-01-01T00:00:00Z', elements: ELEMENTS }),
].join('')
const BODY_BYTES = Buffer.byteLength(`[${ELEMENTS.join(',')}]`)

async function serveExport(database: string, more: readonly string[] = []) {
  expect((await runHere(['import', '-', '--database', database], { stdin: WORLD })).exitCode).toBe(0)
  const flags = [...more, '--log-level', 'debug', '--send-timeout', '1']
  const { serving, metrics } = await startWatchedHere(flags, database)
  const { accessToken } = await openSession(serving.url, ANA)
  const count = async (reason: string) =>
    sumOf(await metrics(), 'workspace_gateway_responses_broken_off_total', { reason })
  return { serving, accessToken, metrics, count }
}

/** Requests the export and reads no more than its first bytes. */
async function begin({ url }: Serving, accessToken: string): Promise<Socket> {
  const socket = await openSocket(url)
  onTestFinished(() => {
    socket.destroy()
  })
  const headers = [
    ['Authorization', `Bearer ${accessToken}`],
    ['Accept-Encoding', 'identity'],
  ] as const
  socket.pause()
  socket.write(requestText({ target: '/exports?r=secret-name', headers }))
  await once(socket, 'readable')
  return socket
}

/** Returns the log lines about responses that broke off, without their time. */
function linesOf({ stderr }: Serving) {
  const lines = stderr()
    .split('\n')
    .filter((line) => line.includes('a response broke off'))
  for (const line of lines) expect(line).not.toContain('secret-name')
  return lines.map((line) => {
    const { time: _, ...told } = JSON.parse(line)
    return told
  })
}

function expectPart(sentBytes: number): void {
  expect(sentBytes).toBeGreaterThan(0)
  expect(sentBytes).toBeLessThan(BODY_BYTES)
}

const ABOUT = { method: 'GET', path: '/exports', status: 200, sentBytes: expect.any(Number) }

test('a response to a client that left or did not read is logged with the bytes sent, and counted', async () => {
  const { serving, accessToken, count } = await serveExport(`file:${temporaryDirectory()}/workspace.db`)
  for (const leaving of [1, 2]) {
    ;(await begin(serving, accessToken)).destroy()
    await expect.poll(() => count('left')).toBe(leaving)
  }
  await begin(serving, accessToken)
  await expect.poll(() => count('stalled')).toBe(1)
  await expect.poll(() => linesOf(serving)).toHaveLength(3)
  const lines = linesOf(serving)
  expect(lines).toEqual([
    { level: 20, ...ABOUT, count: 1, msg: 'a response broke off: the client closed its connection' },
    { level: 20, ...ABOUT, count: 2, msg: 'a response broke off: the client closed its connection' },
    { level: 40, ...ABOUT, count: 1, msg: 'a response broke off: the client did not read it in time' },
  ])
  for (const { sentBytes } of lines) expectPart(sentBytes)
  expect([await count('left'), await count('stalled'), await count('failed')]).toEqual([2, 1, 0])
})

test('clients that leave before the answer are counted, and the request log marks each request', async () => {
  const flags = ['--access-log', 'json']
  const { serving, accessToken, metrics, count } = await serveExport(`file:${temporaryDirectory()}/workspace.db`, flags)
  const route = { http_route: '/exports' }
  const headers = [['Authorization', `Bearer ${accessToken}`]] as const
  const visitors = 40
  for (let visitor = 0; visitor < visitors; visitor += 1) {
    const socket = await openSocket(serving.url)
    socket.end(requestText({ target: '/exports?r=secret-name', headers }), () => socket.destroy())
  }
  const requests = async () => sumOf(await metrics(), 'http_server_request_duration_seconds_count', route)
  await expect.poll(requests).toBe(visitors)
  await expect.poll(() => count('left')).toBe(visitors)
  await serving.kill('SIGTERM')
  const lines = serving
    .stderr()
    .split('\n')
    .filter((line) => line.includes('"route":"/exports"'))
  expect(lines.filter((line) => line.includes('"brokenOff":true'))).toHaveLength(visitors)
})

test('a GraphQL request that its client aborts at any point is counted and logged, and is no failure', async () => {
  const flags = ['--access-log', 'json']
  const { serving, accessToken, metrics, count } = await serveExport(`file:${temporaryDirectory()}/workspace.db`, flags)
  const headers = [
    ['Authorization', `Bearer ${accessToken}`],
    ['Content-Type', 'application/json'],
    ['Accept-Encoding', 'identity'],
  ] as const
  const body = JSON.stringify({ query: 'query Everything { me { projects { exports { data } } } }' })
  const request = requestText({ method: 'POST', target: '/graphql', headers, body })
  const requests = async () =>
    sumOf(await metrics(), 'http_server_request_duration_seconds_count', { http_route: '/graphql' })
  const lines = () => serving.stderr().match(/^.*"route":"\/graphql".*$/gm) ?? []

  const [asking, waiting, reading] = await Promise.all([1, 2, 3].map(() => openSocket(serving.url)))
  asking?.end(request.slice(0, -10), () => asking.destroy())
  await expect.poll(() => count('left')).toBe(1)
  waiting?.end(request, () => waiting.destroy())
  await expect.poll(() => count('left')).toBe(2)
  reading?.pause().write(request)
  if (reading) await once(reading, 'readable')
  reading?.destroy()
  await expect.poll(() => count('left')).toBe(3)
  await expect.poll(requests).toBe(3)
  expect(sumOf(await metrics(), 'workspace_gateway_malformed_requests_total')).toBe(0)

  await expect.poll(lines).toHaveLength(3)
  const [unasked, unanswered, unread] = lines().map((line) => JSON.parse(line))
  for (const line of [unasked, unanswered, unread]) expect(line).toMatchObject({ method: 'POST', brokenOff: true })
  expect(unasked).toMatchObject({ status: 400, code: 'BAD_REQUEST', bytes: 0 })
  expect(unanswered).toMatchObject({ status: 200, operation: 'Everything' })
  expect(unread).toMatchObject({ status: 200, operation: 'Everything' })
  expectPart(unread.bytes)
  const told = linesOf(serving).map(({ method, path, msg }) => `${method} ${path}: ${msg}`)
  const left = 'POST /graphql: a response broke off: the client closed its connection'
  expect(told).toEqual([left, left, left])
  expect(serving.stderr()).not.toContain('a request failed')
  expect([await count('stalled'), await count('failed')]).toEqual([0, 0])
})

test('a client that leaves without sending the rest after it was refused has not left early', async () => {
  const { serving } = await startWatchedHere(['--access-log', 'json', '--log-level', 'debug'])
  const socket = await openSocket(serving.url)
  socket.write(
    `POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n${'x'.repeat(1_000)}`,
  )
  let text = ''
  while (!text.endsWith('"}')) text += (await once(socket, 'data'))[0]
  expect(text).toMatch(/^HTTP\/1\.1 413 /)
  socket.destroy()
  const refusals = () => serving.stderr().match(/^.*"status":413.*$/gm) ?? []
  await expect.poll(refusals).toHaveLength(1)
  expect(refusals()[0]).toContain('"route":"/login"')
  expect(refusals()[0]).not.toContain('brokenOff')
  await serving.kill('SIGTERM')
  expect(refusals()).toHaveLength(1)
  expect(linesOf(serving).filter(({ path }) => path === '/login')).toEqual([])
})

test('malformed requests are counted by the reason of the refusal, and nowhere else', async () => {
  const { serving, metrics } = await startWatchedHere()
  const texts = [
    'BLAH\r\n\r\n',
    'GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n',
    `GET / HTTP/1.1\r\na: ${'x'.repeat(70_000)}\r\n\r\n`,
  ]
  const total = async () => sumOf(await metrics(), 'http_server_request_duration_seconds_count')
  const before = await total()
  for (const text of texts) {
    const socket = await openSocket(serving.url)
    socket.write(text)
    socket.resume()
    await once(socket, 'close')
  }
  const refused = async (code: string) => sumOf(await metrics(), 'workspace_gateway_malformed_requests_total', { code })
  expect([await refused('BAD_REQUEST'), await refused('HEADERS_TOO_LARGE')]).toEqual([2, 1])
  expect(await total()).toBe(before)
})

describe.skipIf(POSTGRES_DIRECTORY === null)('a response that breaks off because the database went away', () => {
  test('is logged with its cause', async () => {
    const server = await temporaryServer()
    const { serving, accessToken, count } = await serveExport(server.url('postgres'))
    const socket = await begin(serving, accessToken)
    await server.crash()
    socket.resume()
    await once(socket, 'close')
    await expect.poll(() => count('failed')).toBe(1)
    await expect.poll(() => linesOf(serving)).toHaveLength(1)
    const [line] = linesOf(serving)
    expect(line).toMatchObject({
      level: 50,
      ...ABOUT,
      count: 1,
      msg: 'a response broke off: the rest of it could not be produced',
      err: { name: 'StoreUnavailableError', message: 'no database server that accepts writes can be reached' },
    })
    expectPart(line.sentBytes)
    expect(await count('left')).toBe(0)
  })
})

test('responses that clients do not read get one log line a minute, with no more of the request than a path', () => {
  const { log, written } = logInMemory()
  let now = 0
  const report = createBrokenOffReport(log, () => now)
  const event = { reason: 'stalled', method: 'GET', status: 200, sentBytes: 1 } as const
  const path = `http://${'a'.repeat(15_000)}/exports/ana@example.com/${'b'.repeat(15_000)}`
  for (let at = 0; at < 1_000; at += 1) report({ ...event, path })
  now = 60_000
  report({ ...event, path: '/openapi.json' })
  report({ ...event, reason: 'failed', path: '/exports' })
  report({ ...event, reason: 'failed', path: '/exports' })
  const lines = jsonLines(written())
  expect(lines.map(({ path: told, count }) => [told.slice(0, 18), count])).toEqual([
    ['[email]', 1],
    ['/openapi.json', 1_001],
    ['/exports', 1],
    ['/exports', 2],
  ])
  expect(written().length).toBeLessThan(2_000)
})
