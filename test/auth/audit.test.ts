// Tests the audit log: what an entry holds, how entries are counted, written and removed, and the command `audit`.
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { AuditEvent } from '../../src/auth/audit/audit-event.ts'
import { type AuditLogOptions, openAuditLog } from '../../src/auth/audit/audit-log.ts'
import { withAudit } from '../../src/auth/audit/audited-sign-in.ts'
import type { Caller } from '../../src/auth/caller.ts'
import { toGatewayError } from '../../src/auth/to-gateway-error.ts'
import { GatewayError } from '../../src/errors.ts'
import type { NewAuditEntry } from '../../src/store/audit-contract.ts'
import { StoreReadOnlyError, StoreUnavailableError } from '../../src/store/contract.ts'
import { hashedEmail } from '../../src/store/hashed-email.ts'
import { createClient, requireSession } from '../support/client.ts'
import { runHere, serve, serveHereForTest } from '../support/command-line.ts'
import { openSession, startGateway } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const ALL = { from: null, to: null, kind: null, who: null }
const HASH = /^hmac-sha256:[0-9a-f]{32}$/

const login = (changes: Partial<AuditEvent> = {}): AuditEvent => ({
  kind: 'login',
  result: 'done',
  email: ANA,
  address: '192.0.2.77',
  ...changes,
})

