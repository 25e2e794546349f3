// What the metrics count besides requests, each by what a client did to it.
import { expect, test } from 'vitest'
import { postJson } from '../support/gateway.ts'
import { startMailServer } from '../support/smtp.ts'
import { serveWatched, sumOf } from './watched.ts'

const ANA = 'ana@example.com'

test('codes that were sent are counted once, apart from what was asked for', async () => {
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
  // The mail that is out stands for the second request; the third is of a domain that gets none.
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
  expect(await count('login', 'done')).toBe(1)
  expect(server.mails).toHaveLength(1)
  const text = await metrics()
  for (const secret of [ANA, 'example.org', code]) expect(text).not.toContain(secret)
})
