// Old servers that answer what no server should: an error affects only the user whom it concerns.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRemoteClient } from '../../src/import-export/remote/client.ts'
import { run, runHere, serveHereForTest } from '../support/command-line.ts'
import { startFollow } from '../support/follow.ts'
import { ask, bearer, openSession } from '../support/gateway.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const CLEO = 'cleo@example.com'
const WORLD = SMALL_WORLD + documentLine('template', CLEO, '{"id":"t"}')
const newDatabase = () => `file:${join(temporaryDirectory(), 'new.db')}`

test('a server that says when it will answer is asked for nobody before', async () => {
  await using server = await startPlainServer({ records: WORLD })
  server.setIntercept((_, response) => {
    response.writeHead(429, { 'retry-after': '3600' }).end('busy')
    return true
  })
  const stop = new AbortController()
  const client = createRemoteClient(server.url, { headers: {}, maxOutageMs: 600_000, stop: stop.signal })
  const first = client.send({ method: 'GET', path: '/projects' })
  await expect.poll(() => client.traffic().bytes).toBeGreaterThan(0)
  // By the time of this answer, the first one has been read to its end.
  await ask(server.url)
  const second = client.send({ method: 'GET', path: '/templates' })
  const ended = Promise.allSettled([first, second])
  await ask(server.url)
  expect(server.requests.map(({ path }) => path)).not.toContain('/templates')
  stop.abort(new Error('stopped'))
  expect(await ended).toMatchObject(Array(2).fill({ reason: { message: 'stopped' } }))
})

test('an export that the server never answers holds back its user, and nobody else', async () => {
  await using server = await startPlainServer({ records: WORLD })
  server.setIntercept((request, response) => {
    if (request.url !== '/exports?r=site') return false
    // As a proxy answers in front of a server that is too slow.
    response.writeHead(504).end()
    return true
  })
  const args = ['--email', `${ANA},${BEN},${CLEO}`, '--database', newDatabase(), '--concurrency', '1']
  const following = startFollow(server.url, args)
  expect(await following.next()).toMatchObject({ users: 3, changed: 2, failed: 1, outage: null })
  server.workspaces.get(BEN)?.templates.push('{"id":"late"}')
  server.workspaces.delete(CLEO)
  expect(await following.next()).toMatchObject({ changed: 1, failed: 1, missing: 1, waiting: 1, outage: null })
  expect(await following.next()).toMatchObject({ unchanged: 1, failed: 1, removed: 1, outage: null })
  server.setIntercept(null)
  expect(await following.until(({ failed }) => failed === 0)).toMatchObject({ changed: 1, outage: null })
  const { exitCode, stderr } = await following.stop()
  expect([exitCode, stderr]).toEqual([0, `--email, address 1: GET ${server.url}/exports answered 504\n`])
  expect(server.openSessions()).toBe(0)
})

test('a user whose reads get no answer is read beside the rounds, which do not wait', async () => {
  await using server = await startPlainServer({ records: WORLD })
  const answerLate: (() => void)[] = []
  let isHeld = false
  server.setIntercept((request, response) => {
    if (request.url !== '/exports?r=site') return false
    // From the second time on, no answer comes for the rest of the test.
    if (isHeld) answerLate.push(() => response.writeHead(504).end())
    else response.writeHead(504).end()
    return true
  })
  const args = ['--email', `${ANA},${BEN},${CLEO}`, '--database', newDatabase(), '--concurrency', '1']
  const following = startFollow(server.url, args)
  await following.until(({ failed }) => failed === 1)
  isHeld = true
  await expect.poll(() => answerLate.length).toBe(1)
  server.workspaces.get(BEN)?.templates.push('{"id":"late"}')
  expect(await following.until(({ changed }) => changed > 0)).toMatchObject({
    users: 3,
    changed: 1,
    failed: 1,
    outage: null,
  })
  server.workspaces.get(CLEO)?.templates.push('{"id":"later"}')
  expect(await following.until(({ changed }) => changed > 0)).toMatchObject({ changed: 1, failed: 1, outage: null })
  // One request at a time, and the next one is another.
  expect(answerLate).toHaveLength(1)
  server.setIntercept(null)
  for (const answer of answerLate) answer()
  expect(await following.until(({ failed }) => failed === 0)).toMatchObject({ users: 3, changed: 1, outage: null })
  const { exitCode, stderr } = await following.stop()
  expect([exitCode, stderr]).toEqual([0, `--email, address 1: GET ${server.url}/exports answered 504\n`])
  expect(server.openSessions()).toBe(0)
})

