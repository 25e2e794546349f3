// Tests how users list and end their own sessions, the limit of sessions per user, and the command `sessions`.
import { describe, expect, test } from 'vitest'
import type { AuditKind } from '../../src/auth/audit/audit-event.ts'
import type { TokenPair } from '../../src/auth/sessions.ts'
import { hashedEmail } from '../../src/store/hashed-email.ts'
import { newSession } from '../contract/values.ts'
import { runHere } from '../support/command-line.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { createdDatabases, POSTGRES_URL } from '../support/postgres.ts'
import { ANA, BEN, documentLine } from '../support/workspaces.ts'

const LIST = '{ me { sessions { id createdAt lastUsedAt expiresAt current userAgent network } } }'
const REVOKE = 'mutation ($id: ID!) { revokeSession(id: $id) }'
const EVERYWHERE = 'mutation { logoutEverywhere }'
const DAY = 86_400
const JSON_BODY = { 'content-type': 'application/json' }

interface ShownSession {
  readonly id: string
  readonly current: boolean
  readonly lastUsedAt: string
}

async function startWorld(options: Parameters<typeof startGateway>[0] = {}): Promise<TestGateway> {
  const gateway = await startGateway(options)
  await gateway.load([ANA, BEN].map((email) => documentLine('project', email, '{"id":"p"}')).join(''))
  return gateway
}

async function sessionsOf(gateway: TestGateway, accessToken: string, query = LIST): Promise<ShownSession[]> {
  const answer = await gateway.graphql(query, { accessToken })
  expect(answer.json().errors).toBeUndefined()
  return answer.json().data.me.sessions
}

async function isSignedIn(gateway: TestGateway, accessToken: string): Promise<boolean> {
  return (await gateway.get('/projects', accessToken)).status === 200
}

test('a user sees only their own sessions, newest first, with the current one marked', async () => {
  const gateway = await startWorld()
  const login = async (email: string, agent: string) => {
    const headers = { ...JSON_BODY, 'user-agent': agent }
    return (await gateway.send('POST', '/login', JSON.stringify({ email }), headers)).json()
  }
  const first = await login(ANA, `${'x'.repeat(250)}`)
  gateway.advance(60)
  // Terminals obey control characters, so none is stored.
  const second = await login(ANA, 'Firefox\u00a0on \u009b2J"Linux"\u0085')
  await login(BEN, 'curl/8.0')
  const shown = await sessionsOf(gateway, second.accessToken)
  expect(shown).toEqual([
    {
      id: expect.any(String),
      createdAt: '2026-01-01T00:01:00.000Z',
      lastUsedAt: '2026-01-01T00:01:00.000Z',
      expiresAt: '2026-01-15T00:01:00.000Z',
      current: true,
      userAgent: 'Firefox\u00a0on 2J"Linux"',
      network: '127.0.0.0/24',
    },
    expect.objectContaining({ current: false, userAgent: 'x'.repeat(200), createdAt: '2026-01-01T00:00:00.000Z' }),
  ])
  // The same query in the other session has another answer, although nothing in the workspace changed.
  expect((await sessionsOf(gateway, first.accessToken)).map(({ current }) => current)).toEqual([false, true])
  expect(await sessionsOf(gateway, first.accessToken, '{ me { sessions(first: 1) { id } } }')).toEqual([
    { id: shown[0]?.id },
  ])
  const wrong = await gateway.graphql('{ me { sessions(first: -1) { id } } }', { accessToken: first.accessToken })
  expect(wrong.json().errors[0].extensions.code).toBe('INVALID_ARGUMENT')
})

test('a user with more than a thousand sessions sees the newest thousand', async () => {
  const gateway = await startWorld()
  const [now, end] = [gateway.now(), gateway.now() + DAY]
  const older = Array.from({ length: 1_000 }, (_, index) =>
    newSession({ email: ANA, createdAt: now - 1 - index, idleExpiresAt: end, expiresAt: end }),
  )
  await gateway.store.addSessions(older)
  const shown = await sessionsOf(gateway, (await gateway.login(ANA)).accessToken)
  expect(shown).toHaveLength(1_000)
  expect(shown[0]).toMatchObject({ current: true })
  expect(shown.at(-1)).toMatchObject({ createdAt: new Date(now - 999).toISOString() })
})

test('the time of last use is coarse: a refresh soon after another writes nothing', async () => {
  const gateway = await startWorld()
  const { accessToken, refreshToken } = await gateway.login(ANA)
  const refresh = () => gateway.send('POST', '/token', JSON.stringify({ refreshToken }))
  gateway.advance(600)
  await refresh()
  expect((await sessionsOf(gateway, accessToken))[0]?.lastUsedAt).toBe('2026-01-01T00:00:00.000Z')
  gateway.advance(4 * 3_600)
  const renewed = (await refresh()).json().accessToken
  expect((await sessionsOf(gateway, renewed))[0]?.lastUsedAt).toBe('2026-01-01T04:10:00.000Z')
})

