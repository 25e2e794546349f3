// Tests the end of a shadow: it signs out every session at the old server without flooding it.
import { expect, onTestFinished, test, vi } from 'vitest'
import { createBusyUsers } from '../../src/rest/shadow/busy-users.ts'
import { createOldServer } from '../../src/rest/shadow/old-server.ts'
import { createOldSessions } from '../../src/rest/shadow/old-sessions.ts'
import { createShadowQueue } from '../../src/rest/shadow/shadow-queue.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { ANA, documentLine } from '../support/workspaces.ts'

test('many sessions are signed out a few at a time', async () => {
  // However slow the machine is, no time limit ends the sign-outs.
  const unlimited = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal)
  onTestFinished(() => unlimited.mockRestore())
  const emails = Array.from({ length: 120 }, (_, at) => `user${at}@example.com`)
  const records = emails.map((email) => documentLine('template', email, '{"id":"t"}')).join('')
  await using server = await startPlainServer({ records })
  const { signal } = new AbortController()
  const old = createOldServer({ url: server.url, headers: {} }, signal, () => {})
  for (const email of emails) {
    await (await old.read(email, { method: 'GET', target: '/templates', signal })).cancel()
  }
  expect(server.openSessions()).toBe(120)
  const open = new Set()
  let most = 0
  server.setIntercept(({ socket }) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    most = Math.max(most, open.size)
    return false
  })
  await old[Symbol.asyncDispose]()
  expect(server.openSessions()).toBe(0)
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThan(60)
})

test('when there are too many sessions, the one that was not used for longest is signed out', async () => {
  const [first, second, third] = ['a@example.com', 'b@example.com', 'c@example.com'] as const
  const records = [first, second, third].map((email) => documentLine('template', email, '{"id":"t"}')).join('')
  await using server = await startPlainServer({ records })
  const { signal } = new AbortController()
  await using sessions = createOldSessions({ url: server.url, headers: {} }, 2, createBusyUsers(2), signal)
  for (const email of [first, second, first, third, first]) await sessions.of(email)
  await expect.poll(server.openSessions).toBe(2)
  expect(server.requests.filter(({ path }) => path === '/login')).toHaveLength(3)
})

test('comparisons that wait for their repetition take places of those that wait for their first run', async () => {
  await using queue = createShadowQueue(1, 2)
  const run = async () => {}
  expect([queue.addLater(run, 60_000), queue.add(run), queue.addLater(run, 60_000), queue.add(run)]).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test('the shadow sends a sign-out once more when its connection ends', async () => {
  await using server = await startPlainServer({ records: documentLine('template', ANA, '{"id":"t"}') })
  const { signal } = new AbortController()
  const old = createOldServer({ url: server.url, headers: {} }, signal, () => {})
  await (await old.read(ANA, { method: 'GET', target: '/templates', signal })).cancel()
  let broken = 0
  server.setIntercept(({ socket }) => {
    if (broken === 1) return false
    broken += 1
    socket.destroy()
    return true
  })
  await old[Symbol.asyncDispose]()
  expect([broken, server.openSessions()]).toEqual([1, 0])
})

test.each(['/login', '/token'])(
  'a session whose POST %s is about to be answered when the gateway stops is ended too',
  async (path) => {
    await using server = await startPlainServer({
      records: documentLine('template', ANA, '{"id":"t"}'),
      rotatesRefreshTokens: true,
    })
    const [stop, { signal }] = [new AbortController(), new AbortController()]
    const old = createOldServer({ url: server.url, headers: {} }, stop.signal, () => {})
    const read = () => old.read(ANA, { method: 'GET', target: '/templates', signal })
    if (path === '/token') await (await read()).cancel()
    server.setIntercept(({ url }, response) => {
      const { writeHead } = response
      // The tokens are valid from now on, but they have not been sent.
      const stopFirst = (...head: readonly unknown[]) => {
        stop.abort(new Error('stopped'))
        return Reflect.apply(writeHead, response, head)
      }
      if (url === path) Object.assign(response, { writeHead: stopFirst })
      if (url === '/templates') response.writeHead(401).end()
      return url === '/templates'
    })
    await expect(read()).rejects.toThrow('stopped')
    expect(server.openSessions()).toBe(1)
    await old[Symbol.asyncDispose]()
    expect(server.openSessions()).toBe(0)
    // No session is opened after the stop.
    await expect(read()).rejects.toThrow('stopped')
    expect(server.requests.filter(({ path: asked }) => asked === '/login')).toHaveLength(1)
  },
)

test('the session of a login without an access token is ended', async () => {
  await using server = await startPlainServer({ records: documentLine('template', ANA, '{"id":"t"}') })
  const { signal } = new AbortController()
  const old = createOldServer({ url: server.url, headers: {} }, signal, () => {})
  server.setIntercept(({ url }, response) => {
    const { end } = response
    // The session is open, but the client gets only its refresh token.
    const withoutAccess = (body: string) =>
      Reflect.apply(end, response, [JSON.stringify({ ...JSON.parse(body), accessToken: undefined })])
    if (url === '/login') Object.assign(response, { end: withoutAccess })
    return false
  })
  const read = old.read(ANA, { method: 'GET', target: '/templates', signal })
  await expect(read).rejects.toThrow('POST /login answered no accessToken')
  await expect.poll(() => server.requests.map(({ path, status }) => [path, status])).toContainEqual(['/logout', 200])
  expect(server.openSessions()).toBe(0)
})
