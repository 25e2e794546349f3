import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { run, type ServingProcess, serveForTest } from '../support/command-line.ts'
import { startCuttableRelay } from '../support/cuttable-relay.ts'
import { ask, bearer, openSession, startGateway, type TestGateway, type Tokens } from '../support/gateway.ts'
import { execute, POSTGRES_DIRECTORY, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { startReplicated } from '../support/postgres-replica.ts'
import { recordStatements } from '../support/statements.ts'
import { documentLine } from '../support/workspaces.ts'

const TRIALS = Number(process.env.TEST_BOUNDED_TRIALS ?? 100)
const TRIALS_AT_ONCE = Math.min(TRIALS / 2, 250)
const LOGOUTS_AT_ONCE = 25
const MAX_AGE_MS = 1_500
const REQUESTS = 100
/** Longer than any copy of the keys is used without this option. */
const OUTAGE_MS = 3_000

const emailOf = (index: number): string => `u${index}@example.com`
const project = (email: string): string => documentLine('project', email, '{"id":"p"}')

describe.skipIf(POSTGRES_URL === null)('--session-check bounded=MS', () => {
  test('a gateway cut off from its feed never uses an ended session for longer than MS', async () => {
    const database = await temporaryDatabase()
    const relay = await startCuttableRelay(Number(new URL(database).port))
    const near = await startGateway({ databaseUrl: database })
    const through = Object.assign(new URL(database), { port: String(relay.port) }).href
    const far = await startGateway({ databaseUrl: through, sessionCheckMs: MAX_AGE_MS })
    await near.load(Array.from({ length: TRIALS_AT_ONCE }, (_, index) => project(emailOf(index))).join(''))
    const reads: Promise<void>[] = []
    const ages = { early: 0, late: 0, refused: 0 }

    /** One read before the time is over, and one that begins after it, by a little or by more. */
    async function attempt({ accessToken, refreshToken }: Tokens): Promise<void> {
      expect((await near.send('DELETE', '/logout', JSON.stringify({ refreshToken }))).status).toBe(200)
      const endedAt = performance.now()
      const read = async (afterMs: number) => {
        await delay(afterMs)
        const age = performance.now() - endedAt
        const { status } = await far.get('/projects', accessToken)
        if (status !== 200) ages.refused += 1
        else if (age > MAX_AGE_MS) ages.late += 1
        else ages.early += 1
      }
      reads.push(read(Math.random() * MAX_AGE_MS), read(MAX_AGE_MS + Math.random() ** 2 * MAX_AGE_MS))
    }

    // Another round if the machine was too slow to ask in time: then the test would show nothing.
    for (let round = 0; round < TRIALS / TRIALS_AT_ONCE || ages.early === 0; round += 1) {
      const tokens = await Promise.all(Array.from({ length: TRIALS_AT_ONCE }, (_, index) => near.login(emailOf(index))))
      const seen = await Promise.all(tokens.map(({ accessToken }) => far.get('/projects', accessToken)))
      expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200]))
      const [first] = tokens
      relay.cut(round % 2 === 0 ? 'broken' : 'silent')
      while (tokens.length > 0) await Promise.all(tokens.splice(0, LOGOUTS_AT_ONCE).map(attempt))
      await Promise.all(reads.splice(0))
      relay.mend()
      await expect.poll(async () => (await far.get('/projects', first?.accessToken)).status).toBe(401)
    }
    console.log(`bounded sessions: ${JSON.stringify(ages)}`)
    expect(ages.late).toBe(0)
  }, 900_000)

  test('refuses sessions ended elsewhere within the time, and sessions ended here at once', async () => {
    const database = await temporaryDatabase()
    const other = await startGateway({ databaseUrl: database })
    const gateway = await startGateway({ databaseUrl: database, sessionCheckMs: 2_000 })
    await gateway.load(project(emailOf(0)))
    const status = async ({ accessToken }: Tokens) => (await gateway.get('/projects', accessToken)).status
    const [own, all, foreign] = [
      await gateway.login(emailOf(0)),
      await gateway.login(emailOf(0)),
      await gateway.login(emailOf(0)),
    ]
    for (const tokens of [own, all, foreign]) expect(await status(tokens)).toBe(200)
    const end = (at: TestGateway, { refreshToken }: Tokens) =>
      at.send('DELETE', '/logout', JSON.stringify({ refreshToken }))
    expect((await end(gateway, own)).status).toBe(200)
    expect(await status(own)).toBe(401)
    expect((await end(other, foreign)).status).toBe(200)
    await expect.poll(() => status(foreign)).toBe(401)
    expect(await status(all)).toBe(200)
    await gateway.graphql('mutation { logoutEverywhere }', { accessToken: all.accessToken })
    expect(await status(all)).toBe(401)
  })

  test('a session that was seen is not looked up for each request; by default, it is', async () => {
    const database = await temporaryDatabase()
    const exact = await startGateway({ databaseUrl: database })
    const bounded = await startGateway({ databaseUrl: database, sessionCheckMs: 600_000 })
    await exact.load(project(emailOf(0)))
    const { accessToken } = await exact.login(emailOf(0))
    for (const gateway of [exact, bounded]) expect((await gateway.get('/projects', accessToken)).status).toBe(200)
    const statements = recordStatements()
    const lookupsOf = async (gateway: TestGateway) => {
      statements.names()
      for (let round = 0; round < REQUESTS; round += 1) {
        expect((await gateway.get('/projects', accessToken)).status).toBe(200)
      }
      return statements.names().filter((name) => name === 'liveSessions').length
    }
    // The background looks up sessions about once a second, however many requests come.
    expect(await lookupsOf(bounded)).toBeLessThan(REQUESTS)
    expect(await lookupsOf(exact)).toBeGreaterThanOrEqual(REQUESTS)
  })
})

