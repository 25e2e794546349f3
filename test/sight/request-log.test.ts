// Tests the request log and the request id.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createRefusalLimit, type LeftOut } from '../../src/admin/request-log/refusal-limit.ts'
import { runHere, type Serving, serveForTest, serveHereForTest } from '../support/command-line.ts'
import { ask, bearer, openSession, postJson } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

type Line = Readonly<Record<string, unknown>>

async function startLogged(args: readonly string[] = []) {
  const path = join(temporaryDirectory(), 'workspace.db')
  const database = ['--database', `file:${path}`]
  await runHere(['import', '-', ...database], { stdin: SMALL_WORLD })
  const serving = await serveHereForTest([...database, ...args])
  const { accessToken } = await openSession(serving.url, ANA)
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    ask(`${serving.url}${path}`, { headers })
  return { serving, path, database, accessToken, get }
}

function linesOf({ stderr }: Serving): readonly Line[] {
  return jsonLines(stderr()).filter(({ msg }) => msg === 'request')
}

describe('without --access-log', () => {
  test('only refused requests get a line, with the id that the client received', async () => {
    const { serving, accessToken, get } = await startLogged()
    const fine = await get('/projects', bearer(accessToken))
    expect([fine.status, fine.headers.get('x-request-id')]).toEqual([200, null])
    const refused = await get('/projects?secret=hunter2', { authorization: 'Bearer hunter2' })
    const { requestId } = refused.json()
    expect(refused.headers.get('x-request-id')).toBe(requestId)
    await get('/projects', { ...bearer(accessToken), origin: 'https://evil.example' })
    await get('/hunter2')
    await expect.poll(() => linesOf(serving)).toHaveLength(2)
    expect(linesOf(serving)).toMatchObject([
      { requestId, method: 'GET', route: '/projects', status: 401, code: 'INVALID_TOKEN', network: '127.0.0.0/24' },
      {
        route: '/projects',
        status: 200,
        originRefused: true,
        user: expect.stringMatching(/^hmac-sha256:[0-9a-f]{32}$/),
      },
    ])
    for (const secret of [ANA, 'hunter2', accessToken]) expect(serving.stderr()).not.toContain(secret)
  })

  test('a brownout is logged as a warning, because the operator planned it', async () => {
    const began = new Date(Date.now() - 60_000).toISOString()
    const { serving, get } = await startLogged(['--brownout', `/projects=${began}/15m`])
    expect((await get('/projects')).status).toBe(503)
    await expect.poll(() => linesOf(serving)).toMatchObject([{ level: 40, status: 503, code: 'ROUTE_BROWNOUT' }])
    expect(serving.stderr()).not.toContain('"level":50')
  })

  test('the checks of a planned shutdown are logged as warnings, because nothing is wrong', async () => {
    const serving = await serveForTest(['--shutdown-delay', '60'], { cwd: temporaryDirectory() })
    const ready = () => ask(`${serving.url}/readyz`)
    serving.process.kill('SIGTERM')
    await expect.poll(async () => (await ready()).status).toBe(503)
    expect((await ready()).json()).toMatchObject({
      code: 'SHUTTING_DOWN',
      detail: 'The gateway is shutting down.',
    })
    const line = { level: 40, route: '/readyz', status: 503, code: 'SHUTTING_DOWN' }
    await expect.poll(() => linesOf(serving)).toMatchObject([line, line])
    expect(serving.stderr()).not.toContain('"level":50')
  })

  test('a brownout does not use up the lines of an unplanned 503', async () => {
    const began = new Date(Date.now() - 60_000).toISOString()
    const { serving, path, get } = await startLogged(['--brownout', `/projects=${began}/15m`])
    for (let batch = 0; batch < 7; batch += 1) await Promise.all(Array.from({ length: 10 }, () => get('/projects')))
    const other = new Database(path)
    onTestFinished(() => void other.close())
    other.exec('begin immediate')
    expect((await postJson(`${serving.url}/login`, { email: ANA })).status).toBe(503)
    other.exec('rollback')
    expect(await serving.kill('SIGTERM')).toBe(0)
    const codes = linesOf(serving).map(({ code }) => code)
    expect(codes.filter((code) => code === 'ROUTE_BROWNOUT')).toHaveLength(60)
    expect(codes.filter((code) => code === 'UNAVAILABLE')).toHaveLength(1)
    expect(serving.stderr().match(/"leftOut":\d+/g)).toEqual(['"leftOut":10'])
    expect(serving.stderr()).toMatch(/"status":503,"planned":true,"leftOut":10,/)
  })

  test('sign-ins by mail that go well do not use up the lines of those that are refused', async () => {
    const mail = ['--mail-url', 'smtp://127.0.0.1:1', '--mail-tls', 'off', '--mail-from', 'a@example.com']
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const serving = await serveHereForTest(['--database', database, '--login-guard', 'mail', ...mail])
    const login = (body: object) => postJson(`${serving.url}/login`, { email: ANA, ...body })
    for (let batch = 0; batch < 7; batch += 1) await Promise.all(Array.from({ length: 10 }, () => login({})))
    expect((await login({ code: 'K7QM2P9D' })).json().code).toBe('LOGIN_CODE_WRONG')
    expect(await serving.kill('SIGTERM')).toBe(0)
    const codes = linesOf(serving).map(({ code }) => code)
    expect(codes.filter((code) => code === 'LOGIN_CODE_SENT')).toHaveLength(60)
    expect(codes.filter((code) => code === 'LOGIN_CODE_WRONG')).toHaveLength(1)
    expect(serving.stderr()).toMatch(/"status":403,"planned":true,"leftOut":10,/)
  })

  test('repeated refusals are limited to 60 lines and counted', async () => {
    const { serving, get } = await startLogged()
    for (let batch = 0; batch < 20; batch += 1) await Promise.all(Array.from({ length: 10 }, () => get('/projects')))
    expect(await serving.kill('SIGTERM')).toBe(0)
    expect(linesOf(serving)).toHaveLength(60)
    expect(serving.stderr()).toMatch(/"status":401,"leftOut":140,/)
  })

  test('each minute, refusals get lines again, and those without one are counted anew', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const leftOut: LeftOut[] = []
    using limit = createRefusalLimit((counted) => void leftOut.push(counted))
    for (const refusals of [70, 61, 60, 62]) {
      const admitted = Array.from({ length: refusals }, () => limit.admits(401, false)).filter(Boolean)
      expect(admitted).toHaveLength(60)
      vi.advanceTimersByTime(60_000)
    }
    expect(leftOut).toEqual([10, 1, 2].map((count) => ({ status: 401, isPlanned: false, count })))
  })

  test('nothing is written with --log-level silent', async () => {
    const { serving, get } = await startLogged(['--log-level', 'silent'])
    await get('/projects')
    await serving.kill('SIGTERM')
    expect(serving.stderr()).toBe('')
  })

  test('with --log-level error, a 401 still gets its line', async () => {
    const { serving, get } = await startLogged(['--log-level', 'error'])
    await get('/projects')
    await serving.kill('SIGTERM')
    expect(linesOf(serving)).toMatchObject([{ level: 40, status: 401 }])
  })
})

