// conformance finds the faults of a server of the contract, and none where there are none.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCheck } from '../../src/conformance/check.ts'
import { EXPORT_CHECKS } from '../../src/conformance/checks/exports.ts'
import { FAILURE_CHECKS } from '../../src/conformance/checks/failures.ts'
import { LOGIN_CHECKS } from '../../src/conformance/checks/login.ts'
import type { Probe } from '../../src/conformance/probe.ts'
import { run, runHere } from '../support/command-line.ts'
import { conformance } from '../support/conformance.ts'
import { startGateway } from '../support/gateway.ts'
import { PLAIN_FAULTS, type PlainFault } from '../support/plain-faults.ts'
import { type PlainServer, startPlainServer } from '../support/plain-server.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

/** The check that finds each fault: its group and the beginning of its name. */
const FOUND_BY: Readonly<Record<PlainFault, readonly [group: string, name: string]>> = {
  'login-lacks-refresh-token': ['POST /login', 'answers accessToken and refreshToken'],
  'login-is-201': ['POST /login', 'answers 200'],
  'login-needs-no-email': ['POST /login', 'signs nobody in without an email'],
  'access-token-is-no-jwt': ['POST /login', 'answers a JWT'],
  'token-is-201': ['POST /token', 'answers 200 and an accessToken'],
  'token-takes-anything': ['POST /token', 'answers 401 to a token nobody was given'],
  'bad-refresh-token-is-400': ['POST /token', 'answers 401 to a token nobody was given'],
  'refresh-token-works-once': ['POST /token', 'takes the same refresh token again'],
  'logout-ends-nothing': ['DELETE /logout', 'ends the session'],
  'delete-loses-its-body': ['DELETE /logout', 'answers 200 to the refresh token in its body'],
  'logout-is-204': ['DELETE /logout', 'answers 200 to the refresh token in its body'],
  'logout-takes-anything': ['DELETE /logout', 'answers 401 to a token nobody was given'],
  'logout-ends-all': ['DELETE /logout', 'ends no other session'],
  'reads-need-no-token': ['GET /projects', 'refuses a request without Authorization'],
  'reads-take-forged-token': ['GET /exports', 'refuses a token signed by another key'],
  'reads-take-refresh-token': ['GET /templates', 'refuses a refresh token'],
  'list-is-an-object': ['GET /projects', 'answers an array'],
  'list-is-html': ['GET /ui-libraries', 'answers JSON'],
  'list-is-not-json': ['GET /projects', 'answers an array'],
  'list-is-not-utf8': ['GET /projects', 'answers an array'],
  'unknown-export-is-empty': ['GET /exports', 'answers 404 for a reference there is not'],
  'error-shows-stack': ['errors', 'no error shows the insides'],
  'head-is-404': ['GET /projects', 'answers HEAD like GET'],
  'head-tells-another-length': ['GET /exports', 'answers HEAD like GET'],
  'not-modified-for-strangers': ['GET /projects', 'refuses to tell a stranger'],
}

test('conformance finds no fault in a plain server of the contract, and leaves no session open', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, basePath: '/v1' })
  const { exitCode, counts, checks } = await conformance(`${server.url}/`)
  expect([exitCode, counts.fail, counts.skipped]).toEqual([0, 0, 0])
  expect(counts.silent).toBeGreaterThan(5)
  expect(checks.filter(({ outcome }) => outcome === 'silent').every(({ source }) => source === 'gateway')).toBe(true)
  expect(server.openSessions()).toBe(0)
  expect(new Set(server.requests.map(({ method }) => method))).toEqual(
    new Set(['GET', 'HEAD', 'POST', 'DELETE', 'PATCH']),
  )
  const strict = await conformance(server.url, '--strict')
  expect([strict.exitCode, strict.counts.fail, strict.counts.silent]).toEqual([1, counts.silent, 0])
})

test.each(['gzip', 'br', 'deflate', 'zstd'] as const)(
  'conformance finds no fault in a server that compresses every answer with %s, and leaves no session open',
  async (coding) => {
    await using server = await startPlainServer({ records: SMALL_WORLD, hasEtags: true, coding })
    const { exitCode, counts } = await conformance(server.url)
    expect([exitCode, counts.fail, counts.skipped]).toEqual([0, 0, 0])
    expect(counts.pass).toBeGreaterThan(70)
    expect(server.openSessions()).toBe(0)
  },
)

