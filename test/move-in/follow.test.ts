// follow: a change on the old server arrives here a moment later, byte for byte, until follow is told to stop.
import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { hasPrometheus, promtool } from '../sight/prometheus.ts'
import { runHere } from '../support/command-line.ts'
import { startFollow } from '../support/follow.ts'
import { freePort } from '../support/free-port.ts'
import { ask, startGateway, type TestGateway } from '../support/gateway.ts'
import { type PlainServer, startPlainServer } from '../support/plain-server.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'

const EMAILS = ['--email', `${ANA},${BEN}`]
const LISTS = ['/projects', '/templates', '/ui-libraries']

/** Every read of every user is answered here as it is there, with the same bytes and status. */
async function expectTheSame(server: PlainServer, gateway: TestGateway, emails: readonly string[]): Promise<void> {
  for (const email of emails) {
    const { accessToken } = await gateway.login(email)
    const refs = [...(server.workspaces.get(email)?.projects ?? [])].map((text) => JSON.parse(text).ref)
    for (const path of [...LISTS, ...refs.map((ref) => `/exports?r=${ref}`)]) {
      const { status, text } = await gateway.get(path, accessToken)
      const expected = server.expected(email, path)
      expect([email, path, status, status === 200 ? text : null]).toEqual([
        email,
        path,
        expected === null ? 404 : 200,
        expected,
      ])
    }
  }
}

/** Changes that old servers make, each to something else of ana's. */
const CHANGES: readonly (readonly [what: string, change: (server: PlainServer) => void])[] = [
  [
    'an edit in place',
    ({ workspaces }) => workspaces.get(ANA)?.projects.splice(1, 1, '{"id":"p2","ref":"app","n":2.50}'),
  ],
  [
    'a new project in front, with an export',
    ({ workspaces }) => {
      workspaces.get(ANA)?.projects.unshift('{"id":"p0","ref":"first"}')
      workspaces.get(ANA)?.exports.set('first', { createdAt: '2020-01-01T00:00:00Z', elements: ['1e5', '"\\u0041"'] })
    },
  ],
  ['another order', ({ workspaces }) => workspaces.get(ANA)?.projects.reverse()],
  [
    'an export that is older than the one before',
    ({ workspaces }) => {
      workspaces
        .get(ANA)
        ?.exports.set('site', { createdAt: '2019-01-01T00:00:00Z', elements: ['{"path":"older.html"}'] })
    },
  ],
  [
    'an export that was there before',
    ({ workspaces }) => {
      workspaces
        .get(ANA)
        ?.exports.set('site', { createdAt: '2019-01-01T00:00:00Z', elements: ['{"path":"new.html"}', '1.0'] })
    },
  ],
  ['a removed export', ({ workspaces }) => workspaces.get(ANA)?.exports.delete('site')],
  [
    'a removed template and an added library',
    ({ workspaces }) => {
      workspaces.get(ANA)?.templates.pop()
      workspaces.get(ANA)?.uiLibraries.push('{"id":"u2","é":"\\ud800"}')
    },
  ],
  ['a removed project', ({ workspaces }) => workspaces.get(ANA)?.projects.shift()],
  [
    'swapped references',
    ({ workspaces }) => {
      const projects = workspaces.get(ANA)?.projects
      projects?.splice(0, projects.length, '{"id":"p2","ref":"first"}', '{"id":"p0","ref":"app"}')
    },
  ],
  [
    'an export of each',
    ({ workspaces }) => {
      const exports = workspaces.get(ANA)?.exports
      exports?.set('first', { createdAt: '2020-01-01T00:00:00Z', elements: ['"p2"'] })
      exports?.set('app', { createdAt: '2020-01-01T00:00:00Z', elements: ['"p0"'] })
    },
  ],
  [
    'swapped references and exports',
    ({ workspaces }) => {
      const { projects, exports } = workspaces.get(ANA) ?? {}
      projects?.splice(0, projects.length, '{"id":"p2","ref":"app"}', '{"id":"p0","ref":"first"}')
      exports?.set('first', { createdAt: '2020-01-01T00:00:00Z', elements: ['"p0"'] })
      exports?.set('app', { createdAt: '2020-01-01T00:00:00Z', elements: ['"p2"'] })
    },
  ],
  [
    'another reference, under which the same export is there',
    ({ workspaces }) => {
      const { projects, exports } = workspaces.get(ANA) ?? {}
      projects?.splice(1, 1, '{"id":"p0","ref":"moved"}')
      exports?.set('moved', { createdAt: '2026-01-01T00:00:00Z', elements: ['"p0"'] })
      exports?.delete('first')
    },
  ],
  [
    'another reference, and the export stays under the old one, which another project takes',
    ({ workspaces }) => {
      const { projects, exports } = workspaces.get(ANA) ?? {}
      projects?.splice(0, 2, '{"id":"p2","ref":"last"}', '{"id":"p0","ref":"app"}')
      exports?.delete('moved')
    },
  ],
]