describe('--access-log', () => {
  test('json writes a line for each request, and names its user as the audit log does', async () => {
    const { serving, database, accessToken, get } = await startLogged(['--access-log', 'json'])
    const first = await get('/projects', bearer(accessToken))
    const kept = await get('/projects', bearer(accessToken))
    await postJson(`${serving.url}/graphql`, { query: 'query Mine { me { email } }' }, bearer(accessToken))
    for (const method of ['PUT', 'PATCH', 'PUT', 'PROPFIND']) await ask(`${serving.url}/projects`, { method })
    await get('/"\n{made up}')
    await serving.kill('SIGTERM')
    const [login, made, again, mine, ...others] = linesOf(serving)
    const nowhere = others.pop()
    expect(others).toMatchObject(
      ['PUT', 'PATCH', 'PUT', 'PROPFIND'].map((method) => ({ method, route: '/projects', status: 405 })),
    )
    expect(login).toMatchObject({ method: 'POST', route: '/login', status: 200 })
    expect(made).toMatchObject({ route: '/projects', status: 200, requestId: first.headers.get('x-request-id') })
    expect(made?.bytes).toBeGreaterThan(0)
    expect(made?.ms).toBeGreaterThan(0)
    expect(made).not.toHaveProperty('kept')
    expect(again).toMatchObject({ kept: true, requestId: kept.headers.get('x-request-id'), user: made?.user })
    expect(mine).toMatchObject({ operation: 'Mine', route: '/graphql' })
    expect(nowhere).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect(nowhere).not.toHaveProperty('route')
    for (const secret of [ANA, accessToken, 'made up']) expect(serving.stderr()).not.toContain(secret)
    const audit = await runHere(['audit', ...database])
    expect(audit.stdout + audit.stderr).toContain(String(made?.user))
  })

  test('json changes only the request id of a kept reply', async () => {
    const headersOf = async (args: readonly string[]) => {
      const { accessToken, get } = await startLogged(args)
      await get('/projects', bearer(accessToken))
      const { headers, text } = await get('/projects', bearer(accessToken))
      const { date: _, ...rest } = Object.fromEntries(headers)
      return { rest, text }
    }
    const [off, on] = [await headersOf([]), await headersOf(['--access-log', 'json'])]
    const { 'x-request-id': requestId, ...rest } = on.rest
    expect(requestId).toMatch(/^[0-9a-f]{32}$/)
    expect({ ...on, rest }).toEqual(off)
  })

  test('with --access-log-sample logs one of so many requests, and every refused one', async () => {
    const { serving, accessToken, get } = await startLogged(['--access-log', 'json', '--access-log-sample', '10'])
    for (let count = 0; count < 29; count += 1) await get('/projects', bearer(accessToken))
    for (let count = 0; count < 5; count += 1) await get('/projects')
    await serving.kill('SIGTERM')
    const statuses = linesOf(serving).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
  })

  test('pretty writes lines for people', async () => {
    const { serving, accessToken, get } = await startLogged(['--access-log', 'pretty'])
    await get('/projects', bearer(accessToken))
    await serving.kill('SIGTERM')
    expect(serving.stderr()).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} GET +\/projects +\S*200\S* [\d.]+ ms \d+ B hmac-sha256:\w+$/m,
    )
  })
})

describe('X-Request-Id', () => {
  test('is taken from a trusted proxy if it is well formed', async () => {
    const { serving, get } = await startLogged(['--trusted-proxy', '127.0.0.1', '--login-guard', 'open'])
    const id = '7b1c9c9e0d6f4a0fa2b5a8d9c3e4f501'
    expect((await get('/healthz', { 'x-request-id': id })).headers.get('x-request-id')).toBe(id)
    expect((await get('/projects', { 'x-request-id': id })).json().requestId).toBe(id)
    await expect.poll(() => linesOf(serving)).toMatchObject([{ requestId: id, status: 401 }])
    for (const bad of ['a b', '"quoted"', 'x'.repeat(129), 'é']) {
      const { headers } = await get('/projects', { 'x-request-id': bad })
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
    }
  })

  test('is ignored if the peer is not a trusted proxy', async () => {
    const { get } = await startLogged()
    const { headers } = await get('/projects', { 'x-request-id': 'of-somebody-else' })
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
  })
})
