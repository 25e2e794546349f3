// Importing a whole server: what the server may do meanwhile, and what may happen on this side.
import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { createRemoteClient } from '../../src/import-export/remote/client.ts'
import { retryAfterMs } from '../../src/import-export/remote/retry.ts'
import { runHere, startRun } from '../support/command-line.ts'
import { createWorkspace, withoutProgress } from '../support/import-workspace.ts'
import { type PlainServer, type PlainServerOptions, startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'

/** `users` users beside ana and ben. */
function world(users: number): string {
  const others = Array.from({ length: users }, (_, index) => {
    const email = `user-${index}@example.com`
    return (
      documentLine('project', email, `{"id":"p","ref":"r${index}","n":${index}.0}`) +
      exportLine(email, { r: `r${index}`, createdAt: '2026-01-01T00:00:00Z', elements: [`{"n":${index}.10}`] })
    )
  })
  return SMALL_WORLD + others.join('')
}

async function oldServer(records: string, options: Partial<PlainServerOptions> = {}) {
  const server = await startPlainServer({ records, basePath: '/v1', ...options })
  const workspace = createWorkspace()
  const emails = workspace.write('users.txt', `# who moves\n\n${[...server.workspaces.keys()].join('\r\n')}\n`)
  const moveIn = async (...more: readonly string[]) =>
    withoutProgress(await workspace.run('import', server.url, '--emails', emails, ...more))
  return { server, workspace, emails, moveIn }
}

/** The stored documents and newest exports of each user are exactly those that the old server has. */
async function expectTheSame(server: PlainServer, workspace: ReturnType<typeof createWorkspace>): Promise<void> {
  const lines = (await workspace.dump()).split('\n').filter((line) => line !== '')
  for (const [email, { projects, templates, uiLibraries, exports }] of server.workspaces) {
    const own = lines.filter((line) => line.includes(`"${email}"`))
    const isExport = (line: string) => line.startsWith('{"kind":"export"')
    const texts = [...projects, ...templates, ...uiLibraries]
    expect(own.filter((line) => !isExport(line)).map(dataOf)).toEqual(texts)
    // A dump has the exports of a project from the oldest to the newest.
    const newest = new Map(own.filter(isExport).map((line) => [JSON.parse(line).r, dataOf(line)]))
    expect(newest).toEqual(new Map([...exports].map(([r, { elements }]) => [r, `[${elements.join(',')}]`])))
  }
}

function dataOf(line: string): string {
  return line.slice(line.indexOf('"data":') + 7, -1)
}

test('import reads every user of a file, and --verify compares both sides', async () => {
  const { server, workspace, emails, moveIn } = await oldServer(world(12))
  const { exitCode, stdout, stderr } = await moveIn('--verify')
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/: 14 users: 31 added, 0 replaced, 0 unchanged \(/)
  expect(stdout).toMatch(/verified 14 users, \d+ answers, .*: the same on both sides\n$/)
  await expectTheSame(server, workspace)
  expect(server.openSessions()).toBe(0)
  expect(existsSync(`${emails}.state`)).toBe(false)
})

test('import --verify finds differences and names them without showing the user', async () => {
  const { server, emails, moveIn } = await oldServer(world(3))
  expect((await moveIn('--verify')).exitCode).toBe(0)
  // An import without --replace neither removes nor sorts.
  server.workspaces.get('user-0@example.com')?.exports.delete('r0')
  server.workspaces.get(ANA)?.projects.reverse()
  const again = await moveIn('--verify')
  const lines = readFileSync(emails, 'utf8').split('\n')
  const labelOf = (email: string) => `${emails}:${lines.findIndex((line) => line.trim() === email) + 1}`
  expect([again.exitCode, again.stdout.includes('2 users differ')]).toEqual([1, true])
  expect(again.stderr).toContain(`${labelOf('user-0@example.com')}: GET /exports is 404 there, and not here\n`)
  expect(again.stderr).toContain(`${labelOf(ANA)}: GET /projects has other documents, or has them in another order\n`)
  expect(again.stderr).not.toContain('@example.com')
})

test('import --verify names a list that alone is 404 there, but only if documents of it are stored here', async () => {
  const { server, moveIn } = await oldServer(world(1))
  expect((await moveIn('--verify')).exitCode).toBe(0)
  server.setIntercept(({ url, headers }, response) => {
    if (url !== '/v1/ui-libraries' || headers.authorization === undefined) return false
    response.writeHead(404).end()
    return true
  })
  const sizes = [...server.workspaces.values()].map(({ uiLibraries }) => uiLibraries.length)
  expect([sizes.filter((size) => size > 0).length, sizes.includes(0)]).toEqual([1, true])
  const again = await moveIn('--verify')
  const differences = again.stderr.split('\n').filter((line) => line.includes(': GET '))
  expect(differences).toEqual([
    expect.stringMatching(
      /: GET \/ui-libraries is 404 there although other lists are not, and documents of this list are stored here$/,
    ),
  ])
  expect([again.exitCode, again.stdout]).toEqual([1, expect.stringMatching(/: 1 user differs\n$/)])
})

test('import --verify neither asks again for a user who could not be imported nor reports the reason twice', async () => {
  const { server, moveIn } = await oldServer(world(3))
  server.setIntercept((request, response) => {
    if (request.url !== '/v1/exports?r=r1') return false
    response.writeHead(403).end()
    return true
  })
  const { exitCode, stdout, stderr } = await moveIn('--verify')
  expect([exitCode, stderr.match(/\/v1\/exports answered 403\n/g)?.length]).toEqual([1, 1])
  expect(stdout).toMatch(/verified 4 users, \d+ answers, .*: 1 not imported\n$/)
  const refused = server.requests.filter(({ path, status }) => path === '/exports?r=r1' && status === 403)
  // The import asks again with a renewed access token.
  expect(refused).toHaveLength(2)
})

test('import waits for an old server that is killed in the middle and comes back', async () => {
  const { server, workspace, moveIn } = await oldServer(world(10))
  let reads = 0
  server.setIntercept((_request, response) => {
    reads += 1
    if (reads !== 12) return false
    // This answer is cut, and so are all others.
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('[{"id"')
    server
      .kill({ forgetsSessions: true })
      .then(() => new Promise((resolve) => setTimeout(resolve, 300)))
      .then(() => server.restart())
    return true
  })
  const { exitCode, stdout, stderr } = await moveIn('--verify')
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toContain('the same on both sides')
  await expectTheSame(server, workspace)
})

test('import retries when a server is busy or fails a few times', async () => {
  const { server, moveIn } = await oldServer(world(3))
  let count = 0
  server.setIntercept((_, response) => {
    count += 1
    const status = count % 11 === 0 ? 429 : count % 4 === 0 ? 500 : count === 5 ? 503 : 0
    if (status === 0) return false
    response.writeHead(status, status === 429 ? { 'retry-after': '1' } : {}).end('{"error":"busy"}')
    return true
  })
  const { exitCode, stdout, stderr } = await moveIn('--concurrency', '1')
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toContain('5 users: 13 added')
  const statuses = new Set(server.requests.map(({ status }) => status))
  expect([...statuses].toSorted()).toEqual([200, 401, 404, 429, 500, 503])
  expect(server.openSessions()).toBe(0)
})

test('import retries when the first answers of a server break off', async () => {
  const { server, workspace, moveIn } = await oldServer(SMALL_WORLD)
  let broken = 0
  server.setIntercept((_, response) => {
    if (broken === 2) return false
    broken += 1
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    response.write('[', () => response.destroy())
    return true
  })
  const { exitCode, stderr } = await moveIn()
  expect([exitCode, stderr, broken]).toEqual([0, '', 2])
  await expectTheSame(server, workspace)
  expect(server.openSessions()).toBe(0)
})

test('import accepts a server that answers a login with 201, and leaves no session open there', async () => {
  const { server, workspace, moveIn } = await oldServer(SMALL_WORLD, { faults: ['login-is-201'] })
  const { exitCode, stderr } = await moveIn('--verify')
  expect([exitCode, stderr]).toEqual([0, ''])
  await expectTheSame(server, workspace)
  expect(server.requests.some(({ path, status }) => path === '/login' && status === 201)).toBe(true)
  expect(server.openSessions()).toBe(0)
})

test('import reads Retry-After as seconds or as a date, with a maximum', () => {
  const now = Date.UTC(2026, 0, 1)
  const asked = (retryAfter: string | null, date: string | null = null) => retryAfterMs({ retryAfter, date }, now)
  expect(asked('7')).toBe(7_000)
  expect(asked('Thu, 01 Jan 2026 00:00:30 GMT')).toBe(30_000)
  expect(asked('Wed, 31 Dec 2025 00:00:00 GMT')).toBe(0)
  expect(asked('999999')).toBe(300_000)
  for (const none of [null, '', 'soon', '-1x', '1e9999']) expect(asked(none), String(none)).toBe(null)
  // The clock of the server is an hour ahead or behind.
  expect(asked('Thu, 01 Jan 2026 01:00:02 GMT', 'Thu, 01 Jan 2026 01:00:00 GMT')).toBe(2_000)
  expect(asked('Wed, 31 Dec 2025 23:00:02 GMT', 'Wed, 31 Dec 2025 23:00:00 GMT')).toBe(2_000)
  expect(asked('Thu, 01 Jan 2026 00:00:30 GMT', 'yesterday')).toBe(30_000)
})

test.each(['0', new Date(0).toUTCString(), '-5'])(
  'import pauses between retries even when a busy server asks for no wait (Retry-After: %s)',
  async (retryAfter) => {
    const { server, moveIn } = await oldServer(SMALL_WORLD)
    server.setIntercept((request, response) => {
      if (request.url !== '/v1/templates') return false
      response.writeHead(503, { 'retry-after': retryAfter, date: new Date().toUTCString() }).end()
      return true
    })
    const { exitCode, stderr } = await moveIn('--max-outage', '1s')
    expect([exitCode, stderr.includes('/v1/templates answered 503')]).toEqual([1, true])
    // For each user one request at once, and the others after pauses that double.
    expect(server.requests.filter(({ path }) => path === '/templates').length).toBeLessThan(2 * 8)
  },
)

test('import goes on with the others when a user cannot be read, and reads only that user in the next run', async () => {
  const { server, workspace, emails, moveIn } = await oldServer(world(8))
  server.setIntercept((request, response) => {
    if (request.url !== '/v1/exports?r=r3') return false
    response.writeHead(500).end()
    return true
  })
  const first = await moveIn()
  expect(first.exitCode).toBe(1)
  expect(first.stderr).toMatch(/^\S+users\.txt:\d+: GET http:\/\/\S+\/v1\/exports answered 500\n1 failed: run it again/)
  expect(first.stderr).not.toContain('@example.com')
  expect(readFileSync(`${emails}.state`, 'utf8')).not.toContain('@')
  server.setIntercept(null)
  const before = server.requests.length
  const second = await moveIn()
  expect([second.exitCode, second.stderr]).toEqual([0, 'users imported by an earlier run: 9, left: 1\n'])
  expect(server.requests.slice(before).map(({ path }) => path)).toEqual([
    '/projects',
    '/login',
    '/projects',
    '/templates',
    '/ui-libraries',
    '/exports?r=r3',
    '/logout',
  ])
  expect(existsSync(`${emails}.state`)).toBe(false)
  await expectTheSame(server, workspace)
})

test('import ends soon after the server goes down for good, and the next run reads the users who are left', async () => {
  const { server, workspace, emails, moveIn } = await oldServer(world(20))
  let logins = 0
  server.setIntercept((request, response) => {
    if (request.url === '/v1/login') logins += 1
    if (logins < 5) return false
    response.writeHead(503).end()
    return true
  })
  // The fifth user ends the time that the server may be away, and three more find out that it is down.
  const first = await moveIn('--concurrency', '1', '--max-outage', '0s', '--verify')
  const line = /^\S+users\.txt:\d+: POST \S+\/login answered 503$/
  const told = first.stderr.trimEnd().split('\n')
  expect([first.exitCode, told.filter((text) => line.test(text)).length, logins]).toEqual([1, 4, 8])
  expect(told.slice(4)).toEqual([
    'users who were not asked for, because the server no longer answers: 14',
    '18 failed: run it again to import the rest',
  ])
  expect(first.stdout).toMatch(
    /: 4 users, 18 failed: .*\nverified 0 users, .*: 4 could not be compared, 18 not imported\n$/,
  )
  expect(existsSync(`${emails}.state`)).toBe(true)
  server.setIntercept(null)
  const second = await moveIn()
  expect([second.exitCode, second.stderr]).toEqual([0, 'users imported by an earlier run: 4, left: 18\n'])
  await expectTheSame(server, workspace)
})

test('import reads all other users when the server never sends the exports of some, however many are asked for at once', async () => {
  const { server, moveIn } = await oldServer(world(12))
  const held: (() => void)[] = []
  server.setIntercept((request, response) => {
    if (!/r=r[0-3]$/.test(request.url ?? '')) return false
    // All four wait, so that no other request is answered between them.
    held.push(() => response.writeHead(504).end())
    if (held.length === 4) for (const answer of held) answer()
    return true
  })
  const { exitCode, stdout, stderr } = await moveIn('--concurrency', '4', '--max-outage', '0s')
  expect([exitCode, stdout.includes(': 10 users, 4 failed: ')]).toEqual([1, true])
  expect(stderr.match(/\/v1\/exports answered 504\n/g)).toHaveLength(4)
})

test('import continues where it was killed, and keeps what it had done', async () => {
  const { server, workspace, emails, moveIn } = await oldServer(world(30))
  let logins = 0
  const { promise: isHalfway, resolve } = Promise.withResolvers<void>()
  server.setIntercept((request) => {
    if (request.url === '/v1/login') logins += 1
    if (logins === 15) resolve()
    return false
  })
  const running = startRun(['import', server.url, '--emails', emails, ...workspace.flags])
  await isHalfway
  expect((await running.kill()).exitCode).toBe(null)
  const state = readFileSync(`${emails}.state`, 'utf8')
  expect(statSync(`${emails}.state`).mode & 0o777).toBe(0o600)
  writeFileSync(`${emails}.state`, `${state}${createHash('sha256').update(ANA).digest('hex').slice(0, 20)}`)
  const again = await moveIn('--verify')
  expect(again.exitCode).toBe(0)
  const [, done = 0, left = 0] =
    /^users imported by an earlier run: (\d+), left: (\d+)\n$/.exec(again.stderr)?.map(Number) ?? []
  expect([done > 0, done + left]).toEqual([true, 32])
  await expectTheSame(server, workspace)
})

test('import begins anew after it was killed while it wrote the first line of its state', async () => {
  const { server, workspace, emails, moveIn } = await oldServer(SMALL_WORLD)
  server.setIntercept(({ url }, response) => {
    if (url !== '/v1/templates') return false
    response.writeHead(500).end()
    return true
  })
  expect((await moveIn()).exitCode).toBe(1)
  server.setIntercept(null)
  const state = readFileSync(`${emails}.state`, 'utf8')
  writeFileSync(`${emails}.state`, state.slice(0, 20))
  const again = await moveIn()
  expect([again.exitCode, again.stderr]).toEqual([0, ''])
  await expectTheSame(server, workspace)
})

test('import signs out everywhere when it is stopped, and continues when it is run again', async () => {
  const { server, workspace, emails, moveIn } = await oldServer(world(20))
  const { promise: isHalfway, resolve } = Promise.withResolvers<void>()
  server.setIntercept((request) => {
    if (request.url === '/v1/exports?r=r4') resolve()
    return false
  })
  const running = startRun(['import', server.url, '--emails', emails, ...workspace.flags])
  await isHalfway
  expect(await running.kill('SIGINT')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'stopped: run it again to continue\n',
  })
  expect(server.openSessions()).toBe(0)
  const entry = JSON.parse((await workspace.run('audit')).stdout)
  expect(entry).toMatchObject({
    kind: 'import',
    result: 'failed',
    detail: expect.stringMatching(/^broken off: \d+ user/),
  })
  expect((await moveIn('--verify')).exitCode).toBe(0)
})

