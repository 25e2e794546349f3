// Compressed answers: which content coding a client gets, the entity tags, and that the content stays the same.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { bearer, startGateway, type TestGateway, type TestGatewayOptions } from './support/gateway.ts'
import { execute, POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'
import { openRead, type RawAnswer, type RawRequest, rawRead } from './support/raw-read.ts'
import { openSqliteShell } from './support/sqlite-shell.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

const CODINGS = ['zstd', 'br', 'gzip'] as const
const WORDS = 'the same words over and over, 1.0 and 12345678901234567890 among them, é and 😀 too; '
const TEMPLATES = Array.from({ length: 30 }, (_, n) => `{ "id":"t${n}","words":"${WORDS.repeat(5)}","n":1.0 }`)
const FILES = Array.from({ length: 2_000 }, (_, n) => `{"path":"f${n}","content":"${WORDS.repeat(6)}"}`)

/** Ana has much of everything; her app is small. */
const WORLD = [
  SMALL_WORLD,
  ...TEMPLATES.map((text) => documentLine('template', ANA, text)),
  exportLine(ANA, { r: 'app', createdAt: '2026-01-01T00:00:00Z', elements: FILES.slice(0, 20) }),
  documentLine('project', ANA, '{"id":"large"}'),
  exportLine(ANA, { r: 'large', createdAt: '2026-01-01T00:00:00Z', elements: FILES }),
].join('')

interface Reader {
  readonly gateway: TestGateway
  readonly read: (path: string, headers?: Record<string, string>, options?: RawRequest) => Promise<RawAnswer>
  readonly accessToken: string
}

async function startReading(world = WORLD, options: TestGatewayOptions = {}): Promise<Reader> {
  const gateway = await startGateway(options)
  await gateway.load(world)
  const { accessToken } = await gateway.login(ANA)
  return {
    gateway,
    accessToken,
    read: (path, headers = {}, rest = {}) =>
      rawRead(`${gateway.url}${path}`, { ...rest, headers: { ...bearer(accessToken), ...headers } }),
  }
}

const READS = ['/templates', '/exports?r=app', '/exports?r=large'] as const

test('the content coding is the one that the client prefers of those it accepts', async () => {
  const { read } = await startReading()
  const rows: readonly (readonly [header: string | undefined, coding: string | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['deflate', undefined],
    ['gzip', 'gzip'],
    ['GZip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br', 'br'],
    ['zstd', 'zstd'],
    ['gzip, deflate', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip;q=1, br;q=0.5, zstd;q=0.499', 'gzip'],
    ['gzip ; q=0.2 , br ; Q=0.3', 'br'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.000, br;q=0.001', 'br'],
    ['gzip;q=.5, br;q=.4, identity;q=0.0001', 'gzip'],
    ['zstd;q=0, *', 'gzip'],
    ['*', 'gzip'],
    ['*;q=0, gzip', 'gzip'],
    ['*;q=0, identity', undefined],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['gzip;q=0.5, identity', undefined],
    ['gzip;q=0.5, identity;q=0.5', 'gzip'],
    ['gzip;q=2, br;q=nothing', undefined],
    ['gzip;q=0.5;level=9, , ;;, br', 'br'],
    [`${'x, '.repeat(99)}gzip`, 'gzip'],
  ]
  for (const path of READS) {
    const plain = await read(path)
    for (const [header, coding] of rows) {
      const answer = await read(path, header === undefined ? {} : { 'accept-encoding': header })
      const name = `${path} ${header}`
      expect([answer.status, answer.headers['content-encoding']], name).toEqual([200, coding])
      expect(answer.text === plain.text, name).toBe(true)
      expect(answer.headers.vary, name).toBe('Authorization, Accept-Encoding')
      expect(answer.headers['content-type'], name).toBe('application/json; charset=utf-8')
    }
  }
})

test('a client that accepts no available coding gets 406', async () => {
  const { read } = await startReading()
  for (const header of ['identity;q=0', '*;q=0', 'identity;q=0, gzip;q=0, deflate', '*;q=0.0, deflate']) {
    for (const path of READS) {
      const { status, headers, text } = await read(path, { 'accept-encoding': header })
      expect([status, headers['content-encoding'], JSON.parse(text).code], header).toEqual([
        406,
        undefined,
        'NOT_ACCEPTABLE',
      ])
    }
  }
})

test('a body is compressed if that pays, and has a Content-Length once its length is known', async () => {
  const { read } = await startReading()
  for (const coding of CODINGS) {
    for (const path of READS) {
      const plain = await read(path)
      // The first answer, and what was kept of it.
      for (let round = 0; round < 3; round += 1) {
        const { headers, bytes } = await read(path, { 'accept-encoding': coding })
        expect(bytes.byteLength).toBeLessThan(plain.bytes.byteLength / 5)
        // The first answer for a large export is sent while it is compressed.
        const isKnown = path !== '/exports?r=large' || round > 0
        expect(headers['content-length']).toBe(isKnown ? String(bytes.byteLength) : undefined)
      }
    }
    const small = await read('/ui-libraries', { 'accept-encoding': coding })
    expect([small.headers['content-encoding'], small.text]).toEqual([undefined, '[{"id":"u1","name":"Buttons"}]'])
    // However small, it is compressed if the client wants that.
    const forced = await read('/ui-libraries', { 'accept-encoding': `${coding}, identity;q=0` })
    expect([forced.headers['content-encoding'], forced.text]).toEqual([coding, small.text])
  }
})

test('each coding has its own strong entity tag, good for a 304 while the client accepts the coding', async () => {
  const { gateway, read } = await startReading()
  for (const path of READS) {
    const tags = new Map<string, string>()
    for (const coding of [...CODINGS, 'identity']) {
      const { headers } = await read(path, { 'accept-encoding': coding })
      expect(headers.etag).toMatch(/^"[^"]+"$/)
      tags.set(coding, headers.etag ?? '')
    }
    expect(new Set(tags.values()).size).toBe(4)
    for (const [coding, tag] of tags) {
      const answered = async (acceptEncoding: string | undefined, ifNoneMatch: string) => {
        const accept = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }
        const { status, headers, bytes } = await read(path, { ...accept, 'if-none-match': ifNoneMatch })
        expect(bytes.byteLength > 0).toBe(status === 200)
        return `${status} ${headers.etag}`
      }
      for (const accept of [coding, undefined, `gzip, br, zstd;q=0.1`]) {
        for (const header of [tag, `W/${tag}`, `"other", W/${tag} , "more"`]) {
          expect(await answered(accept, header), `${coding} ${accept} ${header}`).toBe(`304 ${tag}`)
        }
      }
      // The client cannot hold a form that it could not read.
      const other = coding === 'gzip' ? 'br' : 'gzip'
      expect(await answered(`${other}, ${coding};q=0`, tag)).toBe(`200 ${tags.get(other)}`)
      expect(await answered(coding, '*')).toMatch(/^304 /)
      expect(await answered(coding, `"${tag.slice(1, -1)}x"`)).toBe(`200 ${tag}`)
      expect((await gateway.get(path, undefined, { 'if-none-match': tag })).status).toBe(401)
    }
  }
})

test('HEAD has the headers of GET, and no body', async () => {
  const { read } = await startReading()
  for (const coding of [...CODINGS, 'identity']) {
    for (const path of READS) {
      const head = await read(path, { 'accept-encoding': coding }, { method: 'HEAD' })
      const get = await read(path, { 'accept-encoding': coding })
      const again = await read(path, { 'accept-encoding': coding }, { method: 'HEAD' })
      expect([head.status, head.bytes.byteLength]).toEqual([200, 0])
      for (const name of ['content-encoding', 'etag', 'vary', 'content-type', 'cache-control']) {
        expect([name, head.headers[name], again.headers[name]]).toEqual([name, get.headers[name], get.headers[name]])
      }
      if (get.headers['content-length']) expect(again.headers['content-length']).toBe(get.headers['content-length'])
      expect([undefined, String(get.bytes.byteLength)]).toContain(again.headers['content-length'])
    }
  }
})

test('tokens and failures are never compressed', async () => {
  const { gateway, accessToken } = await startReading()
  const { refreshToken } = await gateway.login(ANA)
  const json = { 'content-type': 'application/json', 'accept-encoding': 'identity;q=0, gzip, br, zstd' }
  const graphql = (query: string) => ({ method: 'POST', headers: json, body: JSON.stringify({ query }) })
  const aliases = Array.from({ length: 60 }, (_, n) => `a${n}: accessToken`).join(' ')
  const rows: readonly (readonly [path: string, request: RawRequest, status: number])[] = [
    ['/login', { method: 'POST', headers: json, body: JSON.stringify({ email: ANA }) }, 200],
    ['/token', { method: 'POST', headers: json, body: JSON.stringify({ refreshToken }) }, 200],
    ['/logout', { method: 'DELETE', headers: json, body: JSON.stringify({ refreshToken }) }, 200],
    ['/graphql', graphql(`mutation { login(email: "${ANA}") { refreshToken ${aliases} } }`), 200],
    ['/graphql', graphql('{ me { nothing } }'), 200],
    ['/templates', { headers: json }, 401],
    ['/exports?r=none', { headers: { ...json, ...bearer(accessToken) } }, 404],
    ['/nowhere', { headers: json }, 404],
  ]
  for (const [path, request, status] of rows) {
    const answer = await rawRead(`${gateway.url}${path}`, request)
    expect([path, answer.status, answer.headers['content-encoding']]).toEqual([path, status, undefined])
    expect(() => JSON.parse(answer.text)).not.toThrow()
  }
})

test('GraphQL answers for signed-in users are compressed, with the same content', async () => {
  const { gateway, accessToken } = await startReading()
  const ask = (query: string, headers: Record<string, string>) =>
    rawRead(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: JSON.stringify({ query }),
    })
  for (const query of ['{ me { templates { id data } } }', '{ me { latestExport(ref: "large") { data } } }']) {
    const plain = await ask(query, bearer(accessToken))
    expect(plain.headers['content-encoding']).toBeUndefined()
    for (const coding of CODINGS) {
      for (let round = 0; round < 3; round += 1) {
        const answer = await ask(query, { ...bearer(accessToken), 'accept-encoding': coding })
        expect([answer.status, answer.headers['content-encoding']]).toEqual([200, coding])
        expect(answer.headers.vary).toBe('Accept, Authorization, Accept-Encoding')
        expect(answer.text === plain.text).toBe(true)
      }
    }
  }
  const stranger = await ask('{ __schema { types { name description } } }', { 'accept-encoding': 'gzip' })
  expect([stranger.status, stranger.headers['content-encoding']]).toEqual([200, undefined])
})

test.each([
  ['short', ['{ me { templates { data } } }', '{ me { templates { id data } } }']],
  ['long', ['{ me { latestExport(ref: "large") { data } } }', '{ me { latestExport(ref: "large") { ref data } } }']],
] as const)('%s GraphQL answers in one state are each compressed from their own bytes', async (_, queries) => {
  const { gateway, accessToken } = await startReading()
  const ask = async (query: string, coding: string) => {
    const headers = { ...bearer(accessToken), 'content-type': 'application/json', 'accept-encoding': coding }
    const request = { method: 'POST', headers, body: JSON.stringify({ query }) }
    return (await rawRead(`${gateway.url}/graphql`, request)).text
  }
  const plain = await Promise.all(queries.map((query) => ask(query, 'identity')))
  for (const coding of [...CODINGS, ...CODINGS]) {
    const answers = await Promise.all(queries.map((query) => ask(query, coding)))
    expect(answers.map((text, at) => text === plain[at])).toEqual([true, true])
  }
})

test('a change by another process is in the next answer, whatever was cached compressed', async () => {
  for (const cacheBytes of [0, 1_048_576]) {
    const { gateway, read } = await startReading(WORLD, { cacheBytes })
    const shell = openSqliteShell(gateway.databasePath)
    const seen = new Set<string>()
    for (let round = 0; round < 10; round += 1) {
      const text = `{"id":"t1","round":${round},"words":"${WORDS.repeat(5)}"}`
      await shell.run(`update document set text = '${text}' where id = 't1' and kind = 'template'`)
      for (const coding of [...CODINGS, ...CODINGS]) {
        const answer = await read('/templates', { 'accept-encoding': coding })
        expect(answer.text).toContain(text)
        seen.add(`${coding} ${answer.headers.etag}`)
      }
    }
    expect(seen.size).toBe(30)
    await shell.run(`delete from export where ref = 'large'`)
    expect((await read('/exports?r=large', { 'accept-encoding': 'gzip' })).status).toBe(404)
  }
})

test('a change is in the next long GraphQL answer, whatever was cached compressed', async () => {
  const { gateway, accessToken } = await startReading()
  const query = '{ me { templates { data } latestExport(ref: "large") { data } } }'
  const headers = { ...bearer(accessToken), 'accept-encoding': 'gzip', 'content-type': 'application/json' }
  const ask = () => rawRead(`${gateway.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })
  for (const round of [1, 2]) {
    const text = `{"id":"t1","round":${round}}`
    await gateway.load(documentLine('template', ANA, text))
    const [answer, cached] = [await ask(), await ask()]
    expect(answer.text.length).toBeGreaterThan(1_048_576)
    expect(answer.text).toContain(text)
    expect(cached.text === answer.text).toBe(true)
    // Only a compressed copy from the cache has a length that is known before it is sent.
    expect([answer, cached].map((one) => one.headers['content-length'] !== undefined)).toEqual([false, true])
  }
})

test('an answer that is cached compressed for one user is never sent to another', async () => {
  const { gateway, read } = await startReading()
  await read('/exports?r=large', { 'accept-encoding': 'gzip' })
  const ben = await gateway.login(BEN)
  const headers = { ...bearer(ben.accessToken), 'accept-encoding': 'gzip' }
  expect((await rawRead(`${gateway.url}/exports?r=large`, { headers })).status).toBe(404)
  expect((await rawRead(`${gateway.url}/templates`, { headers })).text).toBe('[]')
})

describe.each([
  ['SQLite', false],
  ['PostgreSQL', true],
] as const)('a large export on %s', (_name, isPostgres) => {
  /** Elements that do not compress: more bytes than sockets hold, and more than the cache has room for. */
  const elements = Array.from({ length: 280 }, (_, n) =>
    n % 10 === 0 ? `${n}` : JSON.stringify(randomBytes(30_000).toString('base64')),
  )
  const body = `[${elements.join(',')}]`
  const world =
    documentLine('project', ANA, '{"id":"noise"}') +
    exportLine(ANA, { r: 'noise', createdAt: '2026-01-01T00:00:00Z', elements })

  async function start() {
    const databaseUrl = isPostgres ? await temporaryDatabase() : undefined
    const reader = await startReading(world, databaseUrl === undefined ? {} : { databaseUrl })
    async function remove(): Promise<void> {
      if (databaseUrl === undefined) await openSqliteShell(reader.gateway.databasePath).run('delete from export')
      else await execute(databaseUrl, 'delete from workspace_gateway.export')
    }
    return { ...reader, remove }
  }

  test.skipIf(isPostgres && POSTGRES_URL === null)(
    'is whole for many concurrent readers, even beside a slow reader and one that leaves',
    async () => {
      const { gateway, accessToken, read } = await start()
      for (const coding of ['identity', 'gzip']) {
        const headers = { ...bearer(accessToken), 'accept-encoding': coding }
        const [slow, leaving] = await Promise.all([
          openRead(`${gateway.url}/exports?r=noise`, { headers }),
          openRead(`${gateway.url}/exports?r=noise`, { headers }),
        ])
        await once(leaving, 'readable')
        leaving.destroy()
        const answers = await Promise.all(
          Array.from({ length: 3 }, () => read('/exports?r=noise', { 'accept-encoding': coding })),
        )
        expect(answers.map(({ text }) => text === body)).toEqual(answers.map(() => true))
        const late = await buffer(slow)
        expect(coding !== 'identity' || late.toString() === body).toBe(true)
        expect(coding === 'identity' || late.equals(answers[0]?.bytes ?? Buffer.alloc(0))).toBe(true)
      }
      expect(gateway.reported).toEqual([])
    },
  )

  test.skipIf(isPostgres && POSTGRES_URL === null)(
    'breaks off if it is removed while it is sent, and is not taken for whole',
    async () => {
      for (const coding of ['identity', 'gzip']) {
        const { gateway, accessToken, remove } = await start()
        const headers = { ...bearer(accessToken), 'accept-encoding': coding }
        const incoming = await openRead(`${gateway.url}/exports?r=noise`, { headers })
        expect(incoming.statusCode).toBe(200)
        await once(incoming, 'readable')
        await remove()
        await expect(buffer(incoming)).rejects.toThrow('aborted')
        // The gateway goes on working.
        expect((await gateway.get('/exports?r=noise', accessToken)).status).toBe(404)
      }
    },
  )
})

test('exports of one element larger than a page and of many tiny ones are whole in every coding', async () => {
  const huge = JSON.stringify(WORDS.repeat(30_000))
  const tiny = Array.from({ length: 50_000 }, (_, n) => String(n % 10))
  // Characters of four bytes, in a list that is made in pieces.
  const long = `{"id":"long","text":"x${'😀é'.repeat(750_000)}"}`
  const { read } = await startReading(
    documentLine('project', ANA, '{"id":"huge"}') +
      documentLine('uiLibrary', ANA, '{"id":"first"}') +
      documentLine('uiLibrary', ANA, long) +
      exportLine(ANA, { r: 'huge', createdAt: '2026-01-01T00:00:00Z', elements: ['1', huge, '{}'] }) +
      documentLine('project', ANA, '{"id":"tiny"}') +
      exportLine(ANA, { r: 'tiny', createdAt: '2026-01-01T00:00:00Z', elements: tiny }) +
      documentLine('template', ANA, `{"id":"huge","text":${huge}}`),
  )
  for (const [path, expected] of [
    ['/exports?r=huge', `[1,${huge},{}]`],
    ['/exports?r=tiny', `[${tiny.join(',')}]`],
    ['/templates', `[{"id":"huge","text":${huge}}]`],
    ['/ui-libraries', `[{"id":"first"},${long}]`],
  ] as const) {
    for (const coding of ['identity', ...CODINGS, ...CODINGS]) {
      const { text, headers } = await read(path, { 'accept-encoding': coding })
      expect(text === expected, `${path} ${coding}`).toBe(true)
      expect(headers['content-encoding'] ?? 'identity').toBe(coding)
    }
  }
})
