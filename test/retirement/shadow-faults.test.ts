// Tests an old server that fails as servers and proxies do: clients notice no more than they must, and the log names
// the cause.
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ANSWER_MS, toOldAnswer } from '../../src/rest/shadow/old-answer.ts'
import { type RunOptions, runHere, serveForTest, serveHereForTest } from '../support/command-line.ts'
import { ask, bearer, openSession } from '../support/gateway.ts'
import { type PlainServerOptions, startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openSocket, requestText } from '../support/wire.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const FROM_OLD = ['--answer-from', 'old', '--shadow-sample', '0']
const JSON_TYPE = { 'content-type': 'application/json' }

async function start(
  args: readonly string[],
  { records = SMALL_WORLD, ...options }: Partial<PlainServerOptions> = {},
  { maxOpenFiles }: Pick<RunOptions, 'maxOpenFiles'> = {},
) {
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  await runHere(['import', '-', '--database', database], { stdin: records })
  const old = await startPlainServer({ records, basePath: '/v1', ...options })
  const flags = ['--database', database, '--shadow', old.url, '--shadow-confirm', '0', '--admin-port', '0', ...args]
  const gateway = await (maxOpenFiles === undefined ? serveHereForTest(flags) : serveForTest(flags, { maxOpenFiles }))
  return {
    old,
    url: gateway.url,
    log: gateway.stderr,
    /** Signs this user in and returns a function that reads. */
    async signIn(email: string) {
      const { accessToken } = await openSession(gateway.url, email)
      return Object.assign((path: string) => ask(`${gateway.url}${path}`, { headers: bearer(accessToken) }), {
        accessToken,
      })
    },
    /** Returns how many comparisons had this outcome. */
    async comparisons(outcome: string): Promise<number> {
      const admin = /"url":"(\S+?)","msg":"metrics and health/.exec(gateway.stderr())?.[1]
      const { text } = await ask(`${admin}/metrics`)
      const found = new RegExp(`^workspace_gateway_shadow_comparisons_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm')
      return Number(found.exec(text)?.[1])
    },
    async stop(): Promise<void> {
      expect(await gateway.kill('SIGTERM')).toBe(0)
      await old[Symbol.asyncDispose]()
    },
  }
}

/** Returns the reasons in a log, without their times. */
const failuresIn = (log: string) =>
  [...log.matchAll(/"reason":"([^"]*)","msg":"the old server gives no answer"/g)].map(([, reason]) => reason)

test('no read fails because the old server closes its connection during the read', async () => {
  const seen = new WeakSet()
  const { old, signIn, stop } = await start(FROM_OLD)
  const read = await signIn(ANA)
  old.setIntercept(({ socket }) => {
    if (seen.has(socket)) socket.destroy()
    else seen.add(socket)
    return socket.destroyed
  })
  for (let count = 0; count < 10; count += 1) expect((await read('/projects')).status).toBe(200)
  await stop()
})

describe.each(['ours', 'old'])('with --answer-from %s', (who) => {
  test.each([502, 302, 500])(
    'a read that the old server answers with %i is logged at most once a minute',
    async (status) => {
      const { old, log, signIn, stop } = await start(['--answer-from', who])
      const read = await signIn(ANA)
      old.setIntercept(({ url }, response) => {
        if (url !== '/v1/projects') return false
        response.writeHead(status, { location: '/elsewhere' }).end()
        return true
      })
      for (let count = 0; count < 5; count += 1) {
        expect((await read('/projects')).status).toBe(who === 'ours' ? 200 : 503)
      }
      // An answer that may belong to the request is compared.
      const expected = who === 'ours' && status !== 502 ? [] : [`GET /projects answered ${status}`]
      await expect.poll(() => failuresIn(log())).toEqual(expected)
      await stop()
      expect(failuresIn(log())).toEqual(expected)
    },
  )
})

test.each(['breaks off', 'is 502'])('a renewal that %s does not end the session at the old server', async (how) => {
  const { old, signIn, stop } = await start(FROM_OLD)
  const read = await signIn(ANA)
  expect((await read('/projects')).status).toBe(200)
  old.setIntercept(({ url, socket }, response) => {
    if (url === '/v1/templates') response.writeHead(401).end()
    else if (url !== '/v1/token') return false
    else if (how === 'is 502') response.writeHead(502).end()
    else socket.destroy()
    return true
  })
  expect((await read('/templates')).status).toBe(503)
  old.setIntercept(null)
  expect((await read('/templates')).status).toBe(200)
  expect(old.requests.filter(({ path }) => path === '/login')).toHaveLength(1)
  expect(old.openSessions()).toBe(1)
  await stop()
  expect(old.openSessions()).toBe(0)
})

test.each([203, 204, 206])(
  'a %i of the old server with --answer-from old becomes 503, and the client gets none of it',
  async (status) => {
    const { old, log, signIn, stop } = await start(FROM_OLD)
    const read = await signIn(ANA)
    old.setIntercept(({ url }, response) => {
      if (url === '/v1/projects') response.writeHead(status, JSON_TYPE).end(status === 204 ? undefined : '[{"id":"pa')
      return url === '/v1/projects'
    })
    const answer = await read('/projects')
    expect([answer.status, answer.json().code]).toEqual([503, 'UNAVAILABLE'])
    await stop()
    expect(failuresIn(log())).toEqual([`GET /projects answered ${status}`])
    expect(old.openSessions()).toBe(0)
  },
)

test('a login that a proxy answers with 502 does not count as a refusal of the user', async () => {
  const { old, log, signIn, comparisons, stop } = await start([])
  old.setIntercept(({ url }, response) => {
    if (url === '/v1/login') response.writeHead(502).end()
    return url === '/v1/login'
  })
  expect((await (await signIn(ANA))('/projects')).status).toBe(200)
  await expect.poll(() => comparisons('oldAway')).toBe(1)
  expect(await comparisons('oldSignIn')).toBe(0)
  expect(failuresIn(log())).toEqual(['POST /login answered 502'])
  await stop()
})

test.each([
  ['an error in its body', '{"error":"who?"}'],
  ['a token that no header can hold', '{"accessToken":"a\\r\\nb","refreshToken":"r"}'],
  ['more text than a token has', `{"accessToken":"a","refreshToken":"r"}${' '.repeat(65_536)}`],
])('a login that is answered 200 with %s is logged as one without a token', async (_, body) => {
  const { old, log, signIn, comparisons, stop } = await start([])
  old.setIntercept(({ url }, response) => {
    if (url === '/v1/login') response.writeHead(200, JSON_TYPE).end(body)
    return url === '/v1/login'
  })
  expect((await (await signIn(ANA))('/projects')).status).toBe(200)
  await expect.poll(() => comparisons('oldSignIn')).toBe(1)
  expect(failuresIn(log())).toEqual(['POST /login answered no accessToken'])
  await stop()
})

test('a difference is logged once, whatever clients add to the address', async () => {
  const { old, log, signIn, comparisons, stop } = await start([])
  old.workspaces.get(ANA)?.templates.pop()
  const read = await signIn(ANA)
  for (const n of [1, 2, 3]) expect((await read(`/templates?r=${n}`)).status).toBe(200)
  await expect.poll(() => comparisons('different')).toBe(3)
  const told = log()
    .split('\n')
    .filter((line) => line.includes('answers differently'))
  expect(told.map((line) => JSON.parse(line).shadow.ref)).toEqual([null])
  await stop()
})

test('a read whose If-Match does not match gets the answer of the old server', async () => {
  const { old, url, signIn, stop } = await start(FROM_OLD)
  const { accessToken } = await signIn(ANA)
  old.setIntercept(({ url: asked, headers }, response) => {
    if (asked !== '/v1/projects') return false
    response.writeHead(headers['if-match'] === '"x"' ? 412 : 500).end()
    return true
  })
  const answer = await ask(`${url}/projects`, { headers: { ...bearer(accessToken), 'if-match': '"x"' } })
  expect(answer.status).toBe(412)
  await stop()
})

test('a content coding that the gateway did not request is passed on with its name', async () => {
  const { old, signIn, stop } = await start(FROM_OLD)
  const read = await signIn(ANA)
  old.setIntercept(({ url, headers: asked }, response) => {
    if (url !== '/v1/projects' || asked['accept-encoding'] !== 'identity') return false
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'compress', 'content-length': '3' }).end('abc')
    return true
  })
  const { status, headers, text } = await read('/projects')
  expect([status, text]).toEqual([200, 'abc'])
  expect([headers.get('content-encoding'), headers.get('content-length')]).toEqual(['compress', '3'])
  await stop()
})

describe('a body that stops arriving', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test('is abandoned after the time limit of an answer, but not while the client reads nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const giveUp = vi.fn()
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const parts = toOldAnswer(new Response(readable), giveUp).body[Symbol.asyncIterator]()
    void writer.write(Buffer.from('['))
    expect((await parts.next()).done).toBe(false)
    await vi.advanceTimersByTimeAsync(10 * ANSWER_MS)
    expect(giveUp).not.toHaveBeenCalled()
    const next = parts.next()
    await vi.advanceTimersByTimeAsync(ANSWER_MS - 1)
    expect(giveUp).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(giveUp).toHaveBeenCalledOnce()
    await writer.close()
    expect((await next).done).toBe(true)
  })
})

test('a read for which this gateway has no memory is no difference', async () => {
  const records = documentLine('template', ANA, `{"id":"t","x":"${'x'.repeat(2_000_000)}"}`)
  const { signIn, comparisons, log, stop } = await start(['--in-flight-bytes', '1048576'], { records })
  expect((await (await signIn(ANA))('/templates')).status).toBe(503)
  await expect.poll(() => comparisons('notAnsweredHere')).toBe(1)
  expect(log()).not.toContain('answers differently')
  await stop()
})

test('comparisons that wait for the old server leave room for other long lists', async () => {
  const emails = ['a', 'b', 'c', 'd'].map((name) => `${name}@example.com`)
  const records = emails.map((email) => documentLine('template', email, `{"id":"t","x":"${'x'.repeat(5_500_000)}"}`))
  const { old, signIn, stop } = await start(['--in-flight-bytes', '20971520'], { records: records.join('') })
  let waiting = 0
  old.setIntercept(({ url }, response) => {
    if (url !== '/v1/templates') return false
    waiting += 1
    response.writeHead(200, JSON_TYPE).write('[{"id":"t",')
    return true
  })
  for (const [index, email] of emails.entries()) {
    expect((await (await signIn(email))('/templates')).status).toBe(200)
    await expect.poll(() => waiting).toBe(index + 1)
  }
  const read = await signIn(emails[0] ?? '')
  for (let count = 0; count < 5; count += 1) expect((await read('/templates')).status).toBe(200)
  await stop()
})

test.skipIf(process.platform !== 'linux')('connections to the old server are limited by the open files', async () => {
  let asked = 0
  const { old, url, signIn, stop } = await start(FROM_OLD, {}, { maxOpenFiles: 128 })
  const { accessToken } = await signIn(ANA)
  const read = await signIn(BEN)
  old.setIntercept((request) => {
    if (request.url !== '/v1/projects') return false
    asked += 1
    return true
  })
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(url)))
  const get = requestText({ target: '/projects', headers: [['Authorization', `Bearer ${accessToken}`]] })
  for (const socket of sockets) socket.on('error', () => {}).write(get.repeat(8))
  // Half of the files are for clients and for these connections.
  await expect.poll(() => asked).toBe(32)
  const graphql = await read('/graphql?query={me{email}}')
  expect([graphql.status, graphql.json().data]).toEqual([200, { me: { email: BEN } }])
  expect((await read('/templates')).status).toBe(503)
  expect(asked).toBe(32)
  for (const socket of sockets) socket.destroy()
  await expect.poll(async () => (await read('/templates')).status).toBe(200)
  await stop()
})