test('conformance finds no fault in a server with one session per user, and says that a login ends the earlier one', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, hasOneSessionPerUser: true })
  const { exitCode, checks, sessionsLeftOpen } = await conformance(server.url)
  expect(checks.filter(({ outcome }) => outcome === 'fail')).toEqual([])
  expect(checks.find(({ name }) => name === 'ends no earlier session of the user')).toMatchObject({
    group: 'POST /login',
    outcome: 'silent',
    found: 'answered 401',
  })
  const skipped = checks.filter(({ outcome }) => outcome === 'skipped')
  expect(skipped.map(({ group, name, found }) => [group, name, found])).toEqual([
    ['DELETE /logout', 'ends no other session of the user', 'DELETE /logout answered 401'],
  ])
  expect([exitCode, sessionsLeftOpen, server.openSessions()]).toEqual([0, 0, 0])
})

test('conformance finds no fault in a server that closes a connection just as the next request arrives on it', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const used = new WeakSet<object>()
  let closed = 0
  server.setIntercept(({ socket }) => {
    const isUsed = used.has(socket)
    used.add(socket)
    if (!isUsed) return false
    closed += 1
    socket.destroy()
    return true
  })
  const { exitCode, counts, sessionsLeftOpen } = await conformance(server.url)
  expect([exitCode, counts.fail, counts.skipped, sessionsLeftOpen, server.openSessions()]).toEqual([0, 0, 0, 0, 0])
  expect(closed).toBeGreaterThan(20)
})

test('conformance reports a server that closes every connection without an answer, and does not try for ever', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  let closed = 0
  server.setIntercept(({ url, socket }) => {
    if (url !== '/templates') return false
    closed += 1
    socket.destroy()
    return true
  })
  const { exitCode, checks } = await conformance(server.url)
  const reads = checks.find(({ group, name }) => group === 'GET /templates' && name === 'answers 200 or 404')
  expect([exitCode, reads?.found]).toEqual([1, 'there was no answer, or one that broke off'])
  expect(closed).toBeLessThan(50)
})

/** Runs the check whose name begins like this, as if the server had answered like this. */
async function checkAnswer(begin: string, seen: object) {
  const check = [...LOGIN_CHECKS, ...EXPORT_CHECKS, ...FAILURE_CHECKS].find(({ name }) => name.startsWith(begin))
  if (!check) throw new Error(`there is no check ${begin}`)
  const { outcome, found } = await runCheck(check, seen as Probe)
  return [outcome, found]
}

test.each([
  ['where in the program it was made', 'Error: x\n    at read (index.js:7:3)'],
  ['a path of the server', 'ENOENT: no such file, open "/srv/app/data/ana.json"'],
  ['SQL or its errors', 'SQLITE_BUSY: database is locked'],
  ['SQL or its errors', 'ORA-00942: table or view does not exist'],
  ['SQL or its errors', 'error: syntax error at or near "projects"'],
  ['SQL or its errors', 'SELECT data FROM project'],
  ['SQL or its errors', 'in: select data from project where user_id = $1'],
  ['a token', 'cannot verify eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEifQ.c2ln'],
])('conformance finds an error that shows %s', async (what, text) => {
  const failuresWith = (message: string) => ({
    failures: () => [
      {
        method: 'GET',
        path: '/exports',
        answer: { status: 500, headers: {}, body: Buffer.from(JSON.stringify({ message })) },
      },
    ],
  })
  const name = 'no error shows the insides'
  expect(await checkAnswer(name, failuresWith(text))).toEqual(['fail', `the 500 to GET /exports shows ${what}`])
  for (const plain of ['No project has this reference.', 'Select a project from the list.']) {
    expect(await checkAnswer(name, failuresWith(plain))).toEqual(['pass', ''])
  }
})