test('when import is stopped before the server has answered anything, it says so in one sentence', async () => {
  const { server, workspace, emails } = await oldServer(world(2))
  const { promise: isAsked, resolve } = Promise.withResolvers<void>()
  server.setIntercept(() => {
    resolve()
    return true
  })
  const running = startRun(['import', server.url, '--emails', emails, ...workspace.flags])
  await isAsked
  expect(await running.kill('SIGINT')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'stopped: run it again to continue\n',
  })
})

test('import renews a session that expires, and opens a new one when it is gone', async () => {
  const { server, workspace, moveIn } = await oldServer(world(2), { accessTokenTtlSeconds: 900 })
  let reads = 0
  server.setIntercept((request, response) => {
    const isRead = request.headers.authorization !== undefined && request.method === 'GET'
    if (isRead) reads += 1
    const isRefusedToken = request.url === '/v1/token' && reads > 8
    if (!(isRead && reads % 4 === 0) && !isRefusedToken) return false
    response.writeHead(401).end()
    return true
  })
  const { exitCode, stderr } = await moveIn('--concurrency', '1')
  expect([exitCode, stderr]).toEqual([0, ''])
  const paths = server.requests.map(({ path }) => path)
  expect(paths.filter((path) => path === '/token').length).toBeGreaterThan(1)
  expect(paths.filter((path) => path === '/login').length).toBeGreaterThan(4)
  await expectTheSame(server, workspace)
})

