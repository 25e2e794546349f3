// Tests the ledger of REST calls: its counts, the names of clients, the page at the admin port, and its failures.
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openLedger } from '../../src/rest/ledger/ledger.ts'
import type { RestCallBatch } from '../../src/store/rest-call-contract.ts'
import { runHere, serveForTest, serveHereForTest } from '../support/command-line.ts'
import { ask, bearer, startGateway } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const DAY_MS = 86_400_000

interface Row {
  readonly day: string
  readonly route: string
  readonly client: string
  readonly count: number
  readonly lastSeen: string
  readonly twin: string
}

async function rowsOf(database: string): Promise<readonly Row[]> {
  const { stdout, stderr, exitCode } = await runHere(['ledger', '--database', database, '--json'])
  expect([exitCode, stderr]).toEqual([0, ''])
  return jsonLines(stdout)
}

/** Sums the counts of all days, because a run over midnight has two. */
function countsOf(rows: readonly Row[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { route, client, count } of rows) {
    counts[`${route} ${client}`] = (counts[`${route} ${client}`] ?? 0) + count
  }
  return counts
}

async function read(url: string, accessToken: string, path: string, times: number, headers: Record<string, string>) {
  for (let left = times; left > 0; left -= 8) {
    const some = Array.from({ length: Math.min(left, 8) }, () =>
      ask(`${url}${path}`, { headers: { ...bearer(accessToken), ...headers } }),
    )
    for (const { status } of await Promise.all(some)) expect([200, 304, 404]).toContain(status)
  }
}

const sqlite = async () => `file:${join(temporaryDirectory(), 'workspace.db')}`

