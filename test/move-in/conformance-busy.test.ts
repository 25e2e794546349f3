// conformance against a busy server, and one whose access tokens live for a second: neither breaches the contract.
import type { IncomingMessage } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPatientSend } from '../../src/conformance/patience.ts'
import { runHere } from '../support/command-line.ts'
import { conformance } from '../support/conformance.ts'
import { type PlainServer, startPlainServer } from '../support/plain-server.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

type Picks = (request: IncomingMessage, count: number) => boolean

/** Answers the requests that `isBusy` picks with the status. `count` is the number of requests so far. */
function keepBusy(server: PlainServer, isBusy: Picks, status = 429, headers: Record<string, string> = {}): void {
  let count = 0
  server.setIntercept((request, response) => {
    count += 1
    if (!isBusy(request, count)) return false
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{"error":"busy"}')
    return true
  })
}

/** Makes every request take so long, as the server and the program see it. */
function slowDown(server: PlainServer, milliseconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  server.setIntercept(() => {
    vi.setSystemTime(Date.now() + milliseconds)
    return false
  })
}

test.each([429, 503])(
  'conformance waits for a server that answers every fourth request %i, and signs out of it',
  async (status) => {
    await using calm = await startPlainServer({ records: SMALL_WORLD })
    await using busy = await startPlainServer({ records: SMALL_WORLD })
    keepBusy(busy, (_, count) => count % 4 === 0, status, { 'retry-after': '0' })
    const expected = await conformance(calm.url)
    const { exitCode, counts, checks, sessionsLeftOpen } = await conformance(busy.url)
    expect([exitCode, counts]).toEqual([0, expected.counts])
    expect(checks.filter(({ found }) => found.includes(`${status}`))).toEqual([])
    expect([sessionsLeftOpen, busy.openSessions()]).toEqual([0, 0])
  },
)

test('conformance skips the checks for which a server stays too busy, and makes the others', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  keepBusy(server, ({ url }) => url === '/token' || url === '/templates', 429, { 'retry-after': '3600' })
  const { exitCode, counts, checks } = await conformance(server.url)
  expect([exitCode, counts.fail]).toEqual([0, 0])
  const skipped = checks.filter(({ outcome }) => outcome === 'skipped')
  expect(new Set(skipped.map(({ found }) => found))).toEqual(
    new Set([
      'the server stayed busy: POST /token answered 429 (Retry-After: 3600)',
      'the server stayed busy: GET /templates answered 429 (Retry-After: 3600)',
    ]),
  )
  expect(checks.filter(({ group }) => group === 'GET /exports').some(({ outcome }) => outcome === 'skipped')).toBe(
    false,
  )
})

test('conformance repeats a request that is answered 503 without Retry-After, and then takes 503 as the answer', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  keepBusy(server, ({ url }) => url === '/no-such-path-3f1c9a', 503)
  const { exitCode, checks } = await conformance(server.url)
  const failed = checks.filter(({ outcome }) => outcome === 'fail')
  expect([exitCode, failed.map(({ name, found }) => [name, found])]).toEqual([
    1,
    [['an unknown path is 404', 'answered 503']],
  ])
  expect(server.requests.filter(({ status }) => status === 503).length).toBeGreaterThan(1)
})

test('conformance waits for a server as long as it says, and at most a minute in total', async () => {
  const pauses: number[] = []
  const busy = {
    status: 429,
    headers: { 'retry-after': '7' },
    body: Buffer.from(''),
    receivedBytes: 0,
    hasByteOrderMark: false,
  }
  const send = createPatientSend(
    async () => busy,
    async (ms) => void pauses.push(ms),
  )
  const ask = () => send({ method: 'GET', path: '/exports?r=secret' })
  const reason = 'the server stayed busy: GET /exports answered 429 (Retry-After: 7)'
  await expect(ask()).rejects.toThrow(reason)
  await expect(ask()).rejects.toThrow(reason)
  expect([pauses[0], Math.min(...pauses)]).toEqual([7_000, 7_000])
  const waited = pauses.reduce((sum, ms) => sum + ms, 0)
  expect(waited).toBeGreaterThan(60_000 - 2 * 15_000)
  expect(waited).toBeLessThanOrEqual(60_000)
})