describe.each([
  ['without entity tags', {}, 'sqlite'],
  ['with entity tags', { hasEtags: true, hasLastModified: true }, 'postgres'],
] as const)('following an old server %s', (_name, options, engine) => {
  test.skipIf(engine === 'postgres' && POSTGRES_URL === null)('every change arrives here a moment later', async () => {
    await using server = await startPlainServer({ records: SMALL_WORLD, ...options })
    const gateway = await startGateway(engine === 'postgres' ? { databaseUrl: await temporaryDatabase() } : {})
    const following = startFollow(server.url, [...EMAILS, '--database', gateway.databaseUrl])
    expect(await following.next()).toMatchObject({ users: 2, changed: 2, failed: 0, missing: 0 })
    await expectTheSame(server, gateway, [ANA, BEN])
    for (const [what, change] of CHANGES) {
      change(server)
      expect(await following.until(({ changed }) => changed > 0), what).toMatchObject({ changed: 1, failed: 0 })
      // Nothing is left for the later rounds.
      await following.next()
      expect(await following.next(), what).toMatchObject({ changed: 0, unchanged: 2, failed: 0 })
      await expectTheSame(server, gateway, [ANA, BEN])
    }
    const { notModified } = await following.next()
    expect(notModified > 0).toBe('hasEtags' in options)
    expect(await following.stop()).toEqual({ exitCode: 0, stderr: '' })
    expect(server.openSessions()).toBe(0)
    // Two sessions for the whole time.
    expect(server.requests.filter(({ path }) => path === '/login').length).toBe(2)
  })
})

test('a project that changes its reference there keeps its exports here, and gets none of them again', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const gateway = await startGateway()
  const following = startFollow(server.url, ['--email', ANA, '--database', gateway.databaseUrl])
  await following.next()
  const { projects, exports } = server.workspaces.get(ANA) ?? {}
  exports?.set('site', { createdAt: '2026-01-02T00:00:00Z', elements: ['"second"'] })
  await following.until(({ changed }) => changed > 0)
  const { accessToken } = await gateway.login(ANA)
  const historyOf = async (ref: string) => {
    const answer = await gateway.graphql(`{ me { project(ref: "${ref}") { exports { createdAt digest data } } } }`, {
      accessToken,
    })
    return answer.json().data.me.project?.exports ?? null
  }
  const before = await historyOf('site')
  expect(before).toHaveLength(2)
  exports?.set('moved', { createdAt: '2026-01-03T00:00:00Z', elements: ['"second"'] })
  exports?.delete('site')
  const place = projects?.findIndex((text) => JSON.parse(text).ref === 'site') ?? 0
  const { id } = JSON.parse(projects?.[place] ?? '{}')
  projects?.splice(place, 1, JSON.stringify({ id, ref: 'moved' }))
  await following.until(({ changed }) => changed > 0)
  expect(await historyOf('moved')).toEqual(before)
  expect(await historyOf('site')).toBeNull()
  await expectTheSame(server, gateway, [ANA])
  await following.stop()
})