async function openLog(options: Partial<AuditLogOptions> = {}) {
  const path = join(temporaryDirectory(), 'audit.db')
  const store = await openTestStore(path)
  const [lines, failures]: [NewAuditEntry[], unknown[]] = [[], []]
  let fails: 'before' | 'after' | null = null
  const log = await openAuditLog(
    {
      ...store,
      async addAuditEntries(batch) {
        if (fails === 'before') throw new StoreUnavailableError('away')
        await store.addAuditEntries(batch)
        if (fails === 'after') throw new StoreUnavailableError('the answer was lost')
      },
    },
    {
      retentionMs: 1_000,
      areEmailsClear: false,
      clock: () => 5_000,
      onEntry: (entry) => lines.push(entry),
      onFailure: (error) => failures.push(error),
      ...options,
    },
  )
  return {
    path,
    log,
    store,
    lines,
    failures,
    fail(when: typeof fails) {
      fails = when
    },
    entries: async () => (await store.auditEntries(ALL, 0, 100_000)).map(({ id: _, ...entry }) => entry),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

test('an entry holds its time, its network and a hash of its email, and is logged once', async () => {
  await using opened = await openLog()
  opened.log.record(login({ detail: `for ${ANA} with wgr_secret` }))
  expect(await opened.entries()).toEqual([])
  await opened.log[Symbol.asyncDispose]()
  const expected = {
    at: 5_000,
    kind: 'login',
    result: 'done',
    who: expect.stringMatching(HASH),
    network: '192.0.2.0/24',
    detail: 'for [email] with [token]',
    count: 1,
  }
  expect(await opened.entries()).toEqual([expected])
  expect(opened.lines).toEqual([expected])
})

test('of a long detail an entry holds the beginning', async () => {
  await using opened = await openLog()
  opened.log.record(login({ detail: 'word '.repeat(100) }))
  await opened.log[Symbol.asyncDispose]()
  expect((await opened.entries()).map(({ detail }) => detail)).toEqual(['word '.repeat(40)])
})

test('emails are stored in clear only when the operator asks for it, and never those of which nothing else is left', async () => {
  await using opened = await openLog({ areEmailsClear: true })
  opened.log.record(login())
  opened.log.record(login({ kind: 'removal', isGone: true }))
  await opened.log[Symbol.asyncDispose]()
  expect((await opened.entries()).map(({ who }) => who)).toEqual([ANA, expect.stringMatching(/^hmac-sha256:/)])
})

test('with --audit-emails clear the table has the emails, and the log of the gateway has none', async () => {
  const database = ['--database', `file:${join(temporaryDirectory(), 'workspace.db')}`]
  const serving = await serveHereForTest([...database, '--audit-emails', 'clear'])
  await openSession(serving.url, ANA)
  await serving.kill('SIGTERM')
  expect((await runHere(['audit', ...database])).stdout).toContain(`"who":"${ANA}"`)
  expect(serving.stderr()).toContain('"kind":"login"')
  expect(serving.stderr()).not.toContain(ANA)
})

test('one database always hashes an email the same way; two databases hash it differently', async () => {
  const names: string[] = []
  for (const _ of [1, 2]) {
    await using opened = await openLog()
    opened.log.record(login())
    opened.log.record(login({ kind: 'logout' }))
    await opened.log[Symbol.asyncDispose]()
    names.push(...(await opened.entries()).map(({ who }) => who))
  }
  expect(names[0]).toBe(names[1])
  expect(names[2]).toBe(names[3])
  expect(names[0]).not.toBe(names[2])
})

test('a burst of equal events becomes one entry with a count, and the queue is bounded', async () => {
  await using opened = await openLog()
  for (let index = 0; index < 500; index += 1) opened.log.record(login({ result: 'refused', detail: 'LOGIN_REFUSED' }))
  for (let index = 0; index < 10_400; index += 1) opened.log.record(login({ email: `user${index}@example.com` }))
  await opened.log.flush()
  // What was dropped is told once.
  opened.log.record(login({ result: 'refused', detail: 'LOGIN_REFUSED' }))
  await opened.log[Symbol.asyncDispose]()
  const entries = await opened.entries()
  expect(entries).toHaveLength(10_002)
  expect(entries[0]).toMatchObject({ result: 'refused', count: 500 })
  // At most 10,000 entries wait; the refusals are one of them.
  expect(entries.slice(10_000)).toMatchObject([
    { kind: 'dropped', count: 401 },
    { kind: 'login', count: 1 },
  ])
})

test('no event is lost while the database is away, and the failure is reported once', async () => {
  await using opened = await openLog()
  opened.fail('before')
  opened.log.record(login())
  await opened.log.flush()
  opened.log.record(login())
  await opened.log.flush()
  expect(opened.failures).toHaveLength(1)
  expect(opened.lines).toEqual([])
  opened.fail(null)
  await opened.log[Symbol.asyncDispose]()
  // The log did not know whether the first entry was written, so it did not add the second event to its count.
  expect((await opened.entries()).map(({ count }) => count)).toEqual([1, 1])
})

test.each([false, true])(
  'entries that were written although the answer was lost are stored once (emails in clear: %s)',
  async (areEmailsClear) => {
    await using opened = await openLog({ areEmailsClear })
    opened.fail('after')
    opened.log.record(login())
    opened.log.record(login({ kind: 'logout' }))
    await opened.log.flush()
    for (let time = 0; time < 3; time += 1) opened.log.record(login())
    await opened.log.flush()
    expect(opened.lines).toEqual([])
    opened.fail(null)
    await opened.log[Symbol.asyncDispose]()
    const written = (await opened.entries()).map(({ kind, count }) => [kind, count])
    expect(written).toEqual([
      ['login', 1],
      ['logout', 1],
      ['login', 3],
    ])
    expect(opened.lines.map(({ kind, count }) => [kind, count])).toEqual(written)
  },
)

test('entries older than the retention time are removed; a retention time of zero stores nothing', async () => {
  let now = 5_000
  await using opened = await openLog({ clock: () => now })
  opened.log.record(login())
  await opened.log.flush()
  now += 2 * 3_600_000
  opened.log.record(login({ kind: 'logout' }))
  await opened.log[Symbol.asyncDispose]()
  expect((await opened.entries()).map(({ kind }) => kind)).toEqual(['logout'])
  await using none = await openLog({ retentionMs: 0 })
  none.log.record(login())
  await none.log[Symbol.asyncDispose]()
  expect(await none.entries()).toEqual([])
  expect(none.lines).toHaveLength(1)
})

test('the database refuses to change an entry, also from outside the gateway', async () => {
  await using opened = await openLog()
  opened.log.record(login())
  await opened.log[Symbol.asyncDispose]()
  const { default: Database } = await import('better-sqlite3')
  const hand = new Database(opened.path)
  expect(() => hand.prepare('update audit_entry set who = ?').run('x')).toThrow('append-only')
  hand.close()
})

test('logins, refusals and logouts are recorded without a token, a code or an email', async () => {
  const gateway = await startGateway()
  const tokens = await gateway.login(ANA)
  const body = JSON.stringify({ refreshToken: tokens.refreshToken })
  const forwarded = { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' }
  for (const local of ['ana+code-K7QM2P9D', 'ana\uff0bcode-K7QM2P9D', 'ana+code-K7QM2P9D+code-x']) {
    await gateway.send('POST', '/login', JSON.stringify({ email: `${local}@example.com` }), forwarded)
  }
  await gateway.send('POST', '/login', JSON.stringify({ email: 'not an address' }))
  await gateway.send('POST', '/token', body)
  await gateway.send('POST', '/token', JSON.stringify({ refreshToken: 'wgr_unknown' }))
  await gateway.send('DELETE', '/logout', body)
  await gateway.send('DELETE', '/logout', body)
  await gateway.audit.flush()
  const entries = await gateway.store.auditEntries(ALL, 0, 100)
  const ana = entries.find(({ kind }) => kind === 'login')?.who
  expect(ana).toMatch(HASH)
  const told = entries
    .filter(({ kind }) => kind !== 'keyAdded')
    .map(({ kind, result, who, network, detail }) => [kind, result, who, network, detail])
  // On a busy machine, equal events are written in several batches.
  expect([...new Map(told.map((one) => [JSON.stringify(one), one])).values()]).toEqual([
    ['login', 'done', ana, '127.0.0.0/24', ''],
    ['login', 'refused', ana, '127.0.0.0/24', 'LOGIN_REFUSED'],
    ['login', 'refused', '', '127.0.0.0/24', 'INVALID_EMAIL'],
    ['refresh', 'refused', '', '127.0.0.0/24', 'INVALID_TOKEN'],
    ['logout', 'done', ana, '127.0.0.0/24', ''],
    ['logout', 'refused', '', '127.0.0.0/24', 'INVALID_TOKEN'],
  ])
  expect(JSON.stringify(entries)).not.toMatch(/wgr_|eyJ|K7QM2P9D|@/)
})

test.each([
  ['an unavailable database', new StoreUnavailableError('away'), 'failed', 'UNAVAILABLE'],
  ['a read-only database', new StoreReadOnlyError('read'), 'refused', 'READ_ONLY'],
  ['a refusal', new GatewayError('LOGIN_REFUSED'), 'refused', 'LOGIN_REFUSED'],
  ['an overloaded gateway', new GatewayError('UNAVAILABLE'), 'refused', 'UNAVAILABLE'],
  ['an unavailable identity provider', new GatewayError('UNAVAILABLE', { cause: Error('x') }), 'failed', 'UNAVAILABLE'],
  ['an unexpected error', new Error('secret'), 'failed', 'INTERNAL'],
])('%s is recorded with the code that the client receives', async (_, thrown, result, code) => {
  const fail = () => Promise.reject(thrown)
  const told: AuditEvent[] = []
  const signIn = withAudit({ login: fail, refresh: fail, logout: fail }, { record: (event) => told.push(event) })
  const caller = { client: { address: '192.0.2.77' } } as Caller
  await expect(signIn.login({ email: ANA, code: null }, caller)).rejects.toBe(thrown)
  await expect(signIn.refresh('wgr_x', caller)).rejects.toBe(thrown)
  await expect(signIn.logout('wgr_x', caller)).rejects.toBe(thrown)
  expect(told.map((event) => [event.kind, event.result, event.detail])).toEqual(
    ['login', 'refresh', 'logout'].map((kind) => [kind, result, code]),
  )
  expect(toGatewayError(thrown).code).toBe(code)
})

test('serve logs one line for each entry, and every entry is durable after it has stopped', async () => {
  const directory = temporaryDirectory()
  const database = `file:${join(directory, 'workspace.db')}`
  const serving = await serve(['--database', database])
  using client = createClient(serving.url)
  const { refreshToken, accessToken } = await requireSession(client, ANA)
  await client.logout(refreshToken)
  expect(await serving.kill('SIGTERM')).toBe(0)
  const lines = serving
    .stderr()
    .split('\n')
    .filter((line) => line.includes('"audit"'))
  expect(lines.map((line) => JSON.parse(line).audit.kind)).toEqual(['keyAdded', 'login', 'logout'])
  const { stdout, exitCode } = await runHere(['audit', '--database', database])
  expect(exitCode).toBe(0)
  const shown = jsonLines(stdout)
  expect(shown.map(({ kind }) => kind)).toEqual(['keyAdded', 'login', 'logout'])
  expect(shown[1]).toEqual({
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    kind: 'login',
    result: 'done',
    who: expect.stringMatching(HASH),
    network: '127.0.0.0/24',
  })
  for (const secret of [refreshToken, accessToken, ANA]) {
    expect(serving.stderr()).not.toContain(secret)
    expect(stdout).not.toContain(secret)
  }
})

test('imports, removals and revocations by a command are recorded without an email', async () => {
  const gateway = await startGateway()
  await gateway.login(ANA)
  const command = async (...args: string[]) => {
    const done = await runHere([...args, '--database', gateway.databaseUrl], { stdin: SMALL_WORLD, clock: gateway.now })
    expect([done.exitCode, done.stderr], args.join(' ')).toEqual([0, ''])
    return done.stdout
  }
  await command('import', '-')
  await command('sessions', 'revoke', '--email', ANA)
  await command('users', 'remove', ANA)
  const shown = jsonLines(await command('audit'))
  const kinds = shown.filter(({ kind }) => !['login', 'keyAdded'].includes(kind))
  expect(kinds).toEqual([
    expect.objectContaining({ kind: 'import', result: 'done', detail: expect.stringMatching(/^\d+ added, /) }),
    expect.objectContaining({
      kind: 'sessionsRevoked',
      who: expect.stringMatching(HASH),
      detail: '1 ended by the operator',
    }),
    expect.objectContaining({
      kind: 'removal',
      who: expect.stringMatching(HASH),
      detail: expect.stringMatching(/projects?, /),
    }),
  ])
  expect(JSON.stringify(shown)).not.toContain('@')
})

test('with --audit-retention 0 commands record nothing', async () => {
  const gateway = await startGateway()
  const database = ['--database', gateway.databaseUrl]
  const imported = await runHere(['import', '-', ...database, '--audit-retention', '0'], { stdin: SMALL_WORLD })
  expect(imported.exitCode).toBe(0)
  expect((await runHere(['audit', ...database])).stdout).not.toContain('"kind":"import"')
})

test('the command audit filters by time, kind and email', async () => {
  const gateway = await startGateway()
  await gateway.login(ANA)
  gateway.advance(86_400)
  const { refreshToken } = await gateway.login('ben@example.com')
  await gateway.send('DELETE', '/logout', JSON.stringify({ refreshToken }))
  await gateway.load(SMALL_WORLD)
  await gateway.audit.flush()
  const kinds = async (...args: string[]) => {
    const { stdout, exitCode } = await runHere(['audit', '--database', gateway.databaseUrl, ...args])
    expect(exitCode).toBe(0)
    return jsonLines(stdout).map(({ kind }) => kind)
  }
  expect(await kinds('--email', 'BEN@example.com')).toEqual(['login', 'logout'])
  expect(await kinds('--kind', 'login')).toEqual(['login', 'login'])
  expect(await kinds('--kind', 'login', '--from', '2026-01-02')).toEqual(['login'])
  expect(await kinds('--to', '2026-01-01T12:00:00Z', '--email', ANA)).toEqual(['login'])
  expect(await kinds('--email', 'nobody@example.com')).toEqual([])
  const wrong = await runHere(['audit', '--database', gateway.databaseUrl, '--kind', 'gossip', '--from', 'soon'])
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringMatching(/--from.*\n.*--kind|--kind.*\n.*--from/)])
  const backwards = ['--from', '2026-01-02', '--to', '2026-01-01']
  expect(await runHere(['audit', '--database', gateway.databaseUrl, ...backwards])).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('--from: must be before --to'),
  })
})

