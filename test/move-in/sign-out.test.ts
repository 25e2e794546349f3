// Sessions that are opened on another server are ended there, or reported.
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRemoteClient } from '../../src/import-export/remote/client.ts'
import { createRemoteSession } from '../../src/import-export/remote/session.ts'
import { startRunForTest } from '../support/command-line.ts'
import { startFollow } from '../support/follow.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

test('a session whose login is about to be answered when everything is told to stop is ended too', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const stop = new AbortController()
  const client = createRemoteClient(server.url, { headers: {}, maxOutageMs: 600_000, stop: stop.signal })
  const session = createRemoteSession(client, ANA)
  server.setIntercept((request, response) => {
    const { writeHead } = response
    // The session is open, but its tokens have not been sent.
    const stopFirst = (...head: readonly unknown[]) => {
      stop.abort(new Error('stopped'))
      return Reflect.apply(writeHead, response, head)
    }
    if (request.url === '/login') Object.assign(response, { writeHead: stopFirst })
    return false
  })
  await expect(session.read('/projects')).rejects.toThrow('stopped')
  expect(server.openSessions()).toBe(1)
  await session.close()
  expect(server.openSessions()).toBe(0)
  const asked = server.requests.length
  await expect(createRemoteSession(client, 'nobody@example.com').read('/projects')).rejects.toThrow('stopped')
  expect(server.requests).toHaveLength(asked)
})

test('import reports the sessions that the other server does not end', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const workspace = createWorkspace()
  const moveIn = () => workspace.run('import', server.url, '--email', `${ANA},${BEN}`)
  server.setIntercept(({ method }, response) => {
    if (method === 'DELETE') response.writeHead(404).end()
    return method === 'DELETE'
  })
  const { exitCode, stdout, stderr } = await moveIn()
  expect([exitCode, stderr]).toEqual([0, '2 sessions are left open there: the server did not accept the sign-out\n'])
  expect(stdout).toContain('2 users: 7 added')
  expect(server.openSessions()).toBe(2)
  // What is there already counts as unchanged, exports too.
  expect((await moveIn()).stdout).toContain('2 users: 0 added, 0 replaced, 7 unchanged')
})

test('import reports the sessions that stay open because a proxy drops the body of the sign-outs', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, faults: ['delete-loses-its-body'] })
  const { exitCode, stderr } = await createWorkspace().run('import', server.url, '--email', `${ANA},${BEN}`)
  expect(server.requests.filter(({ method }) => method === 'DELETE').map(({ status }) => status)).toEqual([401, 401])
  expect([exitCode, stderr]).toEqual([0, '2 sessions are left open there: the server did not accept the sign-out\n'])
  expect(server.openSessions()).toBe(2)
})

test.each([400, 401])('import does not report sessions whose token the server answers with %i', async (status) => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept(({ method, url }, response) => {
    const isForgotten = method === 'DELETE' || url === '/token'
    if (isForgotten) response.writeHead(method === 'DELETE' ? 401 : status).end()
    return isForgotten
  })
  const { exitCode, stderr } = await createWorkspace().run('import', server.url, '--email', `${ANA},${BEN}`)
  expect([exitCode, stderr]).toEqual([0, ''])
})

test('a slow server may take as long for a sign-out as for a read, unless it has not answered several', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const stop = new AbortController().signal
  const client = createRemoteClient(server.url, { headers: {}, maxOutageMs: 600_000, stop })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  async function leftAfterSignOut(answerMs: number): Promise<number> {
    const arrival = Promise.withResolvers<() => void>()
    server.setIntercept((_request, response) => {
      arrival.resolve(() => void response.writeHead(200).end('{}'))
      return true
    })
    const ended = client.endSession('token')
    const answer = await arrival.promise
    await vi.advanceTimersByTimeAsync(answerMs)
    answer()
    await ended
    return client.traffic().sessionsLeft
  }
  expect(await leftAfterSignOut(50_000)).toBe(0)
  for (const left of [1, 2, 3, 4]) expect(await leftAfterSignOut(60_000)).toBe(left)
  expect(await leftAfterSignOut(2_000)).toBe(5)
  for (const answerMs of [1_000, 50_000]) expect(await leftAfterSignOut(answerMs)).toBe(5)
})