test.each([
  { engine: 'SQLite', open: sqlite, isThere: true },
  { engine: 'PostgreSQL', open: temporaryDatabase, isThere: POSTGRES_URL !== null },
])('the ledger counts exactly over two nodes and restarts, on $engine', async ({ open, isThere, engine }) => {
  if (!isThere) return console.warn(`skipped: there is no ${engine}`)
  const database = await open()
  await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
  const start = (serve: typeof serveHereForTest | typeof serveForTest) =>
    serve(['--database', database, '--log-level', 'silent', '--max-queue-delay', '60000'])
  // One of the two is a process of its own, always.
  const nodes = [await start(serveForTest), await start(serveHereForTest)]
  const login = await ask(`${nodes[0]?.url}/login`, {
    method: 'POST',
    headers: { ...JSON_TYPE, 'user-agent': 'Shop/3.1 (linux)' },
    body: JSON.stringify({ email: ANA }),
  })
  const { accessToken } = login.json()
  // HEAD counts as a call of the route of GET.
  const asProbe = { method: 'HEAD', headers: { ...bearer(accessToken), 'user-agent': 'probe' } }
  const etag = (await ask(`${nodes[0]?.url}/projects`, asProbe)).headers

  for (const serveNext of [serveForTest, serveHereForTest]) {
    await Promise.all(
      nodes.flatMap(({ url }) => [
        read(url, accessToken, '/projects', 40, { 'user-agent': 'curl/8.5.0' }),
        read(url, accessToken, '/projects', 20, {
          'user-agent': 'curl/8.5.0',
          'graphql-client-name': 'web',
          'if-none-match': etag.get('etag') ?? '',
        }),
        read(url, accessToken, '/exports?r=site', 10, { 'apollographql-client-name': 'ios' }),
        read(url, accessToken, '/exports?r=none', 5, { 'user-agent': 'curl/8.5.0' }),
        ask(`${url}/projects`, { headers: bearer('eyJ.not.one') }),
        ask(`${url}/healthz`),
        ask(`${url}/graphql?query=%7Bme%7Bemail%7D%7D`, { headers: bearer(accessToken) }),
      ]),
    )
    const stopped = nodes.shift()
    expect(await stopped?.kill('SIGTERM')).toBe(0)
    nodes.push(await start(serveNext))
  }
  for (const node of nodes) expect(await node.kill('SIGTERM')).toBe(0)

  const rows = await rowsOf(database)
  expect(countsOf(rows)).toEqual({
    'GET /exports curl': 20,
    'GET /exports ios': 40,
    'GET /projects (refused)': 4,
    'GET /projects curl': 160,
    'GET /projects probe': 1,
    'GET /projects web': 80,
    'POST /login Shop': 1,
  })
  expect(rows.find(({ route }) => route === 'GET /projects')?.twin).toBe('{ me { projects { data } } }')
  expect(Math.abs(Date.parse(rows[0]?.lastSeen ?? '') - Date.now())).toBeLessThan(DAY_MS)

  const table = await runHere(['ledger', '--database', database])
  expect(table.stdout).toMatch(/^POST \/login {3}mutation.*\n {2}Shop +1 +last 20\d\d-/)
  expect(table.stdout).toMatch(/GET \/projects {3}\{ me.*\n {2}curl +160 .*\n {2}web +80 /)
  const none = await runHere(['ledger', '--database', database, '--to', '2020-01-01'])
  expect(none.stdout).toBe('no REST calls were counted in this period\n')

  if (engine !== 'SQLite') return
  // The ledger moves with the database.
  const next = await sqlite()
  expect((await runHere(['move', '--from', database, '--to', next])).exitCode).toBe(0)
  expect(await rowsOf(next)).toEqual(rows)
})

test('the ledger names the client that opened a session, also after a refresh, a move and a restart', async () => {
  const [database, next] = [await sqlite(), await sqlite()]
  await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
  const added = await runHere(['clients', 'add', 'back-end', '--email-domains', '*', '--database', database])
  const basic = Buffer.from(/back-end:\S+/.exec(added.stdout)?.[0] ?? '').toString('base64')
  const start = (url: string) =>
    serveHereForTest(['--database', url, '--log-level', 'silent', '--login-guard', 'client'])
  const post = async (url: string, body: object, headers = {}) =>
    (await ask(url, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) })).json()
  const first = await start(database)
  const tokens = await post(`${first.url}/login`, { email: ANA }, { authorization: `Basic ${basic}` })
  await read(first.url, tokens.accessToken, '/projects', 3, { 'user-agent': 'undici' })
  await first.kill('SIGTERM')
  expect((await runHere(['move', '--from', database, '--to', next])).exitCode).toBe(0)
  const second = await start(next)
  const renewed = await post(`${second.url}/token`, { refreshToken: tokens.refreshToken })
  await read(second.url, renewed.accessToken, '/projects', 2, { 'user-agent': 'undici' })
  await read(second.url, renewed.accessToken, '/projects', 1, { 'graphql-client-name': 'job' })
  await second.kill('SIGTERM')
  expect(countsOf(await rowsOf(next))).toEqual({
    'POST /login back-end': 1,
    'POST /token node': 1,
    'GET /projects back-end': 5,
    'GET /projects job': 1,
  })
})

test.each([1, 2])(
  'the admin port of %i workers serves the ledger to the operator, and the client port does not',
  async (workers) => {
    const database = await sqlite()
    await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
    const serving = await serveForTest(['--database', database, '--admin-port', '0', '--workers', String(workers)])
    const body = JSON.stringify({ email: ANA })
    const { accessToken } = (await ask(`${serving.url}/login`, { method: 'POST', headers: JSON_TYPE, body })).json()
    await read(serving.url, accessToken, '/projects', 12, { 'graphql-client-name': '<script>alert("x")' })
    expect((await ask(`${serving.url}/ledger`)).status).toBe(404)
    const find = () => /"url":"(\S+?)","msg":"metrics and health/.exec(serving.stderr())?.[1]
    await expect.poll(find).toBeDefined()
    const page = () => ask(`${find()}/ledger`)
    // Each worker counts its own calls and adds them within a second.
    await expect.poll(async () => (await page()).text).toContain('<td class="count">12</td>')
    const { headers, text } = await page()
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(text).toContain('&#60;script&#62;alert&#34;x&#34;')
    expect(text).not.toContain('<script')
    expect(text).toContain('<code>{ me { projects { data } } }</code>')
    expect(await serving.kill('SIGTERM')).toBe(0)
  },
)