test('conformance finds tokens in the refusal of a login, and an error whose body has another status', async () => {
  const refusal = { status: 400, body: Buffer.from('{"accessToken":"a"}') }
  const signsIn = await checkAnswer('signs nobody in without an email', { send: async () => refusal })
  expect(signsIn).toEqual(['fail', 'answered 400 with tokens'])
  const headers = { 'content-type': 'application/problem+json' }
  const problem = { status: 404, headers, body: Buffer.from('{"status":500,"code":"NOT_FOUND"}') }
  const failures = () => [{ method: 'GET', path: '/nowhere', answer: problem }]
  const isProblem = await checkAnswer('errors are application/problem+json', { failures })
  expect(isProblem).toEqual(['silent', 'the 404 to GET /nowhere has another status in its body'])
})

test('conformance finds a server that answers an export for a reference that it does not decode', async () => {
  const sendAsUser = async ({ path }: { readonly path: string }) => ({ status: path.includes('%') ? 200 : 404 })
  const answered = await checkAnswer('answers 404 for a reference there is not', { sendAsUser })
  expect(answered).toEqual(['fail', 'answered 200'])
})

test.each([
  ['a path that is 404 for everybody', 404],
  ['a path whose proxy answers 502', 502],
])('conformance skips the token check for %s', async (_, status) => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept(({ url, headers }, response) => {
    const isAnswered = url === '/templates' && (status === 404 || headers.authorization === undefined)
    if (isAnswered) response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    return isAnswered
  })
  const { checks } = await conformance(server.url)
  const outcome = checks.find(
    ({ group, name }) => group === 'GET /templates' && name === 'refuses a request without Authorization',
  )
  expect(outcome).toMatchObject({ outcome: 'skipped', found: `answered ${status}` })
})

test('conformance reports a body that is not in its declared content coding as one that is not JSON', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept((request, response) => {
    if (request.url !== '/templates' || request.method !== 'GET') return false
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('not coded')
    return true
  })
  const { exitCode, checks } = await conformance(server.url)
  const found = checks.filter(({ group, outcome }) => group === 'GET /templates' && outcome === 'fail')
  expect([exitCode, found.map(({ found: why }) => why)]).toEqual([1, expect.arrayContaining(['the body is not JSON'])])
})

test('conformance reports a POST /token that answers 201 once, and not as a refresh token or a session that ended', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, faults: ['token-is-201'] })
  const { checks } = await conformance(server.url)
  const found = checks.filter(({ found: answered }) => answered === 'answered 201')
  expect(found.map(({ group, name }) => [group, name])).toEqual([FOUND_BY['token-is-201']])
})

test('conformance reports a byte order mark as the only fault, and leaves no session open', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, hasByteOrderMark: true })
  const { exitCode, counts, checks } = await conformance(server.url)
  const failed = checks.filter(({ outcome }) => outcome === 'fail')
  const found = 'the body begins with a byte order mark (RFC 8259, section 8.1)'
  expect(failed.map(({ group, name, found: why }) => [group, name, why])).toEqual([
    ['POST /login', 'answers JSON', found],
    ['POST /token', 'answers 200 and an accessToken', found],
    ...['/projects', '/templates', '/ui-libraries', '/exports'].map((path) => [`GET ${path}`, 'answers JSON', found]),
  ])
  expect([exitCode, counts.skipped, server.openSessions()]).toEqual([1, 0, 0])
})

describe.each(['sqlite', 'postgres'])('the gateway on %s', (engine) => {
  test.skipIf(engine === 'postgres' && POSTGRES_URL === null)(
    'keeps the contract, and does what it says where the contract is silent',
    async () => {
      const gateway = await startGateway(engine === 'postgres' ? { databaseUrl: await temporaryDatabase() } : {})
      await gateway.load(SMALL_WORLD)
      const { exitCode, checks } = await conformance(gateway.url, '--strict')
      expect(checks.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
      expect([exitCode, checks.length > 80]).toEqual([0, true])
      expect(gateway.reported).toEqual([])
    },
  )
})

test('conformance finds no fault in the gateway for a user without a workspace', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { exitCode, checks } = await conformance(gateway.url, '--strict', '--email', 'nobody@example.com')
  expect(checks.filter(({ outcome }) => outcome === 'fail')).toEqual([])
  expect([
    exitCode,
    checks.some(({ name, outcome }) => name === 'answers 400 without r' && outcome === 'pass'),
  ]).toEqual([0, true])
})