test('import takes an export that is too large for one line, and --verify ignores white space between documents', async () => {
  const elements = Array.from({ length: 17 }, (_, n) => `{"path":"${n}","text":"${'x'.repeat(1_000_000)}"}`)
  const { server, moveIn } = await oldServer(
    documentLine('project', ANA, '{"id":"p","ref":"big"}') +
      exportLine(ANA, { r: 'big', createdAt: '2026-01-01T00:00:00Z', elements }),
  )
  server.setIntercept((request, response) => {
    if (request.url !== '/v1/projects' || request.headers.authorization === undefined) return false
    response.writeHead(200, { 'content-type': 'application/json' }).end('[\r\n  {"id":"p","ref":"big"}\n]\n')
    return true
  })
  const { exitCode, stdout } = await moveIn('--verify')
  expect([exitCode, stdout]).toMatchObject([0, expect.stringContaining('the same on both sides; 1 answers there')])
})

test('import --replace removes what is not there, and keeps the history of what stays', async () => {
  const { server, workspace, moveIn } = await oldServer(SMALL_WORLD)
  await workspace.load(SMALL_WORLD)
  await workspace.load(documentLine('template', ANA, '{"id":"gone"}'))
  const ana = server.workspaces.get(ANA)
  ana?.projects.reverse()
  ana?.exports.set('site', { createdAt: '2026-01-01T00:00:00Z', elements: ['{"path":"old.html"}'] })
  server.workspaces.get(BEN)?.exports.clear()
  const { exitCode, stdout } = await moveIn('--replace', '--verify')
  expect(exitCode).toBe(0)
  // Two projects swap places.
  expect(stdout).toContain('1 added, 2 replaced, 3 unchanged, 2 removed')
  await expectTheSame(server, workspace)
  // The newest export there is the newest here, and what was here before is its history.
  const exports = (await workspace.dump()).split('\n').filter((line) => line.startsWith('{"kind":"export"'))
  expect(exports.map((line) => line.slice(line.indexOf('"data":')))).toEqual([
    '"data":[{"path":"old.html"}]}',
    '"data":[{"path":"new.html"},1.0]}',
    '"data":[{"path":"old.html"}]}',
  ])
})

