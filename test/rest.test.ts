// Tests the REST reads: bodies, headers, conditional requests, methods, and the base path.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { bearer, startGateway } from './support/gateway.ts'
import { openRead } from './support/raw-read.ts'
import { exchange, readAnswers, requestText } from './support/wire.ts'
import { ANA, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

test('the four reads return the stored documents as arrays', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  expect((await gateway.get('/projects', accessToken)).text).toBe(
    '[{"id":"p1","ref":"site","name":"Site","tags":["a","b"],"n":12345678901234567890},{"id":"p2","ref":"app","name":"App"}]',
  )
  expect((await gateway.get('/templates', accessToken)).text).toBe('[{"id":"t1","name":"Landing"}]')
  expect((await gateway.get('/ui-libraries', accessToken)).text).toBe('[{"id":"u1","name":"Buttons"}]')
  expect((await gateway.get('/exports?r=site', accessToken)).text).toBe('[{"path":"new.html"},1.0]')
})

test('a read has the headers of the contract, and answers 304 to its entity tag after authentication', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  for (const path of ['/projects', '/templates', '/ui-libraries', '/exports?r=site']) {
    const first = await gateway.get(path, accessToken)
    expect(first.status).toBe(200)
    expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    expect(first.headers.get('vary')).toBe('Authorization, Accept-Encoding')
    expect(first.headers.get('api-version')).toBe('1.2')
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[^"]+"$/)
    for (const ifNoneMatch of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await gateway.get(path, accessToken, { 'if-none-match': ifNoneMatch })
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag])
      // RFC 9110 section 15.4.5: what tells a cache how to use the copy that it holds.
      for (const name of ['cache-control', 'vary']) expect(again.headers.get(name)).toBe(first.headers.get(name))
      expect(again.headers.get('content-type')).toBeNull()
    }
    expect((await gateway.get(path, accessToken, { 'if-none-match': '"other"' })).status).toBe(200)
    // Only after authentication: a stranger learns nothing about what is stored.
    expect((await gateway.get(path, undefined, { 'if-none-match': tag })).status).toBe(401)
    expect((await gateway.get(path, 'wrong', { 'if-none-match': '*' })).status).toBe(401)
  }
})

test('a conditional read after a change is answered anew, or 412, and only where the answer is another one', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const paths = ['/projects', '/templates', '/ui-libraries', '/exports?r=site'] as const
  const changes = [
    documentLine('project', ANA, '{"id":"p2","ref":"app","name":"Changed"}'),
    documentLine('template', ANA, '{"id":"t1","name":"Changed"}'),
    documentLine('uiLibrary', ANA, '{"id":"u1","name":"Changed"}'),
    exportLine(ANA, { r: 'site', createdAt: '2026-03-01T00:00:00Z', elements: ['{"path":"Changed"}'] }),
  ] as const
  const tagOf = async (path: string) => (await gateway.get(path, accessToken)).headers.get('etag') ?? ''
  for (const [at, change] of changes.entries()) {
    const tags = await Promise.all(paths.map(tagOf))
    await gateway.load(change)
    for (const [index, path] of paths.entries()) {
      const tag = tags[index] ?? ''
      const read = await gateway.get(path, accessToken, { 'if-none-match': tag })
      const held = await gateway.get(path, accessToken, { 'if-match': tag })
      const isChanged = index === at
      expect([path, read.status, held.status]).toEqual([path, isChanged ? 200 : 304, isChanged ? 412 : 200])
      expect(read.text.includes('Changed')).toBe(isChanged)
      expect(read.headers.get('etag') === tag).toBe(!isChanged)
    }
  }
})

test('a read or public document is answered 412 if If-Match names no tag of it, despite If-None-Match', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  for (const path of ['/projects', '/exports?r=site', '/openapi.json']) {
    const tag = (await gateway.get(path, accessToken)).headers.get('etag') ?? ''
    const statusOf = async (headers: Record<string, string>) => (await gateway.get(path, accessToken, headers)).status
    for (const ifMatch of [tag, `"other", ${tag}`, `W/"other", ${tag}`, '*']) {
      expect([ifMatch, await statusOf({ 'if-match': ifMatch })]).toEqual([ifMatch, 200])
    }
    for (const ifMatch of ['"zzz"', '', `W/${tag}`, `W/"other", W/${tag}`]) {
      const failed = await gateway.get(path, accessToken, { 'if-match': ifMatch, 'if-none-match': tag })
      expect([ifMatch, failed.status, failed.json().code]).toEqual([ifMatch, 412, 'PRECONDITION_FAILED'])
      expect(failed.text).not.toContain('site')
    }
    expect(await statusOf({ 'if-match': tag, 'if-none-match': tag })).toBe(304)
    expect(await statusOf({ 'if-match': '"zzz"', 'accept-encoding': 'identity;q=0' })).toBe(406)
  }
  expect((await gateway.get('/projects', undefined, { 'if-match': '"zzz"' })).status).toBe(401)
  expect((await gateway.get('/exports?r=none', accessToken, { 'if-match': '"zzz"' })).status).toBe(404)
  // Also in a content coding, and again once that form is cached.
  const gzip = { 'accept-encoding': 'gzip' }
  const coded = (await gateway.get('/openapi.json', undefined, gzip)).headers.get('etag') ?? ''
  expect((await gateway.get('/openapi.json', undefined, { ...gzip, 'if-match': coded })).status).toBe(200)
  expect((await gateway.get('/openapi.json', undefined, { ...gzip, 'if-match': '"zzz"' })).status).toBe(412)
})

