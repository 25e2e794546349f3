// The old server from which the tests move in: it keeps the contract, and can be killed.
import { expect, test } from 'vitest'
import { ask, bearer } from '../support/gateway.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const JSON_BODY = { 'content-type': 'application/json' }

test('the plain server keeps the contract, and continues after it was killed', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, basePath: '/v1' })
  const send = (method: string, path: string, body: object) =>
    ask(`${server.url}${path}`, { method, headers: JSON_BODY, body: JSON.stringify(body) })
  const { accessToken, refreshToken } = (await send('POST', '/login', { email: ANA })).json()
  const read = () => ask(`${server.url}/exports?r=site`, { headers: bearer(accessToken) })
  expect((await read()).text).toBe('[{"path":"new.html"},1.0]')
  await server.kill()
  await expect(read()).rejects.toThrow()
  await server.restart()
  server.workspaces.get(ANA)?.exports.set('site', { createdAt: '2026-03-01T00:00:00Z', elements: ['2.0'] })
  expect((await read()).text).toBe('[2.0]')
  expect(server.expected(ANA, '/exports?r=site')).toBe('[2.0]')
  expect((await send('POST', '/token', { refreshToken })).status).toBe(200)
  expect((await send('DELETE', '/logout', { refreshToken })).status).toBe(200)
  expect((await send('POST', '/token', { refreshToken })).status).toBe(401)
  expect((await ask(`${server.url}/projects`)).status).toBe(401)
  expect(server.openSessions()).toBe(0)
})