test('refusals for many emails share one entry beyond a limit for each network and one for all', async () => {
  let now = 5_000
  const { log, store } = await openLog({ clock: () => now, retentionMs: 1_000_000 })
  const refuse = (count: number, address: string) => {
    for (let index = 0; index < count; index += 1) {
      log.record(login({ result: 'refused', email: `u${index}@example.com`, address, detail: 'LOGIN_REFUSED' }))
    }
  }
  const counts = async () => {
    await log.flush()
    const entries = await store.auditEntries(ALL, 0, 10_000)
    return { entries: entries.length, events: entries.reduce((sum, { count }) => sum + count, 0) }
  }
  refuse(5_000, '192.0.2.77')
  refuse(50, '198.51.100.1')
  log.record(login())
  // 100 entries with an email and one without; 50 of the other network; the login.
  expect(await counts()).toEqual({ entries: 100 + 1 + 50 + 1, events: 5_051 })
  const unnamed = (await store.auditEntries(ALL, 0, 10_000)).filter(({ who }) => who === '')
  expect(unnamed).toMatchObject([{ kind: 'login', result: 'refused', network: '192.0.2.0/24', count: 4_900 }])

  for (let network = 0; network < 200; network += 1) refuse(50, `203.0.${network}.1`)
  expect(await counts()).toEqual({ entries: 1_000 + 1 + 1 + 1, events: 15_051 })
  now += 60_000
  refuse(3, '192.0.2.77')
  expect(await counts()).toEqual({ entries: 1_003 + 3, events: 15_054 })
  // 97 more with an email and one without, and then a clock that was set back.
  refuse(200, '192.0.2.77')
  expect(await counts()).toEqual({ entries: 1_006 + 98, events: 15_254 })
  now -= 1_000
  refuse(3, '192.0.2.77')
  expect(await counts()).toEqual({ entries: 1_104 + 3, events: 15_257 })
})