/** Sends the answers to GET in chunks, without a Content-Length. */
function sendInChunks(server: PlainServer): void {
  server.setIntercept(({ method }, response) => {
    const { writeHead } = response
    const inChunks = (status: number, { 'Content-Length': _, ...headers }: Record<string, string>) =>
      Reflect.apply(writeHead, response, [status, headers])
    if (method === 'GET') Object.assign(response, { writeHead: inChunks })
    return false
  })
}

test.each([
  ['the length that the body of GET has', []],
  ['another length', ['head-tells-another-length']],
] as const)('conformance judges HEAD by the body of a GET that is sent in chunks: %s', async (_, faults) => {
  await using server = await startPlainServer({ records: SMALL_WORLD, faults })
  sendInChunks(server)
  const { exitCode, checks } = await conformance(server.url)
  const about = checks.find(({ group, name }) => group === 'GET /projects' && name.startsWith('answers HEAD like GET'))
  const length = Buffer.byteLength(server.expected(ANA, '/projects') ?? '')
  const expected =
    faults.length === 0 ? [0, 'pass', ''] : [1, 'fail', `content-length is 2000000, and ${length} with GET`]
  expect([exitCode, about?.outcome, about?.found]).toEqual(expected)
})

test.each(Object.keys(PLAIN_FAULTS) as PlainFault[])('conformance finds the fault %s of a server', async (fault) => {
  await using server = await startPlainServer({ records: SMALL_WORLD, faults: [fault] })
  const { exitCode, checks } = await conformance(server.url)
  const failed = checks.filter(({ outcome }) => outcome === 'fail')
  const [group, name] = FOUND_BY[fault]
  expect(exitCode).toBe(1)
  expect(failed.some((check) => check.group === group && check.name.startsWith(name))).toBe(true)
  // Nothing that grants access is shown.
  expect(JSON.stringify(failed)).not.toMatch(/eyJ|[0-9a-f]{48}/)
})

test('conformance reports a login without a refresh token once, and counts the sessions that stay open there', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, faults: ['login-lacks-refresh-token'] })
  const { checks, sessionsLeftOpen } = await conformance(server.url)
  const failed = checks.filter(({ outcome }) => outcome === 'fail')
  expect(failed.map(({ group, name }) => `${group} ${name}`)).toEqual([
    'POST /login answers accessToken and refreshToken as strings',
  ])
  const untried = checks.filter(({ found }) => found === 'POST /login answered no refreshToken')
  expect(untried.every(({ outcome }) => outcome === 'skipped')).toBe(true)
  const names = untried.map(({ group, name }) => `${group} ${name}`)
  expect(names).toContain('POST /login opens another session each time')
  for (const path of ['/projects', '/exports']) expect(names).toContain(`GET ${path} refuses a refresh token`)
  expect([sessionsLeftOpen > 1, sessionsLeftOpen]).toEqual([true, server.openSessions()])
  const { stdout } = await runHere(['conformance', server.url, '--email', ANA])
  expect(stdout).toMatch(new RegExp(`\n${sessionsLeftOpen} sessions of this run could not be signed out, .*\n$`))
})

test('conformance fails an access token that no header can hold, does not show it, and skips what needs one', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept((request, response) => {
    if (request.url !== '/login') return false
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"accessToken":"hidden\\nfrom you","refreshToken":"r"}')
    return true
  })
  const { exitCode, stderr, checks } = await conformance(server.url)
  expect([exitCode, stderr]).toEqual([1, ''])
  expect(checks.find(({ name }) => name.startsWith('answers a JWT'))?.outcome).toBe('fail')
  expect(checks.find(({ group }) => group === 'GET /projects')).toMatchObject({
    outcome: 'skipped',
    found: 'the token that was answered cannot be sent in a header',
  })
  expect(JSON.stringify(checks)).not.toContain('hidden')
})

test('conformance reports that fewer checks were possible for a user who has nothing', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const { exitCode, stdout } = await runHere(['conformance', server.url, '--email', 'nobody@example.com'])
  expect(exitCode).toBe(0)
  expect(stdout).toContain('not tried        answers an array in UTF-8: answered 404')
  expect(stdout).toMatch(/\d+ pass, 0 fail, \d+ contract silent, \d+ not tried\n$/)
})

