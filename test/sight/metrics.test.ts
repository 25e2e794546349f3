// Tests the metrics of the admin port, the port itself, and the Prometheus files of the documentation.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createOperationNames } from '../../src/admin/metrics/operation-names.ts'
import { createRequestMetrics } from '../../src/admin/metrics/request-metrics.ts'
import type { GatewayRequest } from '../../src/http/request.ts'
import { startRecord } from '../../src/http/request-record.ts'
import { runHere, serveHereForTest } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'
import { ask, bearer, postJson } from '../support/gateway.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { hasPrometheus, promtool, scrape } from './prometheus.ts'
import { DEMO, namesIn, startWatched, startWatchedHere, sumOf } from './watched.ts'

const RULES = fileURLToPath(new URL('../../docs/operate/prometheus', import.meta.url))
const OBSERVABILITY = join(RULES, '../observability.md')
/** Metrics that only a database with connections has. */
const OF_POSTGRES = /^(?:db_client_|workspace_gateway_replica_)/

describe('--admin-port', () => {
  test('counts requests by route, status, operation and kept reply, and contains no secret', async () => {
    const { serving, accessToken, metrics } = await startWatchedHere()
    const get = (path: string, headers = {}) => ask(`${serving.url}${path}`, { headers })
    for (let count = 0; count < 3; count += 1) await get('/projects', bearer(accessToken))
    await get('/projects')
    await get('/templates?secret=hunter2', { authorization: 'Bearer hunter2' })
    await get('/hunter2/is/no/path')
    const query = { query: 'query Mine { me { email } }' }
    for (let count = 0; count < 2; count += 1) await postJson(`${serving.url}/graphql`, query, bearer(accessToken))
    await postJson(`${serving.url}/graphql`, { query: 'query Anonymous { __typename }' })
    const text = await metrics()
    const count = (labels: Readonly<Record<string, string>>) =>
      sumOf(text, 'http_server_request_duration_seconds_count', labels)
    expect(count({ http_route: '/projects', http_response_status_code: '200' })).toBe(3)
    expect(count({ http_route: '/projects', http_response_status_code: '401' })).toBe(1)
    expect(count({ http_route: '', http_response_status_code: '404' })).toBe(1)
    const kept = { http_route: '/projects', http_response_status_code: '200' }
    expect(sumOf(text, 'workspace_gateway_replies_total', { ...kept, reply: 'kept' })).toBe(2)
    expect(sumOf(text, 'workspace_gateway_replies_total', { ...kept, reply: 'made' })).toBe(1)
    for (const reply of ['made', 'kept']) {
      const labels = { graphql_operation_name: 'Mine', reply }
      expect(sumOf(text, 'workspace_gateway_graphql_replies_total', labels)).toBe(1)
    }
    // Of operations without a session there are none.
    expect(sumOf(text, 'workspace_gateway_graphql_replies_total')).toBe(2)
    expect(sumOf(text, 'workspace_gateway_events_total', { kind: 'login', result: 'done' })).toBe(1)
    expect(sumOf(text, 'workspace_gateway_sessions')).toBe(1)
    expect(sumOf(text, 'workspace_gateway_reply_cache_entries')).toBeGreaterThan(1)
    expect(text).toContain('le="0.0001"')
    for (const secret of [DEMO, 'demo@', accessToken, 'hunter2']) expect(text).not.toContain(secret)
  })

  test('has no metric of its own that observability.md does not describe', async () => {
    const { metrics } = await startWatchedHere()
    const served = [...(await metrics()).matchAll(/^# TYPE ((?:http_server|workspace_gateway)_\w+)/gm)]
    expect(served.length).toBeGreaterThan(15)
    // The page shortens names that begin like the one before them, to `_entries` or `…_entries`.
    const rows = readFileSync(OBSERVABILITY, 'utf8').matchAll(/^\| (`[^|]+`) \|/gm)
    const described = [...rows].flatMap(([, names = '']) =>
      [...names.matchAll(/`(…?\w+)`/g)].map(([, name = '']) => name),
    )
    const isDescribed = (metric: string) =>
      described.some((name) => name === metric || (/^…?_/.test(name) && metric.endsWith(name.replace('…', ''))))
    expect(served.map(([, name = '']) => name).filter((name) => !isDescribed(name))).toEqual([])
  })

  test('labels a 5xx with the code of its failure; other statuses have no error_type', async () => {
    const began = new Date(Date.now() - 60_000).toISOString()
    const { serving, accessToken, metrics } = await startWatchedHere(['--brownout', `/projects=${began}/15m`])
    expect((await ask(`${serving.url}/projects`, { headers: bearer(accessToken) })).status).toBe(503)
    expect((await ask(`${serving.url}/templates`)).status).toBe(401)
    const text = await metrics()
    const count = (labels: Readonly<Record<string, string>>) =>
      sumOf(text, 'http_server_request_duration_seconds_count', labels)
    expect(count({ http_route: '/projects', http_response_status_code: '503', error_type: 'ROUTE_BROWNOUT' })).toBe(1)
    expect(count({ http_response_status_code: '503' })).toBe(1)
    expect([...new Set(text.match(/error_type="[^"]*"/g))]).toEqual(['error_type="ROUTE_BROWNOUT"'])
  })

  test('counts methods that a path does not have at that path, and unknown methods as _OTHER', async () => {
    const { serving, metrics } = await startWatchedHere()
    for (const method of ['PUT', 'PROPFIND', 'MKCOL', 'PROPFIND']) await ask(`${serving.url}/projects`, { method })
    const text = await metrics()
    const count = (labels: Readonly<Record<string, string>>) =>
      sumOf(text, 'http_server_request_duration_seconds_count', { http_response_status_code: '405', ...labels })
    expect(count({ http_route: '/projects', http_request_method: 'PUT' })).toBe(1)
    expect(count({ http_route: '/projects', http_request_method: '_OTHER' })).toBe(3)
    expect(count({})).toBe(4)
    for (const method of ['PROPFIND', 'MKCOL']) expect(text).not.toContain(method)
    const names = text.match(/^http_server_request_duration_seconds_count\{\S*/gm) ?? []
    expect(new Set(names).size).toBe(names.length)
  })

  test('serves machines on the admin port, and nothing of it on the client port', async () => {
    const { serving, adminUrl } = await startWatchedHere()
    expect((await ask(`${adminUrl}/healthz`)).status).toBe(200)
    expect((await ask(`${adminUrl}/readyz`)).status).toBe(200)
    expect((await ask(`${adminUrl}/version`)).json()).toEqual({
      version: JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version,
      node: process.version,
    })
    expect((await ask(`${adminUrl}/projects`)).status).toBe(404)
    for (const path of ['/metrics', '/version']) expect((await ask(`${serving.url}${path}`)).status).toBe(404)
  })

  test('refuses a page that reaches the loopback port by another name', async () => {
    const { adminUrl } = await startWatchedHere()
    const { exchange } = await import('../support/wire.ts')
    const answer = await exchange(adminUrl, 'GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
    expect(answer.toString()).toMatch(/^HTTP\/1.1 400 /)
    expect(answer.toString()).not.toContain('http_server')
  })

  test('names its option when the port is in use, and nothing is served', async () => {
    const { adminUrl } = await startWatchedHere()
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const ports = ['--port', '0', '--admin-port', new URL(adminUrl).port]
    const { exitCode, stderr } = await runHere(['serve', ...ports, '--database', database])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('--admin-port: cannot listen')
  })

  test.each([
    [[]],
    [['--workers', '2']],
    [['--admin-host', '0.0.0.0']],
    [['--admin-host', '::']],
    [['--host', '0.0.0.0', '--login-guard', 'none']],
    [['--host', '::', '--login-guard', 'none', '--admin-host', '0.0.0.0']],
  ])('refuses the port of clients before anything is opened: %j', async (args) => {
    const folder = temporaryDirectory()
    const port = String(await freePort('127.0.0.1'))
    const flags = ['--port', port, '--admin-port', port, '--database', `file:${join(folder, 'workspace.db')}`]
    expect(await runHere(['serve', ...flags, ...args])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `--admin-port: ${port} is also the --port of clients: choose another\n`,
    })
    expect(readdirSync(folder)).toEqual([])
  })

  test.skipIf(process.platform !== 'linux')('accepts the port of clients on another address', async () => {
    const port = String(await freePort('0.0.0.0'))
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const ports = ['--port', port, '--admin-port', port, '--admin-host', '127.0.0.2']
    const serving = await serveHereForTest(['--database', database, ...ports])
    expect(serving.url).toBe(`http://127.0.0.1:${port}`)
    expect(serving.stderr()).toContain(`"http://127.0.0.2:${port}"`)
  })

  test('sums the metrics of all workers, also of replaced ones', { timeout: 300_000 }, async () => {
    const { serving, accessToken, metrics } = await startWatched(['--workers', '2'])
    const projects = async () =>
      sumOf(await metrics(), 'http_server_request_duration_seconds_count', { http_route: '/projects' })
    const ask20 = async () => {
      for (let count = 0; count < 20; count += 1) {
        await ask(`${serving.url}/projects`, { headers: { ...bearer(accessToken), connection: 'close' } })
      }
    }
    await ask20()
    await expect.poll(projects).toBe(20)
    // Each worker reports the same state, which is not added up.
    const text = await metrics()
    for (const name of ['info', 'ready', 'database_up', 'sessions']) {
      expect(sumOf(text, `workspace_gateway_${name}`), name).toBe(1)
    }
    serving.process.kill('SIGHUP')
    await expect.poll(() => serving.stderr()).toContain('all workers were replaced')
    expect(await projects()).toBe(20)
    const newestStart = async () => sumOf(await metrics(), 'process_start_time_seconds')
    const started = await newestStart()
    expect(started).toBeGreaterThan(0)
    await ask20()
    await expect.poll(projects).toBe(40)
    const { pid } = serving.process
    const newest = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').at(-1)
    process.kill(Number(newest), 'SIGKILL')
    await expect.poll(() => serving.stderr()).toContain('a worker ended')
    // It never decreases: each change is a start.
    expect(await newestStart()).toBeGreaterThanOrEqual(started)
    // The count includes what the killed worker had counted when it was last asked.
    await expect.poll(projects).toBe(40)
    await expect.poll(newestStart).toBeGreaterThan(started)
  })
})

test('requests over TLS are counted apart', async () => {
  const metrics = createRequestMetrics('')
  for (const scheme of ['http', 'https', 'https']) {
    const record = { ...startRecord(0), status: 200 }
    metrics.observe({ method: 'GET', client: { scheme }, record } as unknown as GatewayRequest)
  }
  const replies = (await metrics.collect()).find(({ name }) => name === 'workspace_gateway_replies_total')
  const counts = replies?.values.flatMap(({ labels, value }) => (value > 0 ? [[labels.url_scheme, value]] : []))
  expect(counts).toEqual([
    ['http', 1],
    ['https', 2],
  ])
})

describe('operation names', () => {
  const viewer = (email: string) => ({ id: '1', email, userId: 1, revision: 1, stateVersion: '1', client: '' })

  test('are bounded in total and for each user, and anonymous requests add none', () => {
    const names = createOperationNames()
    const nameOf = (operationName: string, email: string) => names.nameOf({ operationName, viewer: viewer(email) })
    expect(names.nameOf({ operationName: 'Mine', viewer: null })).toBe('_OTHER')
    const ofOne = new Set(Array.from({ length: 1_000 }, (_, index) => nameOf(`A${index}`, 'a@example.com')))
    expect(ofOne.size).toBe(21)
    expect(nameOf('Mine', 'b@example.com')).toBe('Mine')
    expect(nameOf('A1', 'b@example.com')).toBe('A1')
    expect(nameOf('x'.repeat(65), 'b@example.com')).toBe('_OTHER')
    const ofAll = new Set(Array.from({ length: 1_000 }, (_, index) => nameOf(`B${index}`, `${index}@example.com`)))
    expect(ofAll.size).toBe(80)
  })
})

describe.skipIf(!hasPrometheus)('Prometheus', () => {
  test('scrapes the metrics, and promtool finds nothing wrong with them', async () => {
    const { serving, adminUrl, accessToken, metrics } = await startWatchedHere()
    const query = await scrape(new URL(adminUrl).host)
    for (let count = 0; count < 3; count += 1) {
      await ask(`${serving.url}/projects`, { headers: bearer(accessToken) })
    }
    const counted = 'http_server_request_duration_seconds_count{http_route="/projects"}'
    await expect.poll(async () => (await query(counted))[0]?.value).toBe(3)
    await expect.poll(() => query('up')).toMatchObject([{ value: 1 }])
    expect(promtool(['check', 'metrics'], { input: await metrics() })).toEqual({ isClean: true, said: '' })
  })

  test('accepts the documented rules and configuration, and the rules fire as their tests say', () => {
    for (const args of [
      ['check', 'rules', 'alerts.yml'],
      ['check', 'config', 'prometheus.yml'],
      ['test', 'rules', 'alerts.test.yml'],
    ]) {
      const { isClean, said } = promtool(args, { cwd: RULES })
      expect(isClean, said).toBe(true)
    }
  })
})

test('the dashboard and the rules use only existing metrics', async () => {
  const text = await (await startWatchedHere()).metrics()
  const names = new Set(namesIn(text))
  const asked = ['grafana-dashboard.json', 'alerts.yml'].flatMap((file) => [
    ...readFileSync(join(RULES, file), 'utf8').matchAll(
      /\b((?:workspace_gateway|http_server|db_client|nodejs|process)_[a-z0-9_]+)/g,
    ),
  ])
  const metricsAsked = new Set(
    asked
      .flatMap(([, name]) => name ?? [])
      .filter(
        (name) => !name.startsWith('db_client_connection_state') && !name.startsWith('db_client_connection_pool'),
      ),
  )
  expect(metricsAsked.size).toBeGreaterThan(15)
  for (const name of metricsAsked) {
    if (OF_POSTGRES.test(name)) continue
    expect(names.has(name) || names.has(name.replace(/_(?:bucket|count|sum)$/, '')), name).toBe(true)
  }
})

test.skipIf(POSTGRES_URL === null)('a gateway on PostgreSQL has metrics of its connections', async () => {
  const { metrics } = await startWatchedHere([], await temporaryDatabase())
  const text = await metrics()
  const pool = { db_client_connection_pool_name: 'primary' }
  expect(sumOf(text, 'db_client_connection_max', pool)).toBeGreaterThan(1)
  expect(sumOf(text, 'db_client_connection_count', pool)).toBeGreaterThan(0)
  expect(namesIn(text)).toContain('db_client_connection_pending_requests')
  expect(sumOf(text, 'workspace_gateway_sessions')).toBe(1)
})