test.each([
  ['failed logins', { kind: 'login', result: 'failed', detail: 'UNAVAILABLE' }],
  ['failed refreshes', { kind: 'refresh', result: 'failed', detail: 'UNAVAILABLE' }],
  ['failed logouts', { kind: 'logout', result: 'failed', detail: 'UNAVAILABLE' }],
  ['code requests that an earlier mail answered', { kind: 'codeRequest', detail: 'joined' }],
] as const)('%s share one entry, like refusals, beyond the limit for a network', async (_, changes) => {
  const { log, store } = await openLog({ clock: () => 5_000, retentionMs: 1_000_000 })
  for (let index = 0; index < 500; index += 1) log.record(login({ ...changes, email: `u${index}@example.com` }))
  await log.flush()
  const entries = await store.auditEntries(ALL, 0, 10_000)
  expect(entries).toHaveLength(100 + 1)
  expect(entries.find(({ who }) => who === '')).toMatchObject({ network: '192.0.2.0/24', count: 400 })
})

test('every mail is recorded with its own email, however many mails there are', async () => {
  const { log, store } = await openLog({ clock: () => 5_000, retentionMs: 1_000_000 })
  for (const changes of [
    { kind: 'codeRequest', detail: 'mailed' },
    { kind: 'code', result: 'failed' },
  ] as const) {
    for (let index = 0; index < 500; index += 1) log.record(login({ ...changes, email: `u${index}@example.com` }))
  }
  await log.flush()
  expect((await store.auditEntries(ALL, 0, 10_000)).filter(({ who }) => HASH.test(who))).toHaveLength(1_000)
})