test('names of clients are short, safe to show and free of secrets, and old days are removed', async () => {
  await using running = new AsyncDisposableStack()
  const observed: ((request: never) => void)[] = []
  const gateway = await startGateway({ observers: [(request) => observed.map((observe) => observe(request as never))] })
  const ledger = running.use(
    openLedger(gateway.store, { retentionMs: 3 * DAY_MS, clock: gateway.now, onFailure: () => expect.unreachable() }),
  )
  observed.push(ledger.observe)
  await gateway.load(SMALL_WORLD)
  const { accessToken, refreshToken } = await gateway.login(ANA)
  const names = [
    ['x'.repeat(5_000), 'x'.repeat(64)],
    ['ana@example.com', '[email]'],
    [`see ${refreshToken}`, 'see [token]'],
    ['(other)', 'other'],
    ['tab\tand \u00e9', 'taband \u00e9'],
    ['  ', 'node'],
  ] as const
  for (const [name] of names) {
    expect((await gateway.get('/templates', accessToken, { 'graphql-client-name': name })).status).toBe(200)
  }
  await ledger.flush()
  const [day = ''] = await gateway.store.restCallDays('', 9)
  const rows = (await gateway.store.restCallsOf([day])).filter(({ route }) => route === 'GET /templates')
  expect(rows.map(({ client }) => client).sort()).toEqual(names.map(([, shown]) => shown).sort())
  expect(JSON.stringify(rows)).not.toContain(refreshToken)

  // Days beyond the retention time are removed.
  gateway.advance((4 * DAY_MS) / 1_000)
  await gateway.get('/templates', (await gateway.login(ANA)).accessToken)
  await ledger.flush()
  expect(await gateway.store.restCallDays('', 9)).toEqual([new Date(gateway.now()).toISOString().slice(0, 10)])
})

test('the command ledger refuses a period without a day, in which nobody seems to call', async () => {
  const database = await sqlite()
  await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
  const ledger = (from: string, to: string) => runHere(['ledger', '--from', from, '--to', to, '--database', database])
  for (const to of ['2027-01-31', '2026-12-31']) {
    const stderr = '--from: must be before --to\n'
    expect(await ledger('2027-01-31', to)).toEqual({ exitCode: 2, stdout: '', stderr })
  }
  const stdout = 'no REST calls were counted in this period\n'
  expect(await ledger('2027-01-31', '2027-02-01')).toEqual({ exitCode: 0, stdout, stderr: '' })
})

test('a ledger whose retention time exceeds the range of dates keeps all days', async () => {
  const database = await sqlite()
  await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
  const gateway = await serveHereForTest(['--database', database, '--ledger-retention', '999999999d'])
  await ask(`${gateway.url}/projects`, { headers: { 'user-agent': 'curl/8.5.0' } })
  expect(await gateway.kill('SIGTERM')).toBe(0)
  expect(gateway.stderr()).not.toContain('ledger')
  expect((await rowsOf(database)).map(({ route, count }) => [route, count])).toEqual([['GET /projects', 1]])
})