test('a project that takes the reference of another one between the answers of a round gets its export', async () => {
  await using server = await startPlainServer({
    records: [
      documentLine('project', ANA, '{"id":"p1","ref":"app"}'),
      documentLine('project', ANA, '{"id":"p2","ref":"site"}'),
      exportLine(ANA, { r: 'app', createdAt: '2026-01-01T00:00:00Z', elements: ['"of p1"'] }),
      exportLine(ANA, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['"of p2"'] }),
    ].join(''),
    hasEtags: true,
  })
  const gateway = await startGateway()
  const following = startFollow(server.url, ['--email', ANA, '--database', gateway.databaseUrl])
  await following.next()
  server.setIntercept(({ url = '' }) => {
    // The lists of this round were answered as not modified.
    if (!url.startsWith('/exports')) return false
    server.setIntercept(null)
    const { projects, exports } = server.workspaces.get(ANA) ?? {}
    projects?.splice(0, 2, '{"id":"p1","ref":"last"}', '{"id":"p2","ref":"app"}')
    exports?.delete('site')
    return false
  })
  expect(await following.until(({ changed }) => changed > 0)).toMatchObject({ changed: 1, failed: 0 })
  expect(await following.next()).toMatchObject({ changed: 0, unchanged: 1 })
  await expectTheSame(server, gateway, [ANA])
  await following.stop()
})

test('follow waits for an old server that is away, and takes what the server has when it is back', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const gateway = await startGateway()
  const following = startFollow(server.url, [...EMAILS, '--database', gateway.databaseUrl])
  await following.next()
  await server.kill({ forgetsSessions: true })
  const away = await following.until(({ outage }) => outage !== null)
  expect(away).toMatchObject({ changed: 0, outage: expect.stringContaining('no answer') })
  expect(away.failed).toBeGreaterThan(0)
  const later = await following.next()
  expect(later.lagSeconds).toBeGreaterThan(away.lagSeconds ?? Infinity)
  expect((await gateway.get('/projects', (await gateway.login(ANA)).accessToken)).status).toBe(200)
  server.workspaces.get(BEN)?.templates.push('{"id":"late"}')
  await server.restart()
  const back = await following.until(({ outage }) => outage === null)
  expect(back).toMatchObject({ changed: 1, failed: 0 })
  // Otherwise it would have grown by at least the time of this round.
  expect(back.lagSeconds).toBeLessThan((later.lagSeconds ?? 0) + back.seconds)
  await expectTheSame(server, gateway, [ANA, BEN])
  await following.stop()
})

test.each([401, 403] as const)(
  'follow renews access tokens that expire and are then refused with %i',
  async (status) => {
    await using server = await startPlainServer({
      records: SMALL_WORLD,
      // On a busy machine a shorter one expires on its way, again and again.
      accessTokenTtlSeconds: 5,
      refusedTokenStatus: status,
    })
    const gateway = await startGateway()
    const following = startFollow(server.url, [...EMAILS, '--database', gateway.databaseUrl, '--interval', '1s'])
    const isRefused = () => server.requests.some((request) => request.status === status)
    for (;;) {
      expect(await following.next()).toMatchObject({ users: 2, failed: 0 })
      if (isRefused()) break
    }
    server.workspaces.get(BEN)?.templates.push('{"id":"later"}')
    expect(await following.until(({ changed }) => changed > 0)).toMatchObject({ changed: 1, failed: 0 })
    await expectTheSame(server, gateway, [ANA, BEN])
    expect(await following.stop()).toEqual({ exitCode: 0, stderr: '' })
    expect(server.openSessions()).toBe(0)
    // One session of each user for the whole time.
    expect(server.requests.filter(({ path }) => path === '/login').length).toBe(2)
  },
)