test('conformance escapes what the server answers in the JUnit report', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, faults: ['list-is-html'] })
  server.setIntercept((request, response) => {
    if (request.url !== '/templates' || request.method !== 'GET') return false
    response.writeHead(200, { 'content-type': '<&"\u00ff>' }).end('[]')
    return true
  })
  const { exitCode, stdout } = await runHere(['conformance', server.url, '--email', ANA, '--format', 'junit'])
  expect(exitCode).toBe(1)
  expect(stdout).toContain('<testsuite name="GET /templates"')
  expect(stdout).toContain('message="Content-Type is &lt;&amp;&quot;ÿ&gt;"')
  expect(stdout.match(/<testcase /g)?.length).toBeGreaterThan(80)
})

test('conformance accepts a server that checks the token before the path of an unknown URL', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept(({ method, headers }, response) => {
    if (method !== 'GET' || headers.authorization !== undefined) return false
    response.writeHead(401).end()
    return true
  })
  const { exitCode, checks } = await conformance(server.url)
  expect(checks.find(({ name }) => name === 'an unknown path is 404')).toMatchObject({ outcome: 'pass' })
  expect(exitCode).toBe(0)
})

test('conformance sends the headers of a file to a server that requires a key, and fails without them', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept((request, response) => {
    if (request.headers['x-api-key'] === 'k-1') return false
    response.writeHead(403).end()
    return true
  })
  const headers = join(temporaryDirectory(), 'headers')
  // The second text is what some editors save, with a byte order mark.
  for (const text of ['X-Api-Key: k-1\n', '\ufeffX-Api-Key: k-1\r\n']) {
    writeFileSync(headers, text)
    expect((await conformance(server.url, '--headers', headers)).exitCode).toBe(0)
  }
  const without = await conformance(server.url)
  expect(without.exitCode).toBe(1)
  expect(without.checks.find(({ group }) => group === 'GET /projects')?.found).toContain('answered 403')
  writeFileSync(headers, 'k-1\n')
  const wrong = await runHere(['conformance', server.url, '--email', ANA, '--headers', headers])
  expect([wrong.exitCode, wrong.stdout]).toEqual([2, ''])
  expect(wrong.stderr).toContain('is not like `Name: value`')
  expect(wrong.stderr).not.toContain('k-1')
})

test.each([
  ['https://old.example.com/v1/login', 'it has moved to https://old.example.com/v1; give that address'],
  ['/login/?next=eyJhbGciOiJIUzI1NiJ9.secret', 'it points to SERVER/login/'],
])('conformance names the target of a login that is redirected to %s, and tries nothing', async (location, words) => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept((_request, response) => {
    response.writeHead(308, { location }).end()
    return true
  })
  const found = await runHere(['conformance', server.url, '--email', ANA])
  const stderr = `POST ${server.url}/login answered 308: ${words.replace('SERVER', server.url)}\n`
  expect(found).toMatchObject({ exitCode: 1, stdout: '', stderr })
  expect(server.requests.map(({ path }) => path)).toEqual(['/login'])
})

test('conformance reports a server that does not answer, and wrong arguments', async () => {
  const nobody = await run(['conformance', 'http://127.0.0.1:1', '--email', ANA])
  expect([nobody.exitCode, nobody.stdout, nobody.stderr]).toEqual([
    1,
    '',
    'POST http://127.0.0.1:1/login: no answer (ECONNREFUSED)\n',
  ])
  const file = await runHere(['conformance', './old', '--email', ANA])
  expect([file.exitCode, file.stderr]).toEqual([2, 'the address of a server must begin with http:// or https://\n'])
  for (const address of ['http://127.0.0.1:1 ', 'http://127.0.0.1:1/v1\n']) {
    const spaced = await runHere(['conformance', address, '--email', ANA])
    expect(spaced).toMatchObject({
      exitCode: 2,
      stderr: 'the address of a server must not contain white space\n',
    })
  }
  const somebody = await runHere(['conformance', 'http://127.0.0.1:1', '--email', 'ana'])
  expect([somebody.exitCode, somebody.stderr]).toEqual([
    2,
    expect.stringMatching(/^--email .*must be an email address\n$/),
  ])
})
