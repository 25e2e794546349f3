// Tests the guard `client` and the command `clients`.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { guardsOf } from '../../src/auth/guards/guards.ts'
import { type Finished, runHere } from '../support/command-line.ts'
import { expectGraphQLFailure, expectProblem } from '../support/failures.ts'
import { type Answer, startGateway, type TestGateway } from '../support/gateway.ts'
import { createdDatabases, POSTGRES_URL } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA } from '../support/workspaces.ts'

const REFUSED = { status: 403, code: 'LOGIN_REFUSED', hasNot: ['wgs_', ANA] } as const

interface Started {
  readonly gateway: TestGateway
  readonly clients: (...args: readonly string[]) => Promise<Finished>
  /** Returns NAME:SECRET, as `curl --user` takes it. */
  readonly add: (name: string, ...args: readonly string[]) => Promise<string>
  readonly login: (credentials: string | null, email?: string) => Promise<Answer>
}

async function start(databaseUrl?: string, attemptsPerMinute: number | null = null): Promise<Started> {
  const gateway = await startGateway({
    createGuard: guardsOf(['client'], { trustedOrigins: [] }),
    attemptsPerMinute,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  })
  const clients = (...args: readonly string[]) => runHere(['clients', ...args, '--database', gateway.databaseUrl])
  return {
    gateway,
    clients,
    async add(name, ...args) {
      const { exitCode, stdout } = await clients('add', name, ...args)
      expect(exitCode).toBe(0)
      expect(stdout).toMatch(/^[\w.-]+:wgs_[A-Za-z0-9_-]{43}\n$/)
      return stdout.trim()
    },
    login: (credentials, email = ANA) =>
      gateway.send('POST', '/login', JSON.stringify({ email }), {
        'content-type': 'application/json',
        ...(credentials === null ? {} : { authorization: basic(credentials) }),
      }),
  }
}

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`

function describeClients(engine: string, database: () => Promise<string | undefined>): void {
  test(`signs in emails of the domains of a client, over both protocols, until it is removed (${engine})`, async () => {
    const { gateway, add, login, clients } = await start(await database())
    const billing = await add('billing', '--email-domains', 'Example.com,example.org')
    const answer = await login(billing)
    expect(answer.status).toBe(200)
    expect((await gateway.get('/projects', answer.json().accessToken)).status).toBe(404)
    expect((await login(billing, 'ANA@EXAMPLE.ORG')).status).toBe(200)
    // The name of the scheme has no case, and any number of spaces may follow it (RFC 9110 section 11.4).
    const spelled = { authorization: basic(billing).replace('Basic ', 'bASIC  '), 'content-type': 'application/json' }
    expect((await gateway.send('POST', '/login', JSON.stringify({ email: ANA }), spelled)).status).toBe(200)
    for (const email of ['ana@example.net', 'ana@sub.example.com', 'ana@example.com.evil.com'])
      expectProblem(await login(billing, email), REFUSED)
    expectProblem(await login(billing, 'nobody'), { status: 400, code: 'INVALID_EMAIL', hasNot: [] })
    const query = `mutation { login(email: "${ANA}") { accessToken } }`
    const headers = { authorization: basic(billing) }
    expect((await gateway.graphql(query, { headers })).json().data.login.accessToken).toMatch(/^eyJ/)
    expectGraphQLFailure(await gateway.graphql(query), REFUSED)

    expect((await clients('remove', 'billing')).exitCode).toBe(0)
    expectProblem(await login(billing), REFUSED)
    expect((await clients('remove', 'billing')).exitCode).toBe(1)
  })
}

function describeNames(engine: string, database: () => Promise<string | undefined>): void {
  test(`refuses a name that no client can have like any other name (${engine})`, async () => {
    const { gateway, login } = await start(await database())
    for (const name of ['a\0', '\0', '漢', '\ud800', ' ', 'x'.repeat(700)]) {
      expectProblem(await login(`${name}:secret`), REFUSED)
    }
    expect(gateway.reported).toEqual([])
  })
}

describe('the login guard "client"', () => {
  describeClients('sqlite', async () => undefined)
  describeNames('sqlite', async () => undefined)
  describe.skipIf(POSTGRES_URL === null)('on PostgreSQL', () => {
    const createdDatabase = createdDatabases()
    describeClients('postgres', createdDatabase)
    describeNames('postgres', createdDatabase)
  })

  test('gives a wrong secret the same answer as an unknown name', async () => {
    const { add, login } = await start()
    const [name, secret = ''] = (await add('billing', '--email-domains', '*')).split(':')
    const other = await add('shop', '--email-domains', '*')
    const refused = [
      `${name}:`,
      `${name}:${secret.slice(0, -1)}`,
      `${name}:${secret}x`,
      `${name}:${other.split(':')[1]}`,
      `nobody:${secret}`,
      `:${secret}`,
      `BILLING:${secret}`,
      `${name}:${secret.toLowerCase()}`,
    ]
    const answers = await Promise.all(refused.map((credentials) => login(credentials)))
    for (const answer of answers) expectProblem(answer, REFUSED)
    const told = answers.map((answer) => JSON.stringify({ ...answer.json(), requestId: null }))
    expect(new Set(told).size).toBe(1)
    const without = await login(null)
    expectProblem(without, REFUSED)
    // As the guide says, clients that wait for a challenge get none.
    expect(without.headers.has('www-authenticate')).toBe(false)
    expect((await login(`${name}:${secret}`)).status).toBe(200)
  })

  test('gives each client its own rate limit, and says when to retry', async () => {
    const { gateway, add, login } = await start(undefined, 0)
    const [small, alike, large] = [
      await add('small', '--email-domains', '*', '--per-minute', '3'),
      await add('alike', '--email-domains', '*', '--per-minute', '3'),
      await add('large', '--email-domains', '*', '--per-minute', '1000'),
    ]
    for (let count = 0; count < 3; count += 1) expect((await login(small)).status).toBe(200)
    const limited = await login(small)
    expect(limited.status).toBe(429)
    expect(Number(limited.headers.get('retry-after'))).toBe(20)
    const graphql = await gateway.graphql(`mutation { login(email: "${ANA}") { accessToken } }`, {
      headers: { authorization: basic(small) },
    })
    expect([graphql.status, graphql.json().errors[0].extensions]).toEqual([
      429,
      { code: 'TOO_MANY_REQUESTS', retryAfterSeconds: 20 },
    ])
    for (const other of [alike, large]) expect((await login(other)).status).toBe(200)
    gateway.advance(20)
    expect((await login(small)).status).toBe(200)
  })

  test('limits a guesser like any other caller, and does not count guesses against the client', async () => {
    const { add, login } = await start(undefined, 5)
    const billing = await add('billing', '--email-domains', '*')
    const guesses = await Promise.all(Array.from({ length: 20 }, (_, index) => login(`billing:guess ${index}`)))
    expect(guesses.filter(({ status }) => status === 403)).toHaveLength(5)
    expect(guesses.filter(({ status }) => status === 429)).toHaveLength(15)
    expect((await login(billing)).status).toBe(200)
  })

  test('does not exempt wrong credentials from the limits of a guard before it', async () => {
    const guard = guardsOf(['local', 'client'], { trustedOrigins: [] })
    const gateway = await startGateway({ createGuard: guard, attemptsPerMinute: 3 })
    const headers = { 'content-type': 'application/json', authorization: basic('nobody:nothing') }
    const login = () => gateway.send('POST', '/login', JSON.stringify({ email: ANA }), headers)
    const answers = await Promise.all(Array.from({ length: 5 }, login))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2)
  })

  test('refuses a client without the scope login', async () => {
    const { add, login } = await start()
    expectProblem(await login(await add('loader', '--email-domains', '*', '--scopes', 'import')), REFUSED)
    expect((await login(await add('both', '--email-domains', '*', '--scopes', 'import,login'))).status).toBe(200)
  })
})

describe('clients', () => {
  test('are listed without their secrets, which the database does not contain', async () => {
    const { gateway, add, clients } = await start()
    const secret = (await add('shop', '--email-domains', 'example.com')).split(':')[1] ?? ''
    await add('billing', '--email-domains', '*', '--per-minute', '7')
    const { exitCode, stdout } = await clients('list')
    expect(exitCode).toBe(0)
    expect(stdout.split('\n').map((line) => line.split('\t').slice(0, 4))).toEqual([
      ['billing', '*', 'login', '7'],
      ['shop', 'example.com', 'login', '600'],
      [''],
    ])
    expect(stdout).not.toContain('wgs_')
    expect(JSON.stringify(await gateway.store.clients())).not.toContain(secret)
    // The gateway adds its own entries within a second; on a slow machine, they come in between.
    const added = { from: null, to: null, kind: 'clientAdded', who: null }
    const entries = await gateway.store.auditEntries(added, 0, 10)
    expect(entries.map(({ detail }) => detail)).toEqual(['shop', 'billing'])
  })

  test('are named in the list of the sessions that they opened, also when they are removed', async () => {
    const { gateway, add, clients, login } = await start()
    expect((await login(await add('billing', '--email-domains', '*'))).status).toBe(200)
    expect((await clients('remove', 'billing')).exitCode).toBe(0)
    const { stdout } = await runHere(['sessions', 'list', '--json', '--database', gateway.databaseUrl], {
      clock: gateway.now,
    })
    expect(JSON.parse(stdout)).toMatchObject({ email: ANA, client: 'billing' })
  })

  test('are registered once: a second one of the same name is refused', async () => {
    const { add, clients, login } = await start()
    const billing = await add('billing', '--email-domains', 'example.com')
    const again = await clients('add', 'billing', '--email-domains', 'example.com')
    expect([again.exitCode, again.stdout]).toEqual([1, ''])
    expect((await login(billing)).status).toBe(200)
  })

  test.each([
    [['a:b', '--email-domains', 'example.com'], 'name'],
    [['', '--email-domains', 'example.com'], 'name'],
    [['billing'], '--email-domains'],
    [['billing', '--email-domains', ''], '--email-domains'],
    [['billing', '--email-domains', 'example.com,no domain'], '--email-domains'],
    [['billing', '--email-domains', '*', '--scopes', 'everything'], '--scopes'],
    [['billing', '--email-domains', 'example.com', '--scopes', 'login,import'], '--scopes'],
    [['billing', '--email-domains', '*', '--per-minute', '0'], '--per-minute'],
  ])('cannot be added with %j', async (args, expected) => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const { exitCode, stdout, stderr } = await runHere(['clients', 'add', ...args, '--database', database])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(expected)
  })
})