test('follow removes a workspace after two rounds without it, not after one, and follows a user who is added to the file', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const gateway = await startGateway()
  const file = join(temporaryDirectory(), 'users.txt')
  writeFileSync(file, `${ANA}\n`)
  const following = startFollow(server.url, ['--emails', file, '--database', gateway.databaseUrl])
  await following.next()
  const kept = server.workspaces.get(ANA)
  const projects = async () => (await gateway.get('/projects', (await gateway.login(ANA)).accessToken)).status
  let away = 0
  server.setIntercept((request, response) => {
    // The lists of one round.
    if (request.headers.authorization === undefined || away === LISTS.length) return false
    if (away === 0 && request.url !== LISTS[0]) return false
    away += 1
    response.writeHead(404).end()
    return true
  })
  expect(await following.until(({ missing }) => missing > 0)).toMatchObject({ missing: 1 })
  // It is still here, so nothing has to be brought again.
  expect(await following.next()).toMatchObject({ unchanged: 1, changed: 0 })
  expect(await projects()).toBe(200)
  server.workspaces.delete(ANA)
  writeFileSync(file, `${ANA}\n${BEN}\n`)
  await following.until(({ changed }) => changed === 1)
  await following.until(({ missing }) => missing === 1)
  await following.next()
  expect(await projects()).toBe(404)
  await expectTheSame(server, gateway, [BEN])
  if (kept) server.workspaces.set(ANA, kept)
  await following.until(({ changed }) => changed === 1)
  // The round that saw it may have begun before it was back.
  await following.until(({ changed, unchanged }) => changed === 0 && unchanged === 2)
  await expectTheSame(server, gateway, [ANA, BEN])
  await following.stop()
})

test('follow --once makes one round, and its exit code says whether everybody is in step', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const database = `file:${join(temporaryDirectory(), 'new.db')}`
  const follow = (...more: string[]) => runHere(['follow', server.url, '--once', '--database', database, ...more])
  const first = await follow(...EMAILS)
  expect([first.exitCode, first.stderr]).toEqual([0, ''])
  expect(first.stdout).toMatch(/^\d{4}-\S+Z round 1: 2 users in \d+\.\d s, 2 changed, 0 failed, lag \d+\.\d s\n$/)
  server.workspaces.get(ANA)?.templates.push('{"no":"id"}')
  const second = await follow(...EMAILS)
  expect([second.exitCode, second.stdout.includes('0 changed, 1 failed')]).toEqual([1, true])
  expect(second.stderr).toMatch(/^--email, address 1: its answer cannot be imported: /)
  // Ana is unchanged: nothing of her is taken in part.
  const dump = (await runHere(['dump', '--database', database])).stdout
  expect([dump.includes('"id":"t1"'), dump.includes('"no"')]).toEqual([true, false])
  expect((await follow()).exitCode).toBe(2)
})

/** Users whose exports the old server has under the member `slug` of their projects. */
const BY_SLUG = [ANA, BEN].map(
  (email) =>
    documentLine('project', email, '{"id":"p","slug":"site"}') +
    exportLine(email, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['"e"'] }),
)

const OTHER_FIELDS =
  'exports stored here would go, because the id or reference of their project is read differently: the user is left unchanged; give the --id-fields and --ref-fields of the import, or --remove-many to remove these exports'

test('follow with other --ref-fields than the import gives the projects these references, and brings their exports', async () => {
  await using server = await startPlainServer({ records: BY_SLUG.join('') })
  const gateway = await startGateway()
  const flags = [...EMAILS, '--database', gateway.databaseUrl]
  expect((await runHere(['import', server.url, ...flags])).stderr).toContain('none of 2 projects has an export there')
  const once = ['follow', server.url, '--once', ...flags, '--ref-fields', 'slug']
  expect(await runHere(once)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(' 2 changed, 0 failed') })
  for (const email of [ANA, BEN]) {
    const { accessToken } = await gateway.login(email)
    expect((await gateway.get('/exports?r=site', accessToken)).text).toBe('["e"]')
  }
  expect(await runHere(once)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(' 0 changed, 0 failed') })
})

