// Tests the memory of long answers whose clients do not read.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import { createHttpServer } from '../../src/http/server/server.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts'
import { listenForTest } from '../support/listen-for-test.ts'
import { serverOptions } from '../support/server-options.ts'
import { exchange, openSocket, readAnswers, requestText, type WireRequest } from '../support/wire.ts'
import { ANA, BEN, documentLine, exportLine } from '../support/workspaces.ts'

const MIB = 1_048_576
const READERS = 12
const texts = (id: string) => Array.from({ length: 60 }, (_, n) => `{"id":"${id}${n}","text":"${TEXT}"}`)
const TEXT = randomBytes(65_536).toString('hex')
const linesOf = (email: string, id: string) => texts(id).map((text) => documentLine('template', email, text))
const WORLD = [...linesOf(ANA, 'a'), ...linesOf(BEN, 'b')].join('')
const GRAPHQL = { method: 'POST', target: '/graphql', body: '{"query":"{ me { templates { data } } }"}' }

async function start(options: TestGatewayOptions = {}): Promise<TestGateway & { readonly accessToken: string }> {
  const gateway = await startGateway(options)
  await gateway.load(WORLD)
  return { ...gateway, accessToken: (await gateway.login(ANA)).accessToken }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

const digestOf = (documents: readonly string[]) => digest(`[${documents.join(',')}]`)

async function digestOfList(gateway: TestGateway, accessToken: string): Promise<string> {
  return digest((await gateway.get('/templates', accessToken)).text)
}

interface Stalled {
  readonly socket: Socket
  readonly status: string
}

/** Sends a request, reads the first bytes, and nothing more. */
async function stall(gateway: TestGateway, accessToken: string, request: WireRequest, coding = ''): Promise<Stalled> {
  const socket = await openSocket(gateway.url)
  onTestFinished(() => {
    socket.destroy()
  })
  const headers = [
    ['Authorization', `Bearer ${accessToken}`],
    ['Accept-Encoding', coding],
    ['Content-Type', 'application/json'],
  ] as const
  socket.write(requestText({ ...request, headers }))
  await once(socket, 'readable')
  const first: Buffer = socket.read(12)
  return { socket, status: first.toString('latin1', 9) }
}

test.each([
  ['a list', { target: '/templates' }, ''],
  ['a compressed list', { target: '/templates' }, 'br'],
  ['GraphQL', GRAPHQL, ''],
] as const)('many clients that do not read the same long answer hold it once: %s', async (_, request, coding) => {
  // Has room for the answer of nearly 8 MB and for what each connection may hold.
  const inFlight = createInFlightBytes(14 * MIB)
  const gateway = await start({ inFlight })
  const { method = 'GET', target, body }: WireRequest & { readonly target: string } = request
  const headers = { authorization: `Bearer ${gateway.accessToken}`, 'content-type': 'application/json' }
  const ask = async () => (await gateway.send(method, target, body, headers)).text
  const alone = digest(await ask())
  const stalled = await Promise.all(
    Array.from({ length: READERS }, () => stall(gateway, gateway.accessToken, request, coding)),
  )
  expect(stalled.map(({ status }) => status)).toEqual(stalled.map(() => '200'))
  expect(inFlight.byteLength()).toBeLessThan(14 * MIB)
  // A later client also gets all of it.
  expect(digest(await ask())).toBe(alone)
  for (const { socket } of stalled) socket.destroy()
  await expect.poll(inFlight.byteLength).toBe(0)
})

test('an answer that is being sent is not reused after a change, nor for another user', async () => {
  const gateway = await start()
  const ben = await gateway.login(BEN)
  await stall(gateway, gateway.accessToken, { target: '/templates' })
  expect(await digestOfList(gateway, ben.accessToken)).toBe(digestOf(texts('b')))
  await gateway.load(documentLine('template', ANA, '{"id":"new"}'))
  expect(await digestOfList(gateway, gateway.accessToken)).toBe(digestOf([...texts('a'), '{"id":"new"}']))
})

test('a large body counts once while many clients do not read it; another body without room gets a 503', async () => {
  const inFlight = createInFlightBytes(24 * MIB)
  const bodies: Readonly<Record<string, Buffer>> = { '/a': randomBytes(16 * MIB), '/b': randomBytes(16 * MIB) }
  const server = createHttpServer(
    async ({ path }) => ({ status: 200, headers: {}, body: bodies[path] ?? '' }),
    serverOptions({ inFlight }),
  )
  const url = await listenForTest(server)
  const clients = await Promise.all([0, 1, 2].map(() => openSocket(url)))
  for (const socket of clients) {
    socket.write(requestText({ target: '/a' }))
    await once(socket, 'readable')
    expect(String(socket.read('HTTP/1.1 200'.length))).toBe('HTTP/1.1 200')
  }
  expect(inFlight.byteLength()).toBe(16 * MIB)
  const request = requestText({ target: '/b', headers: [['Connection', 'close']] })
  expect(readAnswers(await exchange(url, request)).map(({ status }) => status)).toEqual([503])
  for (const socket of clients) socket.destroy()
  await expect.poll(inFlight.byteLength).toBe(0)
  expect(readAnswers(await exchange(url, request)).map(({ status }) => status)).toEqual([200])
})

test('a 503 instead of a body without room keeps the headers that hold for every answer, and no others', async () => {
  const kept = {
    'access-control-allow-origin': 'https://app.example.com',
    'access-control-expose-headers': 'Sunset',
    deprecation: '@1767225600',
    link: '</docs>; rel="deprecation"',
    sunset: 'Fri, 01 Jan 2027 00:00:00 GMT',
    vary: 'Origin',
  }
  const ofBody = { etag: '"big"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' }
  const server = createHttpServer(
    async () => ({ status: 200, headers: { ...kept, ...ofBody }, body: Buffer.alloc(16 * MIB) }),
    serverOptions({ inFlight: createInFlightBytes(4 * MIB) }),
  )
  const { status, headers } = await fetch(await listenForTest(server))
  expect([status, Object.fromEntries(headers)]).toEqual([503, expect.objectContaining(kept)])
  for (const name of Object.keys(ofBody)) expect(headers.has(name), name).toBe(false)
})

test.each([
  ['/templates', {}],
  ['/exports?r=big', {}],
  ['/graphql', { query: '{ me { templates { data } } }' }],
  ['/graphql', { query: '{ me { latestExport(ref: "big") { data } } }' }],
])(
  'a document without room gets a 503 with Retry-After, and is no reported failure: %s %j',
  async (path, {
    query,
  }: {
    query?: string
  }) => {
    const inFlight = createInFlightBytes(8 * MIB)
    const gateway = await startGateway({ cacheBytes: 0, inFlight })
    const big = JSON.stringify({ id: 'big', ref: 'big', text: TEXT.repeat(4) })
    await gateway.load(
      [
        documentLine('project', ANA, '{"id":"big","ref":"big"}'),
        documentLine('template', ANA, big),
        exportLine(ANA, { r: 'big', createdAt: '2026-01-01T00:00:00Z', elements: [big] }),
      ].join(''),
    )
    const { accessToken } = await gateway.login(ANA)
    const asked = () => (query === undefined ? gateway.get(path, accessToken) : gateway.graphql(query, { accessToken }))
    const others = inFlight.open()
    others.require(8 * MIB)
    const { status, text, headers } = await asked()
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    expect(text).toContain('"UNAVAILABLE"')
    expect(gateway.reported).toEqual([])
    others[Symbol.dispose]()
    const answer = await asked()
    expect(answer.status).toBe(200)
    expect(answer.text).toContain(big)
  },
)