test('a --state that is not a regular file is refused before anything is done', async () => {
  const { server, workspace } = await oldServer(SMALL_WORLD)
  // Behind a link: a command that removed it would remove what the system needs.
  const state = workspace.path('nowhere')
  symlinkSync('/dev/null', state)
  const { exitCode, stdout, stderr } = await workspace.run('import', server.url, '--email', ANA, '--state', state)
  expect([exitCode, stdout, stderr]).toEqual([2, '', `--state: ${state} is no file: name one that keeps who is done\n`])
  expect(server.openSessions()).toBe(0)
})

test('import reports input that cannot be used before it does anything', async () => {
  const { workspace, emails, server } = await oldServer(SMALL_WORLD)
  const wrong = workspace.write('wrong.txt', `${ANA}\nnot an address\nANA@example.com\n`)
  const refused = await workspace.run('import', server.url, '--emails', wrong)
  expect([refused.exitCode, refused.stderr]).toEqual([
    2,
    `${wrong}:2: not an email address\n${wrong}:3: the same user as ${wrong}:1\n`,
  ])
  // A file of one line may lack the line end: it is not the state of an import either.
  for (const text of ['of something else\n', 'a-secret-token', '\n']) {
    const state = workspace.write('users.txt.state', text)
    const other = await workspace.run('import', server.url, '--emails', emails)
    expect([other.exitCode, other.stderr.includes('is of another import')]).toEqual([2, true])
    expect(readFileSync(state, 'utf8')).toBe(text)
  }
  const both = await runHere(['import', server.url, '--emails', emails, '--email', ANA])
  expect([both.exitCode, both.stderr.includes('one of them')]).toEqual([2, true])
  for (const bare of ['?', '#', '/v1?']) {
    const { exitCode, stderr } = await runHere(['import', `${server.url}${bare}`, '--email', ANA])
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('must not have a user, password, query or fragment'),
    ])
  }
  const headers = workspace.write('headers', 'X-Api-Key: k-1\nHost: old.example.com\n')
  const host = await runHere(['import', server.url, '--email', ANA, '--headers', headers])
  expect([host.exitCode, host.stderr]).toEqual([
    2,
    expect.stringContaining(`--headers: ${headers}:2: Host cannot be set`),
  ])
  const secret = await runHere(['import', 'https://ana:hunter2@old.example.com', '--email', ANA])
  expect([secret.exitCode, secret.stderr.includes('hunter2')]).toEqual([2, false])
  // The server was asked only whether it answers, once for each file.
  expect(server.requests.map(({ status }) => status)).toEqual([401, 401, 401])
})