test('follow without the --ref-fields of the import fails in its first round, and removes no export', async () => {
  await using server = await startPlainServer({ records: BY_SLUG.join('') })
  const flags = [...EMAILS, '--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  expect((await runHere(['import', server.url, ...flags, '--ref-fields', 'slug'])).exitCode).toBe(0)
  const { exitCode, stderr } = await runHere(['follow', server.url, '--once', ...flags])
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(OTHER_FIELDS)])
  const exportsHere = async () => (await runHere(['dump', ...flags.slice(-2)])).stdout.match(/"kind":"export"/g)
  expect(await exportsHere()).toHaveLength(2)
  expect((await runHere(['follow', server.url, '--once', '--remove-many', ...flags])).exitCode).toBe(0)
  expect(await exportsHere()).toBeNull()
})

test.each([
  ['--ref-fields', '{"id":"p","slug":"site"}', ['--ref-fields', 'slug']],
  // The export is there under the same reference, but the project would be another one here.
  ['--id-fields', '{"id":"p","key":"k","ref":"site"}', ['--id-fields', 'key,id']],
])(
  'follow without the %s of the import leaves an export stored whose project it reads differently, while others stay the same',
  async (_flag, project, fields) => {
    const same = '{"id":"home","key":"home","slug":"home"}'
    const exports = ['home', 'site'].map((r) =>
      exportLine(ANA, { r, createdAt: '2026-01-01T00:00:00Z', elements: ['"e"'] }),
    )
    await using server = await startPlainServer({
      records: [documentLine('project', ANA, same), documentLine('project', ANA, project), ...exports].join(''),
    })
    const flags = ['--email', ANA, '--database', `file:${join(temporaryDirectory(), 'new.db')}`]
    const dump = async () => (await runHere(['dump', ...flags.slice(-2)])).stdout
    expect((await runHere(['import', server.url, ...flags, ...fields])).exitCode).toBe(0)
    server.workspaces.get(ANA)?.templates.push('{"id":"t"}')
    const before = await dump()
    expect(before.match(/"kind":"export"/g)).toHaveLength(2)
    const once = await runHere(['follow', server.url, '--once', ...flags])
    expect(once).toMatchObject({ exitCode: 1, stdout: expect.stringContaining(' 0 changed, 1 failed') })
    expect(once.stderr).toBe(`--email, address 1: ${OTHER_FIELDS}\n`)
    // No time makes this a removal.
    const following = startFollow(server.url, flags)
    for (let round = 0; round < 4; round += 1) expect(await following.next()).toMatchObject({ failed: 1, removed: 0 })
    await following.stop()
    expect(await dump()).toBe(before)
    expect((await runHere(['follow', server.url, '--once', ...flags, ...fields])).exitCode).toBe(0)
    expect((await dump()).match(/"kind":"export"/g)).toHaveLength(2)
    // A removal there stays one.
    server.workspaces.get(ANA)?.projects.pop()
    expect((await runHere(['follow', server.url, '--once', ...flags])).exitCode).toBe(0)
    expect((await dump()).match(/"kind":"export"/g)).toHaveLength(1)
  },
)

test('white space between documents is no change', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const database = `file:${join(temporaryDirectory(), 'new.db')}`
  server.setIntercept(({ url = '', headers }, response) => {
    const found = headers.authorization === undefined ? null : server.expected(ANA, url)
    if (found === null) return false
    response.end(found.replace(/^\[/, '[\n  ').replace(/\]$/, '\n]\n'))
    return true
  })
  const follow = () =>
    runHere(['follow', server.url, '--once', '--format', 'json', '--database', database, '--email', ANA])
  const told = async () => JSON.parse((await follow()).stdout)
  expect(await told()).toMatchObject({ changed: 1, unchanged: 0, failed: 0 })
  expect(await told()).toMatchObject({ changed: 0, unchanged: 1, added: 0, replaced: 0, removed: 0 })
  server.workspaces.get(ANA)?.projects.reverse()
  expect(await told()).toMatchObject({ changed: 1, unchanged: 0 })
})

