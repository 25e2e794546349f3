// The memory that bodies take while they are received, in whatever pieces and on however many connections they come.
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import type { Handler } from '../../src/http/handler.ts'
import { withAdmission } from '../../src/http/limits/with-admission.ts'
import { toProblem } from '../../src/http/problem-details.ts'
import { requestIdOf } from '../../src/http/request-id.ts'
import { createHttpServer } from '../../src/http/server/server.ts'
import { liveBytes } from '../support/live-bytes.ts'
import { serverOptions } from '../support/server-options.ts'
import { openSocket, readAnswers, readToEnd, requestText } from '../support/wire.ts'

const MIB = 1_048_576

interface Beginning {
  readonly method?: string
  readonly from?: string
  readonly coding?: string
  readonly accept?: string
}

/** More than the kernel buffers for a connection. */
async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield new Uint8Array(65_536)
}

/** Answers with the body, and to a GET with a body that does not end. */
const echo: Handler = async ({ method, body }) => ({
  status: 200,
  headers: {},
  body: method === 'GET' ? endless() : await body(),
})

/** `received` is the number of bytes that came on all connections. */
async function serve(handle: Handler = echo, bodyLimitBytes = MIB) {
  const server = createHttpServer(
    (request) => handle(request).catch((error) => toProblem(error, () => {}, requestIdOf(request))),
    serverOptions({ trustedProxies: ['127.0.0.1'], bodyLimitBytes }),
  )
  const connections: Socket[] = []
  server.on('connection', (connection) => connections.push(connection))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clients: Socket[] = []
  onTestFinished(() => {
    for (const client of clients) client.destroy()
    server.close()
  })
  return {
    url,
    received: () => connections.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    /** Begins a request, and sends this part of its body. */
    async begin(
      framing: readonly [name: string, value: string],
      part: string,
      { method = 'POST', from = '192.0.2.1', coding, accept }: Beginning = {},
    ): Promise<Socket> {
      const client = await openSocket(url)
      clients.push(client)
      const codings = coding === undefined ? [] : [['Content-Encoding', coding] as const]
      const accepts = accept === undefined ? [] : [['Accept', accept] as const]
      const fixed = [framing, ['X-Forwarded-For', from] as const, ['Connection', 'close'] as const]
      const headers = [...fixed, ...codings, ...accepts]
      client.write(requestText({ method, headers }))
      client.write(part)
      return client
    },
  }
}

function lettersInChunks(length: number) {
  const text = Array.from({ length }, (_, index) => String.fromCharCode(97 + (index % 26))).join('')
  return { text, chunks: text.replace(/./g, '1\r\n$&\r\n') }
}

test('a body in pieces of one byte takes less than 8 MiB of memory, and is whole', async () => {
  const { begin, received } = await serve()
  const { text, chunks } = lettersInChunks(200_000)
  const before = await liveBytes()
  const client = await begin(['Transfer-Encoding', 'chunked'], chunks)
  await expect.poll(received).toBeGreaterThan(chunks.length)
  await expect.poll(async () => (await liveBytes()) - before).toBeLessThan(8 * MIB)
  client.write('0\r\n\r\n')
  const [answer] = readAnswers(await readToEnd(client))
  expect(answer?.status).toBe(200)
  expect(answer?.text === text).toBe(true)
})

/** The largest number that was added to the count in one turn of the event loop. Call the result to stop. */
function largestStep(count: () => number): () => number {
  let [before, largest] = [count(), 0]
  let next = setImmediate(function look() {
    const now = count()
    largest = Math.max(largest, now - before)
    before = now
    next = setImmediate(look)
  })
  return () => {
    clearImmediate(next)
    return largest
  }
}

test.each([
  ['a body in pieces of one byte', 'POST', 200, 1],
  ['a body in pieces of one byte that nobody reads', 'PUT', 405, 1],
  ['many such bodies on a connection', 'POST', 200, 50],
  ['many such bodies that nobody reads', 'PUT', 405, 50],
])('of %s, a turn reads no more than 64 KiB', async (_, method, status, count) => {
  const { url, received } = await serve((request) =>
    request.method === 'POST' ? echo(request) : Promise.reject(new GatewayError('METHOD_NOT_ALLOWED', { allow: '' })),
  )
  const { text, chunks } = lettersInChunks(30_000 / count)
  const request = requestText({ method, headers: [['Transfer-Encoding', 'chunked']] })
  const last = requestText({ method, headers: [['Connection', 'close']] })
  const clients = await Promise.all([openSocket(url), openSocket(url)])
  const step = largestStep(received)
  for (const client of clients) client.write(`${request}${chunks}0\r\n\r\n`.repeat(count) + last)
  const answers = await Promise.all(clients.map(async (client) => readAnswers(await readToEnd(client))))
  expect(step()).toBeLessThanOrEqual(2 * 65_536)
  expect(new Set(answers.flat().map((answer) => answer.status))).toEqual(new Set([status]))
  if (status === 200) expect(new Set(answers.flat().map((answer) => answer.text))).toEqual(new Set([text, '']))
})

test.each(['identity', 'Identity', 'IDENTITY', ''])(
  'a body with the content coding "%s" is not coded',
  async (coding) => {
    const { begin } = await serve()
    const body = 'x'.repeat(10)
    const client = await begin(['Content-Length', '10'], body, { coding })
    expect(readAnswers(await readToEnd(client)).map(({ status, text }) => [status, text])).toEqual([[200, body]])
  },
)