test('the time of last use is recorded even when the idle expiry cannot move any further', async () => {
  const gateway = await startWorld({ refreshIdleTtlSeconds: 86_400, refreshAbsoluteTtlSeconds: 86_400 })
  const { refreshToken } = await gateway.login(ANA)
  gateway.advance(80_000)
  const renewed = (await gateway.send('POST', '/token', JSON.stringify({ refreshToken }))).json().accessToken
  expect((await sessionsOf(gateway, renewed))[0]?.lastUsedAt).toBe('2026-01-01T22:13:20.000Z')
})

test('the list of sessions is never stale, because it is not a kept reply', async () => {
  const gateway = await startWorld()
  const { accessToken } = await gateway.login(ANA)
  expect(await sessionsOf(gateway, accessToken)).toHaveLength(1)
  const second = await gateway.login(ANA)
  expect(await sessionsOf(gateway, accessToken)).toHaveLength(2)
  await gateway.send('DELETE', '/logout', JSON.stringify(second))
  expect(await sessionsOf(gateway, accessToken)).toHaveLength(1)
})

test('a session is a node for its own user only, and only while it is open', async () => {
  const gateway = await startWorld()
  const [ana, ben] = [await gateway.login(ANA), await gateway.login(BEN)]
  const [session] = await sessionsOf(gateway, ana.accessToken)
  const node = async (accessToken: string) => {
    const query = 'query ($id: ID!) { node(id: $id) { __typename id ... on Session { current } } }'
    return (await gateway.graphql(query, { accessToken, variables: { id: session?.id } })).json().data.node
  }
  expect(await node(ana.accessToken)).toEqual({ __typename: 'Session', id: session?.id, current: true })
  expect(await node(ben.accessToken)).toBeNull()
  const again = await gateway.login(ANA)
  await gateway.send('DELETE', '/logout', JSON.stringify(ana))
  expect(await node(again.accessToken)).toBeNull()
})

const engines = [
  ['sqlite', async () => undefined] as const,
  ...(POSTGRES_URL === null ? [] : [['postgres', createdDatabases()] as const]),
]

/** Returns the details and the networks of Ana's audit entries of one kind. */
async function toldOfAna(gateway: TestGateway, kind: AuditKind): Promise<readonly (readonly string[])[]> {
  await gateway.audit.flush()
  const who = [hashedEmail(ANA, await gateway.store.auditSalt())]
  const entries = await gateway.store.auditEntries({ from: null, to: null, kind, who }, 0, 9)
  return entries.map(({ detail, network }) => [detail, network])
}