test('import ends a wait for the server at once when it is stopped', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept((_request, response) => {
    response.writeHead(503, { 'retry-after': '300' }).end()
    return true
  })
  const stop = new AbortController()
  const client = createRemoteClient(server.url, { headers: {}, maxOutageMs: 600_000, stop: stop.signal })
  const asked = client.send({ method: 'GET', path: '/projects' })
  setTimeout(() => stop.abort(), 50)
  await expect(asked).rejects.toThrow('aborted')
})

test('import reports that it waits for a server, and why', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept((_request, response) => {
    response.writeHead(503, { 'retry-after': '300' }).end()
    return true
  })
  const stderr = new PassThrough()
  const io = { stdin: Readable.from([]), stdout: new PassThrough(), stderr, isTerminal: false, clock: Date.now }
  const signals = new EventEmitter()
  const ended = runCommandLine(['import', server.url, '--email', ANA], io, signals)
  const [told] = await once(stderr, 'data')
  expect(String(told)).toBe(`waiting for the other server: GET ${server.url}/projects answered 503\n`)
  signals.emit('SIGTERM')
  expect(await ended).toBe(1)
})

test.each([
  ['importing', 1],
  ['verifying', 2],
])('on a terminal, %s shows its progress while it waits for the answer of one user', async (label, time) => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const held: ServerResponse[] = []
  let reads = 0
  server.setIntercept(({ url }, response) => {
    if (url !== '/exports?r=site') return false
    reads += 1
    if (reads === time) held.push(response)
    return reads === time
  })
  const stderr = new PassThrough()
  stderr.on('data', (bytes) => {
    const shown = `${label}: 0 of 1 users, `
    // The user cannot be done before.
    if (String(bytes).includes(shown)) for (const response of held.splice(0)) response.end('[{"path":"new.html"},1.0]')
  })
  const io = { stdin: Readable.from([]), stdout: new PassThrough(), stderr, isTerminal: true, clock: Date.now }
  const args = ['--email', ANA, '--verify', '--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  expect(await runCommandLine(['import', server.url, ...args], io, new EventEmitter())).toBe(0)
})

test('import reports a list that alone is 404, and with --replace removes nothing of it that is stored here', async () => {
  const { server, workspace, moveIn } = await oldServer(SMALL_WORLD)
  server.setIntercept(({ url, headers }, response) => {
    if (url !== '/v1/templates' || headers.authorization === undefined) return false
    response.writeHead(404).end()
    return true
  })
  const first = await moveIn()
  expect([first.exitCode, first.stderr]).toEqual([
    0,
    'users with a list that is 404 there although others are not, from which nothing was imported: 2\n',
  ])
  server.setIntercept(null)
  expect(await moveIn()).toMatchObject({ exitCode: 0, stderr: '' })
  const before = await workspace.dump()
  server.setIntercept(({ url, headers }, response) => {
    if (url !== '/v1/projects' || headers.authorization === undefined) return false
    response.writeHead(404).end()
    return true
  })
  const replaced = await moveIn('--replace')
  expect(replaced.exitCode).toBe(1)
  expect(replaced.stderr).toContain(
    ': GET /projects answered 404 although other lists did not, and such documents are stored here\n',
  )
  expect(replaced.stderr).not.toContain('@example.com')
  expect(await workspace.dump()).toBe(before)
})