test('slow bodies on many connections fill no more than their part of the memory, and small bodies pass', async () => {
  const { begin, received } = await serve()
  const slow = 'x'.repeat(MIB - 1)
  const before = await liveBytes()
  const open = []
  for (let count = 0; count < 100; count += 1) {
    open.push(await begin(['Content-Length', String(MIB)], slow, { from: `192.0.2.${count}` }))
  }
  await expect.poll(received).toBeGreaterThan(100 * slow.length)
  // What was received of the refused bodies is given up a moment later.
  await expect.poll(async () => (await liveBytes()) - before).toBeLessThan(68 * MIB)
  const small = await begin(['Content-Length', '16000'], 'y'.repeat(16_000))
  expect(readAnswers(await readToEnd(small))[0]?.status).toBe(200)

  for (const client of open) client.write('x')
  const answers = await Promise.all(open.map(async (client) => readAnswers(await readToEnd(client))))
  const refused = answers.flat().filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(30)
  expect(refused.length).toBeLessThan(70)
  for (const { status, text, headers } of refused) {
    expect([status, JSON.parse(text).code, headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', '1'])
    expect(text).not.toContain('xxx')
  }
  // A body that was received gives its room back.
  const later = await begin(['Content-Length', String(MIB)], `${slow}x`)
  expect(readAnswers(await readToEnd(later))[0]?.status).toBe(200)
})

test('slow bodies of one network leave room for the bodies of other networks', async () => {
  const { begin, received } = await serve()
  const slow = 'x'.repeat(MIB - 1)
  for (let count = 0; count < 70; count += 1) await begin(['Content-Length', String(MIB)], slow)
  await expect.poll(received).toBeGreaterThan(70 * slow.length)
  const other = await begin(['Content-Length', String(MIB)], `${slow}x`, { from: '198.51.100.1' })
  expect(readAnswers(await readToEnd(other))[0]?.status).toBe(200)
  const same = await begin(['Content-Length', String(MIB)], `${slow}x`)
  expect(readAnswers(await readToEnd(same))[0]?.status).toBe(503)
})

test('a large answer without room in memory is 503, even if the body of its request has yet to come', async () => {
  const options = serverOptions()
  const inFlight = Object.assign(Object.create(options.inFlight), {
    open() {
      throw new GatewayError('UNAVAILABLE')
    },
  })
  const server = createHttpServer(async () => ({ status: 200, headers: {}, body: new Uint8Array(MIB) }), {
    ...options,
    inFlight,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = await openSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  client.write(requestText({ method: 'GET', headers: [['Content-Length', '1']] }))
  const [head] = (await once(client, 'data')) as [Buffer]
  expect(head.toString()).toMatch(/^HTTP\/1\.1 503 /)
})

test('the body of a GET takes no memory while its long answer is not read', async () => {
  const { begin, received } = await serve()
  const chunks = '1\r\nx\r\n'.repeat(60_000)
  const before = await liveBytes()
  for (let count = 0; count < 4; count += 1) await begin(['Transfer-Encoding', 'chunked'], chunks, { method: 'GET' })
  await expect.poll(received).toBeGreaterThan(4 * chunks.length)
  await expect.poll(async () => (await liveBytes()) - before).toBeLessThan(8 * MIB)
})

test('the received part of a body that is too large is released while the rest is awaited', async () => {
  const { begin, received } = await serve()
  const chunk = `100001\r\n${'x'.repeat(MIB + 1)}\r\n`
  const before = await liveBytes()
  for (let count = 1; count <= 20; count += 1) {
    await begin(['Transfer-Encoding', 'chunked'], chunk, { from: `192.0.2.${count}` })
    await expect.poll(received).toBeGreaterThan(count * chunk.length)
  }
  await expect.poll(async () => (await liveBytes()) - before).toBeLessThan(8 * MIB)
})

test('a client that sends on without end after its answer is cut off after 64 MiB', async () => {
  const { begin, received } = await serve()
  const chunk = `100000\r\n${'x'.repeat(MIB)}\r\n`
  const client = await begin(['Transfer-Encoding', 'chunked'], chunk + chunk)
  const [head] = (await once(client, 'data')) as [Buffer]
  expect(head.toString()).toMatch(/^HTTP\/1\.1 413 /)
  while (!client.closed && received() < 80 * MIB) await new Promise((taken) => client.write(chunk, taken))
  expect(received()).toBeGreaterThan(64 * MIB)
  expect(received()).toBeLessThan(80 * MIB)
})

test('a client that is answered before its body is whole and then sends nothing gives its memory back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const endpoint = withAdmission(
    {
      method: 'POST',
      path: '/',
      bodyLimitBytes: Number.POSITIVE_INFINITY,
      async handle(request) {
        if (request.header('accept') === 'image/png') throw new GatewayError('NOT_ACCEPTABLE')
        return echo(request)
      },
    },
    { isQueueOfFew: () => false, turn: () => 1, tryBegin: () => true, wait: async () => 'begins' },
    () => ({ name: '', isKnown: false }),
  )
  const { begin, received } = await serve(endpoint.handle, 16 * MIB)
  const silent = await begin(['Content-Length', String(16 * MIB)], 'x'.repeat(14 * MIB), { accept: 'image/png' })
  const [head] = (await once(silent, 'data')) as [Buffer]
  expect(head.toString()).toMatch(/^HTTP\/1\.1 406 /)
  await expect.poll(received).toBeGreaterThan(14 * MIB)
  const send = async () => {
    const client = await begin(['Content-Length', String(4 * MIB)], 'y'.repeat(4 * MIB))
    return readAnswers(await readToEnd(client))[0]?.status
  }
  expect(await send()).toBe(503)
  vi.advanceTimersByTime(30_000)
  if (!silent.closed) await once(silent, 'close')
  expect(await send()).toBe(200)
})