test('the entity tag of an export is its digest, which is the SHA-256 of the body', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const { text, headers } = await gateway.get('/exports?r=site', accessToken)
  expect(headers.get('etag')).toBe(`"${createHash('sha256').update(text).digest('hex')}"`)
})

test('an export says when it was made, unless that is in the future, and the time is no condition', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const made = async (headers: Record<string, string> = {}) => {
    const answer = await gateway.get('/exports?r=app', accessToken, headers)
    return [answer.status, answer.headers.get('last-modified')]
  }
  await gateway.load(exportLine(ANA, { r: 'app', createdAt: '2025-03-01T01:30:00.75+02:00', elements: ['1'] }))
  const told = 'Fri, 28 Feb 2025 23:30:00 GMT'
  expect(await made()).toEqual([200, told])
  // Also when the answer is kept, and as a condition alone: after a removal, what is newest then has an earlier time.
  expect(await made({ 'if-modified-since': told })).toEqual([200, told])
  const head = await gateway.send('HEAD', '/exports?r=app', undefined, { authorization: `Bearer ${accessToken}` })
  expect(head.headers.get('last-modified')).toBe(told)
  await gateway.load(exportLine(ANA, { r: 'app', createdAt: '9999-12-31T00:00:00Z', elements: ['2'] }))
  expect(await made()).toEqual([200, null])
  expect((await gateway.get('/projects', accessToken)).headers.get('last-modified')).toBeNull()
})

test('HEAD answers what GET answers, without the body', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  for (const path of ['/projects', '/exports?r=site', '/healthz', '/readyz', '/.well-known/jwks.json']) {
    const authorization = `Bearer ${accessToken}`
    const get = await gateway.send('GET', path, undefined, { authorization })
    const head = await gateway.send('HEAD', path, undefined, { authorization })
    expect([head.status, head.text]).toEqual([get.status, ''])
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)))
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
  }
})

test('an empty collection of a known user is an empty array', async () => {
  const gateway = await startGateway()
  await gateway.load('{"kind":"project","email":"eve@example.com","data":{"id":1}}\n')
  const { accessToken } = await gateway.login('eve@example.com')
  const { status, text } = await gateway.get('/templates', accessToken)
  expect([status, text]).toEqual([200, '[]'])
})

test('an export without elements is an empty array', async () => {
  const gateway = await startGateway()
  await gateway.load(
    '{"kind":"project","email":"eve@example.com","data":{"id":1}}\n{"kind":"export","email":"eve@example.com","r":"1","createdAt":"2026-01-01T00:00:00Z","data":[ ]}\n',
  )
  const { accessToken } = await gateway.login('eve@example.com')
  const { status, text } = await gateway.get('/exports?r=1', accessToken)
  expect([status, text]).toEqual([200, '[]'])
})

test('OPTIONS lists the methods of a path, and so does the 405 to a wrong method', async () => {
  const gateway = await startGateway()
  const cases = [
    ['/login', 'POST, OPTIONS'],
    ['/logout', 'DELETE, POST, OPTIONS'],
    ['/projects', 'GET, HEAD, OPTIONS'],
    ['/graphql', 'GET, HEAD, POST, OPTIONS'],
  ] as const
  for (const [path, allow] of cases) {
    const options = await gateway.send('OPTIONS', path)
    expect([options.status, options.headers.get('allow'), options.text]).toEqual([204, allow, ''])
    const wrong = await gateway.send('PATCH', path, '{}')
    expect([wrong.status, wrong.headers.get('allow'), wrong.json().code]).toEqual([405, allow, 'METHOD_NOT_ALLOWED'])
    // A page of another origin cannot read `Allow`.
    expect(wrong.json().detail).toContain(allow)
  }
})

test.each(['', '/v1'])('with the base path "%s", a 404 says if the path has a slash too many', async (basePath) => {
  const gateway = await startGateway({ basePath })
  const detailOf = async (path: string) => {
    const answer = await gateway.get(`${basePath}${path}`)
    expect([answer.status, answer.json().code]).toEqual([404, 'NOT_FOUND'])
    return answer.json().detail
  }
  for (const path of ['/projects/', '//projects', '/graphql/', '/exports/?r=site']) {
    expect(await detailOf(path)).toMatch(/slash/)
  }
  for (const path of ['/project', '/projects/site', '/xprojects', '/x/']) {
    expect(await detailOf(path)).not.toMatch(/slash/)
  }
})