describe.each(engines)('on %s', (_name, database) => {
  async function open(options: Parameters<typeof startGateway>[0] = {}) {
    const databaseUrl = await database()
    return startWorld({ ...options, ...(databaseUrl === undefined ? {} : { databaseUrl }) })
  }

  test('both tokens of a revoked session are refused at once; the other sessions continue', async () => {
    const gateway = await open()
    const [mine, other, ben] = [await gateway.login(ANA), await gateway.login(ANA), await gateway.login(BEN)]
    for (const { accessToken } of [mine, other]) expect(await isSignedIn(gateway, accessToken)).toBe(true)
    const id = (await sessionsOf(gateway, mine.accessToken)).find(({ current }) => !current)?.id
    const revoke = async (accessToken: string) =>
      (await gateway.graphql(REVOKE, { accessToken, variables: { id } })).json().data.revokeSession
    // Ben cannot end a session of Ana.
    expect(await revoke(ben.accessToken)).toBe(false)
    expect(await isSignedIn(gateway, other.accessToken)).toBe(true)
    expect(await revoke(mine.accessToken)).toBe(true)
    expect(await isSignedIn(gateway, other.accessToken)).toBe(false)
    expect((await gateway.send('POST', '/token', JSON.stringify(other))).status).toBe(401)
    expect(await isSignedIn(gateway, mine.accessToken)).toBe(true)
    expect(await revoke(mine.accessToken)).toBe(false)
    expect(await toldOfAna(gateway, 'sessionsRevoked')).toEqual([['1 ended', '127.0.0.0/24']])
  })

  test('an altered id ends nothing, whichever byte was put in', async () => {
    const gateway = await open()
    const { accessToken } = await gateway.login(ANA)
    const [session] = await sessionsOf(gateway, accessToken)
    const issued = Buffer.from(session?.id ?? '', 'base64url')
    for (const at of [15, issued.byteLength - 1]) {
      for (const byte of [0, 0x27, 0xff]) {
        const altered = Buffer.from(issued)
        altered[at] = byte
        const answer = await gateway.graphql(REVOKE, { accessToken, variables: { id: altered.toString('base64url') } })
        expect(answer.json()).toEqual({ data: { revokeSession: false } })
      }
    }
    expect(await isSignedIn(gateway, accessToken)).toBe(true)
    expect(gateway.reported).toEqual([])
  })

  test('logoutEverywhere ends all sessions of the user, also the current one, and those of nobody else', async () => {
    const gateway = await open()
    const mine = [await gateway.login(ANA), await gateway.login(ANA), await gateway.login(ANA)]
    const ben = await gateway.login(BEN)
    const accessToken = mine[0]?.accessToken ?? ''
    expect((await gateway.graphql(EVERYWHERE, { accessToken })).json().data).toEqual({ logoutEverywhere: 3 })
    for (const session of mine) {
      expect(await isSignedIn(gateway, session.accessToken)).toBe(false)
      expect((await gateway.send('POST', '/token', JSON.stringify(session))).status).toBe(401)
    }
    expect(await isSignedIn(gateway, ben.accessToken)).toBe(true)
    expect((await gateway.graphql(EVERYWHERE, { accessToken })).status).toBe(401)
    expect(await toldOfAna(gateway, 'sessionsRevoked')).toEqual([['3 ended', '127.0.0.0/24']])
  })

  test('one session beyond the limit ends the session that was used longest ago', async () => {
    const gateway = await open({ sessionsPerUser: 3 })
    const opened = []
    for (let count = 0; count < 3; count += 1) {
      opened.push(await gateway.login(ANA))
      gateway.advance(60)
    }
    // The first session is used again, so the second is now the one that was used longest ago.
    gateway.advance(5 * 3_600)
    await gateway.send('POST', '/token', JSON.stringify(opened[0]))
    const { accessToken } = await gateway.login(ANA)
    const refreshed = await Promise.all(opened.map((one) => gateway.send('POST', '/token', JSON.stringify(one))))
    expect(refreshed.map(({ status }) => status)).toEqual([200, 401, 200])
    expect(await sessionsOf(gateway, accessToken)).toHaveLength(3)
    expect(await toldOfAna(gateway, 'sessionsCapped')).toEqual([['1 ended', '']])
  })

  test('a session in use is not ended in place of an idle one because its absolute end is nearer', async () => {
    const gateway = await open({
      sessionsPerUser: 2,
      refreshIdleTtlSeconds: 20 * DAY,
      refreshAbsoluteTtlSeconds: 30 * DAY,
    })
    const inUse = await gateway.login(ANA)
    gateway.advance(18 * DAY)
    const idle = await gateway.login(ANA)
    gateway.advance(DAY)
    const use = async (session: TokenPair) => (await gateway.send('POST', '/token', JSON.stringify(session))).status
    expect(await use(inUse)).toBe(200)
    const last = await gateway.login(ANA)
    expect(await Promise.all([inUse, idle, last].map(use))).toEqual([200, 401, 200])
  })

  test('a new session survives the limit even if the others idle for longer or the clock was set back', async () => {
    const gateway = await open({ sessionsPerUser: 3, refreshIdleTtlSeconds: 20 * DAY })
    for (let count = 0; count < 3; count += 1) await gateway.login(ANA)
    const { databaseUrl } = gateway
    const shorter = await startGateway({ databaseUrl, sessionsPerUser: 3, refreshIdleTtlSeconds: DAY })
    shorter.advance(60)
    const { accessToken } = await shorter.login(ANA)
    expect(await isSignedIn(shorter, accessToken)).toBe(true)
    shorter.advance(-DAY)
    const opened = []
    for (let count = 0; count < 3; count += 1) {
      opened.push(await shorter.login(ANA))
      shorter.advance(5)
    }
    const alive = await Promise.all(opened.map((one) => isSignedIn(shorter, one.accessToken)))
    expect(alive).toEqual([true, true, true])
  })

  test('a hundred concurrent logins with a limit of ten leave ten sessions that work', async () => {
    const gateway = await open({ sessionsPerUser: 10 })
    const opened = await Promise.all(Array.from({ length: 100 }, () => gateway.login(ANA)))
    const alive = await Promise.all(opened.map(({ accessToken }) => isSignedIn(gateway, accessToken)))
    expect(alive.filter(Boolean)).toHaveLength(10)
  })
})