test('events that arrive during a write wait for the next one, and equal events share an entry', async () => {
  const written: (readonly number[])[] = []
  const log = await openAuditLog(
    {
      auditSalt: () => 'salt',
      removeAuditEntries: () => 0,
      earlierTime: (now) => now,
      async addAuditEntries({ entries }) {
        written.push(entries.map(({ count }) => count))
        for (let count = 0; count < 3; count += 1) {
          await setImmediate()
          log.record(login())
        }
      },
    },
    {
      retentionMs: 1_000,
      areEmailsClear: false,
      clock: () => 5_000,
      onEntry() {},
      onFailure: () => expect.unreachable(),
    },
  )
  log.record(login())
  await log.flush()
  expect(written).toEqual([[1]])
  await log.flush()
  expect(written).toEqual([[1], [3]])
  await log[Symbol.asyncDispose]()
})

test.each([
  ['were written there', 0],
  ['were written there by the second attempt', 1],
])('names are hashed for the database that entries %s', async (_, failures) => {
  let [database, failuresLeft] = ['old', failures]
  const names: string[] = []
  const log = await openAuditLog(
    {
      auditSalt: () => database,
      removeAuditEntries: () => 0,
      earlierTime: (now) => now,
      async addAuditEntries({ entries }) {
        database = 'new'
        failuresLeft -= 1
        if (failuresLeft >= 0) throw new Error('moved')
        names.push(...entries.map(({ who }) => who))
      },
    },
    { retentionMs: 1_000, areEmailsClear: false, clock: () => 5_000, onEntry() {}, onFailure() {} },
  )
  for (let time = 0; time < 2; time += 1) {
    log.record(login({ email: ANA }))
    for (let attempt = 0; attempt <= failures; attempt += 1) await log.flush()
  }
  await log[Symbol.asyncDispose]()
  expect(names).toEqual([hashedEmail(ANA, 'old'), hashedEmail(ANA, 'new')])
})