test('a request without a body is told that it has none', async () => {
  const gateway = await startGateway()
  for (const [path, headers] of [
    ['/login', {}],
    ['/login', { 'content-type': 'application/json' }],
    ['/graphql', { 'content-type': 'application/json' }],
  ] as const) {
    const { status, text } = await gateway.send('POST', path, undefined, headers)
    expect([status, text]).toEqual([400, expect.stringContaining('MALFORMED_JSON')])
    expect(text).toContain('The request has no body')
  }
})

test.each(['', '/v1'])(
  'OPTIONS * lists the methods of the whole server, with the base path "%s" too',
  async (basePath) => {
    const gateway = await startGateway({ basePath })
    const [answer] = await wireAnswers(gateway.url, 'OPTIONS')
    expect([answer?.status, answer?.text]).toEqual([204, ''])
    expect(answer?.headers.get('allow')?.split(', ').toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST'])
    // No other method applies to the server as a whole.
    const [read] = await wireAnswers(gateway.url, 'GET')
    expect([read?.status, read?.json().code]).toEqual([404, 'NOT_FOUND'])
  },
)

async function wireAnswers(url: string, method: string) {
  const request = requestText({ method, target: '*', headers: [['Connection', 'close']] })
  return readAnswers(await exchange(url, request), [method])
}

test('a base path precedes every path', async () => {
  const gateway = await startGateway({ basePath: '/v1' })
  await gateway.load(SMALL_WORLD)
  const login = await gateway.send('POST', '/v1/login', JSON.stringify({ email: ANA }))
  expect(login.status).toBe(200)
  expect((await gateway.get('/v1/projects', login.json().accessToken)).status).toBe(200)
  expect((await gateway.get('/v1/healthz')).status).toBe(200)
  for (const outside of ['/projects', '/healthz', '/v1x/projects', '/v2/projects']) {
    expect((await gateway.get(outside, login.json().accessToken)).status).toBe(404)
  }
})

test('answers with tokens must not be stored', async () => {
  const gateway = await startGateway()
  const login = await gateway.send('POST', '/login', JSON.stringify({ email: ANA }))
  const token = await gateway.send('POST', '/token', JSON.stringify({ refreshToken: login.json().refreshToken }))
  const graphql = await gateway.graphql(`mutation { login(email: "${ANA}") { accessToken } }`)
  for (const answer of [login, token, graphql]) expect(answer.headers.get('cache-control')).toBe('no-store')
})

test('a GraphQL answer and a GraphQL failure depend on who asks and what is accepted, and must not be stored', async () => {
  const gateway = await startGateway()
  const { accessToken } = await gateway.login(ANA)
  for (const token of [accessToken, undefined, 'wrong']) {
    const { headers } = await gateway.graphql('{ me { email } }', { ...(token && { accessToken: token }) })
    expect(headers.get('vary')).toBe('Accept, Authorization, Accept-Encoding')
    expect(headers.get('cache-control')).toBe('no-store')
  }
})

test('health checks must not be stored, and verifiers may keep the public keys for a minute', async () => {
  const gateway = await startGateway()
  const cachingOf = async (path: string) => (await gateway.get(path)).headers.get('cache-control')
  expect([await cachingOf('/healthz'), await cachingOf('/readyz')]).toEqual(['no-store', 'no-store'])
  expect(await cachingOf('/.well-known/jwks.json')).toBe('public, max-age=60')
})

test('a large export arrives whole, with its content length, and its beginning before the rest is read', async () => {
  const begun = Promise.withResolvers<void>()
  let reads = 0
  const gateway = await startGateway({
    wrapStore: (store) => ({
      ...store,
      async elementRunsOf(questions) {
        reads += 1
        if (reads > 1) await begun.promise
        return store.elementRunsOf(questions)
      },
    }),
  })
  const elements = Array.from({ length: 3_000 }, (_, index) => `{"path":"f${index}","content":"${'é'.repeat(400)}"}`)
  await gateway.load(
    documentLine('project', 'eve@example.com', '{"id":"big"}') +
      exportLine('eve@example.com', { r: 'big', createdAt: '2026-01-01T00:00:00Z', elements }),
  )
  const { accessToken } = await gateway.login('eve@example.com')
  const answer = await openRead(`${gateway.url}/exports?r=big`, { headers: bearer(accessToken) })
  await once(answer, 'readable')
  begun.resolve()
  const bytes = await buffer(answer)
  expect(bytes.toString() === `[${elements.join(',')}]`).toBe(true)
  expect(answer.headers['content-length']).toBe(String(bytes.byteLength))
  expect(reads).toBeGreaterThan(2)
})
