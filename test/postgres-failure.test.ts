// Tests a gateway whose PostgreSQL is killed, hangs, is locked, or fails over to a standby.
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { runHere, type ServingProcess, serveForTest } from './support/command-line.ts'
import { type Answer, ask, bearer, postJson } from './support/gateway.ts'
import { openHand, POSTGRES_DIRECTORY, temporaryServer, untilWaiting } from './support/postgres.ts'
import { ANA, SMALL_WORLD } from './support/workspaces.ts'

const TIMEOUTS = ['--connect-timeout', '2500', '--statement-timeout', '1000', '--log-level', 'silent']
/**
 * Far longer than all of this takes: a statement without an answer, the grace time for the server to report it, and a
 * try on a new connection.
 */
const BOUND_MS = 20_000

/** The pause of a client between an answer and its next login. */
const PAUSE_MS = 25

const login = ({ url }: ServingProcess, email: string): Promise<Answer> => postJson(`${url}/login`, { email })
const logout = ({ url }: ServingProcess, refreshToken: string): Promise<Answer> =>
  ask(`${url}/logout`, {
    method: 'DELETE',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refreshToken }),
  })
const projects = ({ url }: ServingProcess, accessToken: string): Promise<Answer> =>
  ask(`${url}/projects`, { headers: bearer(accessToken) })

/** Waits until the gateway is ready again; returns the milliseconds. */
async function untilReady({ url }: ServingProcess): Promise<number> {
  const start = performance.now()
  while ((await ask(`${url}/readyz`)).status !== 200) {
    if (performance.now() - start > 30_000) throw new Error('the gateway did not recover')
    await delay(20)
  }
  return performance.now() - start
}

async function expectUnavailable(gateway: ServingProcess, accessToken: string, refreshToken: string): Promise<void> {
  const start = performance.now()
  const answers = await Promise.all([
    projects(gateway, accessToken),
    login(gateway, ANA),
    logout(gateway, refreshToken),
    ask(`${gateway.url}/readyz`),
  ])
  expect(performance.now() - start).toBeLessThan(BOUND_MS)
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(answer.json().code).toBe('UNAVAILABLE')
  }
  expect((await ask(`${gateway.url}/healthz`)).status).toBe(200)
}