test('a sign-out is sent again when its connection breaks off', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const workspace = createWorkspace()
  let broken = 0
  server.setIntercept(({ method, socket }) => {
    if (method !== 'DELETE' || broken === 3) return false
    broken += 1
    socket.destroy()
    return true
  })
  const { exitCode, stderr } = await workspace.run('import', server.url, '--email', `${ANA},${BEN}`)
  expect([exitCode, stderr, broken, server.openSessions()]).toEqual([0, '', 3, 0])
})

test('a sign-out whose connection breaks off each time is abandoned and reported', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const workspace = createWorkspace()
  let broken = 0
  server.setIntercept(({ method, socket }) => {
    if (method !== 'DELETE') return false
    broken += 1
    socket.destroy()
    return true
  })
  const { exitCode, stderr } = await workspace.run('import', server.url, '--email', ANA)
  expect([exitCode, stderr]).toEqual([0, '1 session is left open there: the server did not accept the sign-out\n'])
  expect([broken, server.openSessions()]).toEqual([4, 1])
})

test('a long wait to sign out is reported, and a busy server gets one more sign-out when everything is told to stop', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const stop = new AbortController()
  const reported: string[] = []
  const client = createRemoteClient(server.url, {
    headers: {},
    maxOutageMs: 600_000,
    onLongWait(reason) {
      reported.push(reason)
      setImmediate(() => stop.abort(new Error('stopped')))
    },
    stop: stop.signal,
  })
  const session = createRemoteSession(client, ANA)
  await session.read('/projects')
  let refused = 0
  server.setIntercept((_, response) => {
    if (refused > 1) return false
    refused += 1
    response.writeHead(429, { 'retry-after': refused === 1 ? '300' : '0' }).end()
    return true
  })
  await session.close()
  expect([server.openSessions(), client.traffic().sessionsLeft]).toEqual([0, 0])
  expect(reported).toEqual([`DELETE ${server.url}/logout answered 429`])
})

test('follow soon stops signing out of a server that does not answer, and reports all sessions that stay open', async () => {
  const emails = Array.from({ length: 60 }, (_, at) => `user${at}@example.com`)
  const records = emails.map((email) => documentLine('template', email, '{"id":"t"}')).join('')
  await using server = await startPlainServer({ records })
  const flags = ['--email', emails.join(), '--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  const following = startFollow(server.url, flags)
  await following.until(({ changed }) => changed === emails.length)
  let signOuts = 0
  server.setIntercept(({ method }) => {
    if (method === 'DELETE') signOuts += 1
    return method === 'DELETE'
  })
  const { exitCode, stderr } = await following.stop()
  expect([exitCode, stderr]).toEqual([0, '60 sessions are left open there: the server did not accept the sign-out\n'])
  expect(signOuts).toBeGreaterThan(0)
  expect(signOuts).toBeLessThan(12)
})

test('a renewal that answers no access token is followed by a login, and the session before it is ended', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const { signal } = new AbortController()
  const client = createRemoteClient(server.url, { headers: {}, maxOutageMs: 0, stop: signal })
  const session = createRemoteSession(client, ANA)
  await session.read('/projects')
  let hasRefused = false
  server.setIntercept(({ url }, response) => {
    if (url === '/token') response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    else if (url === '/projects' && !hasRefused) response.writeHead(401).end()
    else return false
    hasRefused = true
    return true
  })
  expect(await session.read('/projects')).not.toBeNull()
  expect(server.openSessions()).toBe(1)
  await session.close()
  expect([server.openSessions(), client.traffic().sessionsLeft]).toEqual([0, 0])
})

test('follow signs out when its terminal is closed, even if the shell and the system both report that', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const { promise: isReading, resolve } = Promise.withResolvers<void>()
  server.setIntercept(({ method, url }) => {
    if (url === '/templates') resolve()
    if (method === 'DELETE') running.process.kill('SIGHUP')
    return false
  })
  const database = ['--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  const running = startRunForTest(['follow', server.url, '--email', ANA, ...database])
  await isReading
  const { exitCode } = await running.kill('SIGHUP')
  expect([exitCode, server.openSessions()]).toEqual([0, 0])
})