test('requests are answered while the database refuses, and a batch whose answer was lost counts once', async () => {
  await using running = new AsyncDisposableStack()
  const failures: unknown[] = []
  let fails: 'before' | 'after' | null = 'before'
  const gateway = await startGateway({ observers: [(request) => ledger?.observe(request)] })
  const store = {
    ...gateway.store,
    async addRestCalls(batch: Parameters<typeof gateway.store.addRestCalls>[0]) {
      if (fails === 'before') throw new Error('refused')
      await gateway.store.addRestCalls(batch)
      if (fails === 'after') throw new Error('the answer was lost')
    },
  }
  const ledger = running.use(
    openLedger(store, { retentionMs: DAY_MS, clock: gateway.now, onFailure: (error) => failures.push(error) }),
  )
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const readTimes = async (times: number) => {
    for (let at = 0; at < times; at += 1) expect((await gateway.get('/projects', accessToken)).status).toBe(200)
    await ledger.flush()
  }
  await readTimes(3)
  fails = 'after'
  await readTimes(2)
  await readTimes(1)
  fails = null
  await readTimes(4)
  expect(failures).toHaveLength(1)
  const rows = await gateway.store.restCallsOf(await gateway.store.restCallDays('', 9))
  expect(rows.map(({ route, count }) => [route, count])).toEqual([
    ['GET /projects', 10],
    ['POST /login', 1],
  ])
})

test('waiting calls are counted by day, clients beyond the limit together, and refused calls apart from them', async () => {
  await using running = new AsyncDisposableStack()
  const gateway = await startGateway()
  const batches: RestCallBatch[] = []
  const ledger = running.use(
    openLedger(
      { ...gateway.store, addRestCalls: (batch) => void batches.push(batch) },
      { retentionMs: 3 * DAY_MS, clock: gateway.now, onFailure: () => expect.unreachable() },
    ),
  )
  const route = { method: 'GET', path: '/projects' }
  const call = (client: string, status = 200) =>
    ledger.observe({
      record: { route, viewer: null, status, failureCode: null },
      header: (name: string) => (name === 'user-agent' ? client : undefined),
    } as never)
  const dayNow = () => new Date(gateway.now()).toISOString().slice(0, 10)
  const before = dayNow()
  for (const client of ['web', 'job', 'web']) call(client)
  gateway.advance(DAY_MS / 1_000)
  const after = dayNow()
  for (const client of ['web', 'web']) call(client)
  // The clock is set back.
  gateway.advance(-DAY_MS / 1_000)
  call('web')
  await ledger.flush()
  expect(batches.at(-1)?.calls.map(({ day, client, count }) => [day, client, count])).toEqual([
    [before, 'web', 2],
    [before, 'job', 1],
    [after, 'web', 2],
    [before, 'web', 1],
  ])

  const clients = 10_000
  for (let n = 0; n < clients; n += 1) call(`client-${n}`)
  for (const status of [401, 401]) call('client-0', status)
  await ledger.flush()
  const { calls = [] } = batches.at(-1) ?? {}
  expect(calls.length).toBeLessThan(clients)
  const [others, refused] = calls.slice(-2)
  expect(others).toMatchObject({ client: '(other)', count: clients - (calls.length - 2) })
  expect(refused).toMatchObject({ client: '(refused)', count: 2 })
  const [{ values = [] } = {}] = await ledger.collect()
  const shown = (client: string) => values.find(({ labels }) => labels.client === client)?.value
  expect(values.length).toBeLessThan(200)
  expect(shown('(other)')).toBeGreaterThan(clients - 200)
  expect(shown('(refused)')).toBe(2)
  expect(values.reduce((sum, { value }) => sum + value, 0)).toBe(clients + 2 + 6)
})

test('calls that arrive during a write wait for the next write', async () => {
  const batches: number[] = []
  const call = (client: string) =>
    ledger.observe({
      record: { route: { method: 'GET', path: '/projects' }, viewer: null, status: 200, failureCode: null },
      header: (name: string) => (name === 'user-agent' ? client : undefined),
    } as never)
  const ledger = openLedger(
    {
      async addRestCalls({ calls }) {
        batches.push(calls.length)
        await setImmediate()
        call('web')
        call('job')
      },
      removeRestCalls: () => 0,
      earlierTime: (now) => now,
    },
    { retentionMs: DAY_MS, clock: () => 0, onFailure: () => expect.unreachable() },
  )
  call('web')
  await ledger.flush()
  expect(batches).toEqual([1])
  await ledger.flush()
  expect(batches).toEqual([1, 2])
  await ledger[Symbol.asyncDispose]()
})