describe.skipIf(POSTGRES_DIRECTORY === null)('a gateway whose PostgreSQL fails', () => {
  test('killed: the gateway answers 503 with Retry-After, and recovers with all that was acknowledged', async () => {
    const server = await temporaryServer()
    const database = ['--database', server.url('postgres')]
    await runHere(['import', '-', ...database], { stdin: SMALL_WORLD })
    const gateway = await serveForTest([...database, ...TIMEOUTS])
    const { accessToken, refreshToken } = (await login(gateway, ANA)).json()
    const before = await projects(gateway, accessToken)
    expect(before.status).toBe(200)
    for (let round = 0; round < 3; round += 1) {
      await server.crash()
      await expectUnavailable(gateway, accessToken, refreshToken)
      await server.start()
      await untilReady(gateway)
      expect((await projects(gateway, accessToken)).text).toBe(before.text)
    }
    expect((await logout(gateway, refreshToken)).status).toBe(200)
    await server.crash()
    await server.start()
    await untilReady(gateway)
    expect((await projects(gateway, accessToken)).status).toBe(401)
  })

  test('hanging: the gateway answers 503 within its bound, and recovers', async () => {
    const server = await temporaryServer()
    const gateway = await serveForTest(['--database', server.url('postgres'), ...TIMEOUTS])
    const { accessToken, refreshToken } = (await login(gateway, ANA)).json()
    await server.freeze()
    await expectUnavailable(gateway, accessToken, refreshToken)
    await server.thaw()
    await untilReady(gateway)
    // The logout was not acknowledged, but the server may have had it when it froze, and may have done it since.
    const read = await projects(gateway, accessToken)
    expect(['NO_WORKSPACE', 'INVALID_TOKEN']).toContain(read.json().code)
    const again = (await login(gateway, ANA)).json()
    expect((await projects(gateway, again.accessToken)).status).toBe(404)
    expect((await logout(gateway, again.refreshToken)).status).toBe(200)
    expect((await projects(gateway, again.accessToken)).status).toBe(401)
  })

  test('hanging: piled-up requests are answered 503, /healthz still answers, and the gateway recovers', async () => {
    const server = await temporaryServer()
    const database = ['--database', server.url('postgres')]
    await runHere(['import', '-', ...database], { stdin: SMALL_WORLD })
    // Statements may take far longer than any request may wait for one.
    const times = ['--connect-timeout', '1000', '--statement-timeout', '600000', '--pool-size', '2']
    const gateway = await serveForTest([...database, ...times, '--log-level', 'silent'])
    const { accessToken } = (await login(gateway, ANA)).json()
    expect((await projects(gateway, accessToken)).status).toBe(200)
    const hand = await openHand(
      server.url('postgres'),
      'begin; lock table workspace_gateway.session in access exclusive mode',
    )
    const requests = [() => projects(gateway, accessToken), () => login(gateway, ANA)]
    const held: Promise<Answer>[] = []
    for (const count of [1, 2]) {
      held.push(projects(gateway, accessToken))
      await untilWaiting(server.url('postgres'), count)
    }
    // All of these requests find both connections taken.
    const piled = await Promise.all(Array.from({ length: 200 }, (_, n) => requests[n % 2]?.()))
    expect(piled.map((answer) => answer?.status)).toEqual(piled.map(() => 503))
    for (const request of requests) {
      const answer = await request()
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    }
    expect((await ask(`${gateway.url}/healthz`)).status).toBe(200)
    await hand.query('rollback')
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200])
    expect((await projects(gateway, accessToken)).status).toBe(200)
    expect((await login(gateway, ANA)).status).toBe(200)
  })

  test('locked: a write that waits for a row lock is refused in time, and not done later', async () => {
    const server = await temporaryServer()
    const gateway = await serveForTest(['--database', server.url('postgres'), ...TIMEOUTS])
    const { accessToken, refreshToken } = (await login(gateway, ANA)).json()
    const hand = await openHand(server.url('postgres'), 'begin; select * from workspace_gateway.session for update')
    expect((await logout(gateway, refreshToken)).status).toBe(503)
    // No statement waits for the row any more.
    await untilWaiting(server.url('postgres'), 0)
    await hand.query('commit')
    expect((await projects(gateway, accessToken)).status).toBe(404)
    expect((await logout(gateway, refreshToken)).status).toBe(200)
  })

  test('failed over: the gateway finds the promoted standby, and no acknowledged login is lost', async () => {
    const primary = await temporaryServer({ settings: { synchronous_standby_names: '*', fsync: 'on' } })
    await primary.stop()
    const standby = await temporaryServer({
      standbyOf: primary,
      settings: { primary_conninfo: primary.url(''), wal_retrieve_retry_interval: '100ms', fsync: 'on' },
    })
    await primary.start()
    const hosts = `${primary.host}:${primary.port},${standby.host}:${standby.port}`
    const url = primary.url('postgres').replace(`${primary.host}:${primary.port}`, hosts)
    const gateway = await serveForTest([
      '--database',
      `${url}?target_session_attrs=read-write`,
      '--sessions-per-user',
      '100000',
      ...TIMEOUTS,
    ])
    const acknowledged: string[] = []
    let isOver = false
    let unavailable = 0
    let lastSuccess = performance.now()
    let outageMs = 0
    const clients = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const answer = await login(gateway, ANA)
        if (answer.status === 200) {
          acknowledged.push(answer.json().accessToken)
          outageMs = Math.max(outageMs, performance.now() - lastSuccess)
          lastSuccess = performance.now()
        } else {
          expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
          unavailable += 1
        }
        await delay(PAUSE_MS)
      }
    })
    const untilMore = () => expect.poll(() => acknowledged.length).toBeGreaterThan(acknowledged.length + 25)
    await untilMore()
    await primary.crash()
    const crashedAt = performance.now()
    await standby.promote()
    const promotedMs = performance.now() - crashedAt
    await untilReady(gateway)
    await untilMore()
    isOver = true
    await Promise.all(clients)
    console.log(
      `failover: ${acknowledged.length} logins acknowledged, ${unavailable} answered 503; ` +
        `no success for ${Math.round(outageMs)} ms, of which the promotion took ${Math.round(promotedMs)} ms`,
    )
    // Signed in, without a workspace. A read that takes longer than the short statement timeout is no lost login.
    for (const token of acknowledged) {
      await expect.poll(async () => (await projects(gateway, token)).status).toBe(404)
    }
  })
})