test.each([
  ['no token', undefined, 'UNAUTHENTICATED', 'Bearer realm="workspace-gateway"'],
  ['a bad token', 'bad', 'INVALID_TOKEN', 'Bearer realm="workspace-gateway", error="invalid_token"'],
])('a request with %s cannot end any session', async (_, accessToken, code, challenge) => {
  const gateway = await startWorld()
  const mine = await gateway.login(ANA)
  const token = accessToken === undefined ? {} : { accessToken }
  const [session] = await sessionsOf(gateway, mine.accessToken)
  for (const [query, variables] of [
    [REVOKE, { id: session?.id }],
    [EVERYWHERE, {}],
  ] as const) {
    const headers = { ...JSON_BODY, accept: 'application/graphql-response+json' }
    const answer = await gateway.graphql(query, { ...token, variables, headers })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, challenge])
    expect(answer.json()).toMatchObject({ data: null, errors: [{ extensions: { code } }] })
  }
  expect(await isSignedIn(gateway, mine.accessToken)).toBe(true)
})

test('an operation with two revocations, or with a revocation and a login, is refused', async () => {
  const gateway = await startWorld()
  const { accessToken } = await gateway.login(ANA)
  for (const query of [
    'mutation { a: logoutEverywhere b: logoutEverywhere }',
    `mutation { logoutEverywhere login(email: "${ANA}") { accessToken } }`,
    'mutation { a: revokeSession(id: "x") b: revokeSession(id: "y") }',
  ]) {
    const answer = await gateway.graphql(query, { accessToken })
    expect(answer.json().errors[0].extensions.code, query).toBe('GRAPHQL_VALIDATION_FAILED')
  }
  expect(await isSignedIn(gateway, accessToken)).toBe(true)
})

test('revokeSession with an id of something else, or of nothing, ends nothing', async () => {
  const gateway = await startWorld()
  const { accessToken } = await gateway.login(ANA)
  const me = (await gateway.graphql('{ me { id projects { id } } }', { accessToken })).json().data.me
  for (const id of [me.id, me.projects[0].id, '', 'x', `${me.id}A`]) {
    const answer = await gateway.graphql(REVOKE, { accessToken, variables: { id } })
    expect(answer.json().data).toEqual({ revokeSession: false })
  }
  expect(await isSignedIn(gateway, accessToken)).toBe(true)
})

test('the command sessions lists sessions, and ends one or all of a user at once while a gateway serves', async () => {
  const gateway = await startWorld()
  const [first, second, ben] = [await gateway.login(ANA), await gateway.login(ANA), await gateway.login(BEN)]
  for (const { accessToken } of [first, second, ben]) expect(await isSignedIn(gateway, accessToken)).toBe(true)
  const command = (...args: string[]) =>
    runHere(['sessions', ...args, '--database', gateway.databaseUrl], { clock: gateway.now })
  const listed = async (...args: string[]) => {
    const { stdout, exitCode } = await command('list', '--json', ...args)
    expect(exitCode).toBe(0)
    for (const { accessToken, refreshToken } of [first, second, ben]) {
      expect(stdout).not.toContain(accessToken)
      expect(stdout).not.toContain(refreshToken)
    }
    return jsonLines(stdout)
  }
  expect((await listed()).map(({ email }) => email)).toEqual([ANA, ANA, BEN])
  const anas = await listed('--email', ' ANA@example.com ')
  expect(anas).toHaveLength(2)
  expect((await command('list', '--email', BEN)).stdout).toContain(
    `  ${BEN}  opened 2026-01-01T00:00:00.000Z  last used `,
  )
  const ended = await command('revoke', anas[0].id)
  expect([ended.exitCode, ended.stdout]).toEqual([0, '1 session ended\n'])
  const alive = await Promise.all([first, second].map(({ accessToken }) => isSignedIn(gateway, accessToken)))
  expect(alive.filter(Boolean)).toHaveLength(1)
  expect((await command('revoke', anas[0].id)).exitCode).toBe(1)
  expect((await command('revoke', '--email', ANA)).stdout).toBe('1 session ended\n')
  for (const { accessToken } of [first, second]) expect(await isSignedIn(gateway, accessToken)).toBe(false)
  expect(await isSignedIn(gateway, ben.accessToken)).toBe(true)
  for (const args of [[], [anas[0].id, '--email', ANA], ['--email', 'nobody']]) {
    expect((await command('revoke', ...args)).exitCode, args.join(' ')).toBe(2)
  }
  const [left] = await listed()
  expect(left).toMatchObject({ email: BEN, expiresAt: '2026-01-15T00:00:00.000Z' })
  gateway.advance(14 * DAY)
  // The expired session is stored until another one is opened.
  expect(await gateway.store.sessionsAfter('', 9)).toHaveLength(1)
  expect([await listed(), await listed('--email', BEN)]).toEqual([[], []])
  expect((await command('revoke', left.id)).exitCode).toBe(1)
})