test('a user who is read beside the rounds is forgotten when removed from the file, and the session ends with the others', async () => {
  await using server = await startPlainServer({ records: WORLD })
  let isHeld = false
  let held = 0
  server.setIntercept((request, response) => {
    if (request.url !== '/exports?r=site') return false
    held += isHeld ? 1 : 0
    if (!isHeld) response.writeHead(504).end()
    return true
  })
  const emails = join(temporaryDirectory(), 'emails.txt')
  writeFileSync(emails, `${ANA}\n${BEN}\n${CLEO}\n`)
  const args = ['--emails', emails, '--database', newDatabase(), '--concurrency', '1']
  const following = startFollow(server.url, args)
  await following.until(({ failed }) => failed === 1)
  isHeld = true
  await expect.poll(() => held).toBe(1)
  writeFileSync(emails, `${BEN}\n${CLEO}\n`)
  expect(await following.until(({ users }) => users === 2)).toMatchObject({ failed: 0, outage: null })
  expect((await following.stop()).exitCode).toBe(0)
  expect(server.openSessions()).toBe(0)
})

test('when an access token is refused just after it was renewed, import opens a new session and ends the old one', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  let refused = false
  server.setIntercept((request, response) => {
    if (request.url === '/token') response.writeHead(200).end('{"accessToken":"of.no.use"}')
    else if (request.url === '/templates' && !refused) response.writeHead(401).end()
    else return false
    refused ||= request.url === '/templates'
    return true
  })
  const { exitCode, stderr } = await runHere(['import', server.url, '--email', ANA, '--database', newDatabase()])
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(server.openSessions()).toBe(0)
  expect(server.requests.filter(({ path }) => path === '/login').length).toBe(2)
})

test('import and the shadow ask for JSON alone, because some servers send others to a page for signing in', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept(({ headers }, response) => {
    if (headers.accept === 'application/json') return false
    response.writeHead(302, { location: '/sign-in' }).end()
    return true
  })
  const database = newDatabase()
  const { exitCode, stderr } = await runHere(['import', server.url, '--email', ANA, '--database', database])
  expect([exitCode, stderr]).toEqual([0, ''])
  const args = ['--database', database, '--shadow', server.url, '--answer-from', 'old', '--shadow-sample', '0']
  const gateway = await serveHereForTest(args)
  const { accessToken } = await openSession(gateway.url, ANA)
  const read = await ask(`${gateway.url}/projects`, { headers: bearer(accessToken) })
  expect([read.status, read.text]).toEqual([200, server.expected(ANA, '/projects')])
  expect(await gateway.kill('SIGTERM')).toBe(0)
  expect(server.openSessions()).toBe(0)
})

test('a server that answers null for what is empty, as servers in Go do: null is an empty list, and in follow a removal', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const database = newDatabase()
  const nulls = new Set(['/templates', '/exports?r=site'])
  server.setIntercept(({ url = '', headers }, response) => {
    if (!nulls.has(url) || headers.authorization === undefined) return false
    response.end('null\n')
    return true
  })
  const args = ['import', server.url, '--email', ANA, '--database', database, '--verify']
  const { exitCode, stdout, stderr } = await runHere(args)
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toContain('the same on both sides')
  const following = startFollow(server.url, ['--email', `${ANA},${BEN}`, '--database', database])
  expect(await following.next()).toMatchObject({ failed: 0 })
  nulls.add('/ui-libraries')
  await following.until(({ removed }) => removed > 0)
  expect(await following.next()).toMatchObject({ unchanged: 2, failed: 0 })
  await following.stop()
  const dumped = (await runHere(['dump', '--database', database])).stdout.split('\n')
  const kindsOfAna = dumped.filter((line) => line.includes(ANA)).map((line) => JSON.parse(line).kind)
  expect(kindsOfAna).not.toContain('template')
  expect(kindsOfAna).not.toContain('uiLibrary')
  expect(kindsOfAna).toContain('project')
})

test.each(['', 'two words\n', 'tök€n'])(
  'an invalid access token, %j, is reported at once and not shown',
  async (accessToken) => {
    await using server = await startPlainServer({ records: SMALL_WORLD })
    server.setIntercept((request, response) => {
      if (request.url !== '/login') return false
      response.writeHead(200).end(JSON.stringify({ accessToken, refreshToken: 'r' }))
      return true
    })
    const { exitCode, stderr } = await runHere(['import', server.url, '--email', ANA, '--database', newDatabase()])
    expect([exitCode, stderr]).toEqual([
      1,
      `--email, address 1: POST ${server.url}/login answered no accessToken\n1 failed: run it again to import the rest\n`,
    ])
  },
)