test('concurrent requests wait for a busy server together', async () => {
  const pauses: number[] = []
  let count = 0
  const send = createPatientSend(
    async () => {
      count += 1
      return {
        status: count <= 5 ? 429 : 200,
        headers: { 'retry-after': '40' },
        body: Buffer.from(''),
        receivedBytes: 0,
        hasByteOrderMark: false,
      }
    },
    async (ms) => void pauses.push(ms),
  )
  const answers = await Promise.all(Array.from({ length: 5 }, () => send({ method: 'POST', path: '/token' })))
  expect([answers.map(({ status }) => status), pauses]).toEqual([[200, 200, 200, 200, 200], [40_000]])
})

test('conformance reports a server that is too busy for a login', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  keepBusy(server, () => true, 503, { 'retry-after': '3600' })
  const { exitCode, stdout, stderr } = await runHere(['conformance', server.url, '--email', ANA])
  expect([exitCode, stdout, stderr]).toEqual([
    1,
    '',
    'the server stayed busy: POST /login answered 503 (Retry-After: 3600)\n',
  ])
})

test('conformance counts the sessions that could not be signed out, in every output format', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  keepBusy(server, ({ method }) => method === 'DELETE', 429, { 'retry-after': '3600' })
  const { sessionsLeftOpen, checks } = await conformance(server.url)
  expect(sessionsLeftOpen).toBeGreaterThan(5)
  expect(server.openSessions()).toBe(sessionsLeftOpen)
  expect(JSON.stringify(checks)).not.toMatch(/eyJ|[0-9a-f]{48}/)
  const sentence = `${sessionsLeftOpen} sessions of this run could not be signed out`
  const inForm = (format: string) => runHere(['conformance', server.url, '--email', ANA, '--format', format])
  expect((await inForm('table')).stdout).toContain(`not tried\n${sentence}`)
  expect((await inForm('junit')).stdout).toContain(`<system-err>${sentence}`)
})

test('conformance counts a session that stays open because a body was lost, whatever the answer to its logout', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, faults: ['delete-loses-its-body'] })
  const { sessionsLeftOpen } = await conformance(server.url)
  expect(sessionsLeftOpen).toBeGreaterThan(0)
  expect(sessionsLeftOpen).toBe(server.openSessions())
})

test.each([401, 403] as const)(
  'conformance renews access tokens that live for a second and are then refused with %i, and finds no breach',
  async (status) => {
    await using server = await startPlainServer({
      records: SMALL_WORLD,
      accessTokenTtlSeconds: 1,
      refusedTokenStatus: status,
    })
    slowDown(server, 240)
    const { exitCode, counts } = await conformance(server.url)
    expect([exitCode, counts.fail, counts.skipped]).toEqual([0, 0, 0])
    expect(server.openSessions()).toBe(0)
  },
)

test('conformance finds a server that accepts a forged token, however short the life of its tokens', async () => {
  const faults = ['reads-take-forged-token'] as const
  await using server = await startPlainServer({ records: SMALL_WORLD, accessTokenTtlSeconds: 1, faults })
  slowDown(server, 240)
  const { checks } = await conformance(server.url)
  const forged = checks.filter(({ name }) => /another key|without a signature/.test(name))
  expect(forged.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 8 }, () => 'fail'))
})

test('conformance signs in again when a refresh token works only once, so that no read fails', async () => {
  const faults = ['refresh-token-works-once'] as const
  await using server = await startPlainServer({ records: SMALL_WORLD, accessTokenTtlSeconds: 1, faults })
  slowDown(server, 240)
  const { checks } = await conformance(server.url)
  const reads = checks.filter(({ group }) => /^GET/.test(group))
  expect(reads.filter(({ outcome }) => outcome === 'fail' || outcome === 'skipped')).toEqual([])
})

test.each([
  ['/projects', 401, 'it is not known which projects there are: GET /projects answered 401'],
  ['/projects', 404, 'this user has no projects'],
  ['/exports', 500, 'it is not known whether there is an export: GET /exports answered 500'],
  ['/exports', 404, 'no project of this user has an export'],
] as const)('when %s is answered %i, that is why the export check is skipped', async (path, status, reason) => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  keepBusy(server, ({ url }) => url?.startsWith(path) === true, status)
  const { checks } = await conformance(server.url)
  const array = checks.find(({ group, name }) => group === 'GET /exports' && name.startsWith('answers an array'))
  expect([array?.outcome, array?.found]).toEqual(['skipped', reason])
})