const OWN_SESSION = '{ me { sessions { id } } }'
const REVOKE = 'mutation ($id: ID!) { revokeSession(id: $id) }'

/** How a session ends in the gateway itself. */
const ENDS: Readonly<Record<string, (gateway: TestGateway, tokens: Tokens) => Promise<unknown>>> = {
  'a logout': (gateway, tokens) => gateway.send('DELETE', '/logout', JSON.stringify(tokens)),
  async 'a revocation'(gateway, { accessToken }) {
    const [session] = (await gateway.graphql(OWN_SESSION, { accessToken })).json().data.me.sessions
    return gateway.graphql(REVOKE, { accessToken, variables: { id: session.id } })
  },
  'a logout everywhere': (gateway, { accessToken }) =>
    gateway.graphql('mutation { logoutEverywhere }', { accessToken }),
  'a login beyond the limit of sessions': (gateway) => gateway.login(emailOf(0)),
}

test.each(Object.entries(ENDS))(
  '%s takes effect at once, however long sessions are used without a look',
  async (_, end) => {
    const gateway = await startGateway({ sessionCheckMs: 600_000, sessionsPerUser: 1 })
    await gateway.load(project(emailOf(0)))
    const tokens = await gateway.login(emailOf(0))
    const status = async () => (await gateway.get('/projects', tokens.accessToken)).status
    expect(await status()).toBe(200)
    await end(gateway, tokens)
    expect(await status()).toBe(401)
  },
)

test('a removed key is refused sooner than the session check allows, while the database answers', async () => {
  const gateway = await startGateway({ sessionCheckMs: 600_000 })
  await gateway.load(project(emailOf(0)))
  const { accessToken } = await gateway.login(emailOf(0))
  const status = async () => (await gateway.get('/projects', accessToken)).status
  expect(await status()).toBe(200)
  const [key] = await gateway.store.signingKeys()
  expect(await gateway.store.removeSigningKey(key?.kid ?? '')).toBe(true)
  await expect.poll(status).toBe(401)
})

test.skipIf(POSTGRES_DIRECTORY === null)(
  'reads continue while the primary is away, from a replica or from kept replies, but no longer than the limit',
  async () => {
    await using servers = await startReplicated({ directory: POSTGRES_DIRECTORY ?? '' })
    await execute(servers.primary.url('postgres'), 'create database gateway')
    await servers.untilCaughtUp()
    // These are processes, so their clocks advance and their knowledge of keys and sessions ages.
    const flags = ['--database', servers.primary.url('gateway'), '--session-check', `bounded=${OUTAGE_MS * 2}`]
    const keeping = await serveForTest(flags)
    const replica = ['--database-replica', servers.standby.url('gateway'), '--replica-timeout', '5000']
    const replicated = await serveForTest([...flags, ...replica, '--cache-bytes', '0'])
    const imported = await run(['import', '-', ...flags.slice(0, 2)], { stdin: project(emailOf(0)) })
    expect(imported).toMatchObject({ exitCode: 0 })
    await servers.untilCaughtUp()
    const { accessToken } = await openSession(keeping.url, emailOf(0))
    const statusAt = async ({ url }: ServingProcess) =>
      (await ask(`${url}/projects`, { headers: bearer(accessToken) })).status
    const statuses = async () => [await statusAt(keeping), await statusAt(replicated)]
    await expect.poll(statuses).toEqual([200, 200])
    await servers.primary.crash()
    const since = performance.now()
    let reads = 0
    while (performance.now() - since < OUTAGE_MS) {
      expect(await statuses()).toEqual([200, 200])
      reads += 1
    }
    expect(reads).toBeGreaterThan(0)
    await expect.poll(statuses).toEqual([503, 503])
    await servers.primary.start()
    await expect.poll(statuses).toEqual([200, 200])
  },
)