test('the sessions of logins without an access token are ended, in every round of follow', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const [opened, ended]: [string[], string[]] = [[], []]
  server.setIntercept((request, response) => {
    if (request.url === '/login') {
      opened.push(`session ${opened.length}`)
      response.end(JSON.stringify({ refreshToken: opened.at(-1) }))
    } else if (request.url === '/logout') {
      void text(request).then((body) => {
        ended.push(JSON.parse(body).refreshToken)
        response.end('{}')
      })
    } else return false
    return true
  })
  const following = startFollow(server.url, ['--email', ANA, '--database', newDatabase()])
  for (let round = 0; round < 3; round += 1) expect(await following.next()).toMatchObject({ failed: 1 })
  await following.stop()
  expect(opened.length).toBeGreaterThanOrEqual(3)
  expect(ended).toEqual(opened)
})

const NO_TIMES = ['Fri, 01 Jan 9999 00:00:00 GMT', '+100000-01-01T00:00:00Z', '-000100-01-01T00:00:00Z', 'yesterday']

test('a list that a user may not read (403) fails the user without opening one session after another', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept((request, response) => {
    if (request.url !== '/ui-libraries') return false
    response.writeHead(403).end()
    return true
  })
  const { exitCode, stderr } = await runHere(['import', server.url, '--email', ANA, '--database', newDatabase()])
  expect([exitCode, stderr.split('\n')[0]]).toEqual([
    1,
    `--email, address 1: GET ${server.url}/ui-libraries answered 403`,
  ])
  expect(server.requests.filter(({ path }) => path === '/login').length).toBe(1)
  expect(server.openSessions()).toBe(0)
})

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)

test.each([
  ...NO_TIMES.map((lastModified) => [lastModified, 'the time of the import', NOW] as const),
  ['Thu, 01 Jan 2026 10:20:30 GMT', 'that time', Date.UTC(2026, 0, 1, 10, 20, 30)] as const,
])('an export with the Last-Modified %s gets %s', async (lastModified, _, time) => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const database = newDatabase()
  server.setIntercept((request, response) => {
    if (request.url?.startsWith('/exports')) response.setHeader('last-modified', lastModified)
    return false
  })
  const args = ['import', server.url, '--email', BEN, '--database', database]
  const { exitCode, stderr } = await runHere(args, { clock: () => NOW })
  expect([exitCode, stderr]).toEqual([0, ''])
  const { stdout } = await runHere(['dump', '--database', database])
  expect(stdout).toContain(`"r":"secret","createdAt":"${new Date(time).toISOString()}"`)
})

test('a request that the server answers with 408 is sent again', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  let left = 2
  server.setIntercept((request, response) => {
    if (request.url !== '/templates' || left === 0) return false
    left -= 1
    response.writeHead(408, { connection: 'close' }).end()
    return true
  })
  const { exitCode, stderr } = await runHere(['import', server.url, '--email', ANA, '--database', newDatabase()])
  expect([exitCode, stderr]).toEqual([0, ''])
})

test('a request and a sign-out are sent again after the first 500, however often the server was busy before', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  onTestFinished(() => void vi.restoreAllMocks())
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const client = createRemoteClient(server.url, {
    headers: {},
    maxOutageMs: 600_000,
    stop: new AbortController().signal,
  })
  const path = '/login'
  const { body } = await client.send({ method: 'POST', path, body: { email: ANA }, opensSession: true })
  const { refreshToken } = JSON.parse(Buffer.from(body).toString())
  const statuses = new Map(['/projects', '/logout'].map((about) => [about, [429, 429, 429, 500]]))
  server.setIntercept(({ url = '' }, response) => {
    const status = statuses.get(url)?.shift()
    if (status !== undefined) response.writeHead(status, { 'retry-after': '0' }).end()
    return status !== undefined
  })
  const [read] = await Promise.all([client.send({ method: 'GET', path: '/projects' }), client.endSession(refreshToken)])
  expect([read.status, server.openSessions(), client.traffic().sessionsLeft]).toEqual([401, 0, 0])
})

test('the time that a server may be away is not waited again by the next request, and begins anew after an answer', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const client = createRemoteClient(server.url, {
    headers: {},
    maxOutageMs: 600_000,
    isOutageShared: true,
    stop: new AbortController().signal,
  })
  const statuses: number[] = []
  server.setIntercept((_, response) => {
    const status = statuses.shift() ?? 200
    if (statuses.length === 0) vi.advanceTimersByTime(600_000)
    response.writeHead(status).end()
    return true
  })
  const ask = (...told: readonly number[]) => {
    statuses.splice(0, statuses.length, ...told)
    return client.send({ method: 'GET', path: '/projects' }).then(
      ({ status }) => `${status}`,
      ({ message }: Error) => message,
    )
  }
  const away = `GET ${server.url}/projects answered 503`
  expect(await ask(503, 503)).toBe(away)
  for (const isDown of [false, false, true]) {
    expect(await ask(503, 200)).toBe(away)
    expect(client.isDown()).toBe(isDown)
  }
  expect(await ask(200)).toBe('200')
  expect([client.isDown(), await ask(503, 200)]).toEqual([false, '200'])
})