test('the lag of follow is a metric, which grows while the old server is away', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const gateway = await startGateway()
  const port = String(await freePort('127.0.0.1'))
  const following = startFollow(server.url, [...EMAILS, '--database', gateway.databaseUrl, '--metrics-port', port])
  const metrics = async () => (await ask(`http://127.0.0.1:${port}/metrics`)).text
  const value = (text: string, name: string) =>
    Number(new RegExp(`^workspace_gateway_follow_${name} (\\S+)$`, 'm').exec(text)?.[1])
  await following.next()
  const inStep = await metrics()
  expect(inStep).toContain('workspace_gateway_follow_users_total{outcome="changed"} 2')
  expect(inStep).toContain('workspace_gateway_follow_changes_total{change="added"} 7')
  expect(value(inStep, 'rounds_total')).toBeGreaterThan(0)
  expect([value(inStep, 'remote_up'), value(inStep, 'requests_total') > 8]).toEqual([1, true])
  expect(inStep).toContain('process_cpu_seconds_total')
  expect(inStep).not.toContain(ANA)
  if (hasPrometheus) expect(promtool(['check', 'metrics'], { input: inStep }).said).toBe('')

  await server.kill()
  await following.until(({ outage }) => outage !== null)
  const away = await metrics()
  expect(value(away, 'remote_up')).toBe(0)
  // The lag grows between two rounds too.
  await expect.poll(async () => value(await metrics(), 'lag_seconds')).toBeGreaterThan(value(away, 'lag_seconds'))
  expect((await ask(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)

  await server.restart()
  await following.until(({ outage }) => outage === null)
  expect(value(await metrics(), 'remote_up')).toBe(1)
  await expect.poll(async () => value(await metrics(), 'lag_seconds')).toBeLessThan(value(away, 'lag_seconds'))
  await following.stop()
  await expect(metrics()).rejects.toThrow()
})

test('before the first user is in step the lag is unknown: it is neither reported as a number nor exported as a metric', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  await server.kill()
  const database = `file:${join(temporaryDirectory(), 'new.db')}`
  const args = [...EMAILS, '--database', database]
  const once = await runHere(['follow', server.url, '--once', ...args])
  expect(once.exitCode).toBe(1)
  expect(once.stdout).toMatch(
    / round 1: 2 users in \d+\.\d s, 0 changed, 2 failed, lag not known yet, \S+ \S+: no answer \(ECONNREFUSED\)\n$/,
  )

  const host = '127.0.0.2'
  const port = String(await freePort(host))
  const following = startFollow(server.url, [...args, '--metrics-host', host, '--metrics-port', port])
  const metrics = async () => (await ask(`http://${host}:${port}/metrics`)).text
  expect(await following.next()).toMatchObject({ failed: 2, lagSeconds: null })
  expect(await following.next()).toMatchObject({ failed: 2, lagSeconds: null })
  const away = await metrics()
  expect(away).toContain('workspace_gateway_follow_remote_up 0')
  expect(away).not.toContain('follow_lag_seconds')
  await server.restart()
  const { lagSeconds } = await following.until(({ outage }) => outage === null)
  expect(lagSeconds).toBeGreaterThanOrEqual(0)
  expect(await metrics()).toMatch(/^workspace_gateway_follow_lag_seconds \d/m)
  await following.stop()
})

test('on a terminal, the progress of the current round shows the users done and the lag', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const shown = Promise.all([text(stdout), text(stderr)])
  const io = { stdin: Readable.from([]), stdout, stderr, isTerminal: true, clock: Date.now }
  const database = `file:${join(temporaryDirectory(), 'new.db')}`
  const args = ['follow', server.url, '--once', '--concurrency', '1', '--database', database, ...EMAILS]
  expect(await runCommandLine(args, io, new EventEmitter())).toBe(0)
  for (const stream of [stdout, stderr]) stream.end()
  const [told, drawn] = await shown
  expect(drawn).toMatch(/following: 1 of 2 users, lag \d+\.\d s/)
  expect(told).toMatch(/round 1: 2 users .* lag \d+\.\d s\n$/)
})
