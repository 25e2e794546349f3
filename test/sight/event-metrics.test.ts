// Tests the metrics of events other than requests, each after a client caused the event.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createEventMetrics } from '../../src/admin/metrics/event-metrics.ts'
import { ask, bearer, postJson } from '../support/gateway.ts'
import { startMailServer } from '../support/smtp.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { documentLine } from '../support/workspaces.ts'
import { serveWatched, startWatched, sumOf } from './watched.ts'

const ANA = 'ana@example.com'
const TOKEN = 'import-token-import-token-import-token'

test('mailed codes are counted once, apart from code requests', async () => {
  const server = await startMailServer()
  const { serving, metrics } = await serveWatched([
    ...['--login-guard', 'mail', '--mail-url', server.url, '--mail-tls', 'off', '--no-demo'],
    ...['--mail-from', 'no-reply@example.com', '--mail-domains', 'example.com'],
  ])
  const login = async (body: object) => (await postJson(`${serving.url}/login`, body)).status
  const count = async (kind: string, result: string) =>
    sumOf(await metrics(), 'workspace_gateway_events_total', { kind, result })
  expect(await login({ email: ANA })).toBe(403)
  const { code } = await server.mail(0)
  // The second request joins the mail that is out; the third is for a domain that gets no mail.
  expect(await login({ email: ANA })).toBe(403)
  expect(await login({ email: 'ana@example.org' })).toBe(403)
  await expect.poll(() => count('codeRequest', 'done')).toBe(2)
  await expect.poll(() => count('codeRequest', 'refused')).toBe(1)
  await expect.poll(() => count('code', 'done')).toBe(1)
  expect(await login({ email: ANA, code: code === 'K7QM2P9D' ? 'K7QM2P9E' : 'K7QM2P9D' })).toBe(403)
  expect(await login({ email: ANA, code })).toBe(200)
  expect([await count('code', 'done'), await count('code', 'refused'), await count('code', 'failed')]).toEqual([
    1, 1, 0,
  ])
  // Of the logins only the one with the wrong code was refused: the others asked for a code.
  expect([await count('login', 'done'), await count('login', 'refused')]).toEqual([1, 1])
  expect(server.mails).toHaveLength(1)
  const text = await metrics()
  for (const secret of [ANA, 'example.org', code]) expect(text).not.toContain(secret)
})

test('an import that was ended before it had an outcome counts as left by its client', async () => {
  const { onImport, collect } = createEventMetrics()
  onImport(null)
  onImport({ type: 'failed', message: 'no' })
  const values = (await collect()).find(({ name }) => name === 'workspace_gateway_imports_total')?.values ?? []
  expect(values.flatMap(({ labels, value }) => (value === 0 ? [] : [[labels.result, value]]))).toEqual([
    ['failed', 1],
    ['left', 1],
  ])
})

test('imports are counted from 0 by result, their records by outcome, and queue times one by one', async () => {
  const file = join(temporaryDirectory(), 'token')
  writeFileSync(file, TOKEN, { mode: 0o600 })
  const { serving, accessToken, metrics } = await startWatched([
    '--import-token-file',
    file,
    '--in-flight-bytes',
    '2000000',
  ])
  const load = async (body: string, query = '') => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-ndjson' }
    return (await ask(`${serving.url}/import${query}`, { method: 'POST', headers, body })).text
  }
  // Prometheus sees no increase when a counter appears with its first event.
  const before = await metrics()
  expect(before).toContain('\nworkspace_gateway_imports_total{result="imported"} 0\n')
  expect(before).toContain('\nworkspace_gateway_responses_broken_off_total{reason="left"} 0\n')
  const [first, second] = ['{"id":"p1"}', '{"id":"p2"}'].map((data) => documentLine('project', ANA, data))
  await load(`${first}${second}`, '?replace&dry-run')
  await load(`${first}${second}`)
  await load(`${first}${documentLine('project', ANA, '{"id":"p2","n":1}')}`)
  await load(`{"kind":"project","email":"${ANA}","id":"p2","removed":true}\n`)
  await load('{"kind":"nothing"}\n')
  const text = await metrics()
  const imports = (result: string) => sumOf(text, 'workspace_gateway_imports_total', { result })
  const records = (outcome: string) => sumOf(text, 'workspace_gateway_import_records_total', { outcome })
  expect(['imported', 'wouldImport', 'refused', 'left'].map(imports)).toEqual([3, 1, 1, 0])
  expect(['added', 'replaced', 'unchanged', 'removed'].map(records)).toEqual([2, 1, 1, 1])
  expect(sumOf(text, 'workspace_gateway_in_flight_max_bytes')).toBe(2_000_000)
  expect(sumOf(text, 'workspace_gateway_in_flight_bytes')).toBe(0)
  // Every request has waited for its turn, however short the wait.
  const waited = sumOf(text, 'workspace_gateway_queue_time_seconds_count')
  expect(waited).toBeGreaterThan(3)
  await ask(`${serving.url}/projects`, { headers: bearer(accessToken) })
  expect(sumOf(await metrics(), 'workspace_gateway_queue_time_seconds_count')).toBe(waited + 1)
})