test('a list that is 404 when it is read again after a 304 removes nothing', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, hasEtags: true })
  const database = newDatabase()
  const following = startFollow(server.url, ['--email', ANA, '--database', database])
  // The second round has the entity tags.
  await following.next()
  await following.next()
  server.setIntercept((request, response) => {
    if (request.url !== '/templates' || request.headers['if-none-match'] !== undefined) return false
    response.writeHead(404).end()
    return true
  })
  server.workspaces.get(ANA)?.projects.reverse()
  expect(await following.until(({ failed }) => failed > 0)).toMatchObject({ failed: 1, changed: 0, removed: 0 })
  expect((await runHere(['dump', '--database', database])).stdout).toContain('"data":{"id":"t1","name":"Landing"}')
  server.setIntercept(null)
  await following.until(({ changed }) => changed === 1)
  await following.stop()
})

test('import --verify reports how many users could not be compared, and then does not call both sides the same', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  let reads = 0
  server.setIntercept((request, response) => {
    if (request.url !== '/templates') return false
    reads += 1
    // The reads of both imports are answered; of the comparisons, one is not.
    if (reads !== 3) return false
    response.writeHead(200).end('<html>')
    return true
  })
  const args = ['import', server.url, '--email', `${ANA},${BEN}`, '--concurrency', '1', '--verify']
  const { exitCode, stdout, stderr } = await runHere([...args, '--database', newDatabase()])
  expect([exitCode, stdout.split('\n')[1]]).toEqual([
    1,
    expect.stringMatching(/^verified 1 users, .*: 1 could not be compared$/),
  ])
  expect(stderr).toBe(`--email, address 1: GET ${server.url}/templates did not answer a JSON array\n`)
})

test('import reports answers that would take too much memory once parsed', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const large = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`
  const importing = async (path: string, body: string) => {
    server.setIntercept((request, response) => {
      if (request.url !== path) return false
      request.resume().on('end', () => response.writeHead(200).end(body))
      return true
    })
    const env = { NODE_OPTIONS: '--max-old-space-size=200' }
    return run(['import', server.url, '--email', ANA, '--database', newDatabase()], { env })
  }
  const list = await importing('/templates', `[{"id":"t1"},${large}]`)
  const found = `GET ${server.url}/templates answered an element with more than `
  expect([list.exitCode, list.stderr]).toEqual([1, expect.stringContaining(found)])
  const tokens = `{"accessToken":"a","refreshToken":"r","more":${large}}`
  const login = await importing('/login', tokens)
  expect([login.exitCode, login.stderr]).toEqual([1, expect.stringContaining(`POST ${server.url}/login `)])
})

async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${Object(server.address()).port}`
}

test('an answer without an end is given up when no string can hold it', async () => {
  const piece = Buffer.alloc(8 * 1024 * 1024, ' ')
  let sent = 0
  const url = await listening((_request, response) => {
    response.on('error', () => {})
    const send = () => {
      sent += piece.byteLength
      response.write(piece, (error) => error ?? send())
    }
    send()
  })
  const client = createRemoteClient(url, { headers: {}, maxOutageMs: 60_000, stop: new AbortController().signal })
  await expect(client.send({ method: 'GET', path: '/exports?r=ana@example.com' })).rejects.toThrow(
    `GET ${url}/exports: the answer is larger than 512 MiB`,
  )
  expect(sent).toBeLessThan(640 * 1024 * 1024)
})

test('an answer that drips is given up, but one that is slow is not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const pieces = { drip: 1, slow: 65_536 }
  const url = await listening((request, response) => {
    const length = request.url === '/drip' ? pieces.drip : pieces.slow
    let left = 3
    const send = () => {
      left -= 1
      if (left < 0) return void response.end()
      response.write(' '.repeat(length))
    }
    response.on('error', () => {})
    sendNext = send
    send()
  })
  let sendNext = () => {}
  const client = createRemoteClient(url, { headers: {}, maxOutageMs: 0, stop: new AbortController().signal })
  async function ask(path: string): Promise<string> {
    const before = client.traffic().bytes
    const answer = client.send({ method: 'GET', path }).then(
      ({ body }) => `${body.byteLength} bytes`,
      (error: Error) => error.message,
    )
    const step = path === '/drip' ? pieces.drip : pieces.slow
    for (let piece = 1; piece <= 3; piece += 1) {
      while (client.traffic().bytes < before + piece * step) {
        const ended = await Promise.race([answer, new Promise<null>((resolve) => setImmediate(() => resolve(null)))])
        if (ended !== null) return ended
      }
      await vi.advanceTimersByTimeAsync(40_000)
      sendNext()
    }
    return answer
  }
  expect(await ask('/slow')).toBe(`${3 * pieces.slow} bytes`)
  expect(await ask('/drip')).toBe(`GET ${url}/drip: no answer`)
})
