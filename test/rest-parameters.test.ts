// Tests parameters that a route does not have: they change nothing, and no second reply is made for them. Also tests
// parameters that are given twice, and addresses that are almost those of a route.
import { expect, test } from 'vitest'
import { startGateway } from './support/gateway.ts'
import { ANA, documentLine, exportLine } from './support/workspaces.ts'

const ASKS = { 'gateway-trace': '1' }

test('a list is the same cached reply, whatever is added to its URL', async () => {
  const gateway = await startGateway()
  await gateway.load(
    (['project', 'template', 'uiLibrary'] as const).map((kind) => documentLine(kind, ANA, `{"id":"${kind}"}`)).join(''),
  )
  const { accessToken } = await gateway.login(ANA)
  for (const path of ['/projects', '/templates', '/ui-libraries']) {
    const first = await gateway.get(`${path}?_=1795500000000`, accessToken, ASKS)
    expect(first.status).toBe(200)
    expect(first.headers.get('gateway-trace'), path).toBe('plan=none, reply=made')
    for (const search of ['', '?_=1795500000001', '?r=x&first=1', '?']) {
      const { headers, text } = await gateway.get(path + search, accessToken, ASKS)
      expect([headers.get('gateway-trace'), headers.get('etag'), text], path + search).toEqual([
        'plan=none, reply=kept',
        first.headers.get('etag'),
        first.text,
      ])
    }
  }
})

test('an export is always that of the requested reference, whatever was requested before', async () => {
  const gateway = await startGateway()
  const lines = ['a', 'b'].flatMap((id) => [
    documentLine('project', ANA, `{"id":"${id}"}`),
    exportLine(ANA, { r: id, createdAt: '2026-01-01T00:00:00Z', elements: [`{"path":"${id}"}`] }),
  ])
  await gateway.load(lines.join(''))
  const { accessToken } = await gateway.login(ANA)
  for (const time of [1, 2]) {
    expect((await gateway.get('/exports?r=a', accessToken)).text).toBe('[{"path":"a"}]')
    expect((await gateway.get('/exports?r=b', accessToken)).text).toBe('[{"path":"b"}]')
    expect((await gateway.get(`/exports?_=${time}&r=a`, accessToken)).text).toBe('[{"path":"a"}]')
    expect((await gateway.get('/exports?r=a&r=b', accessToken)).text).toBe('[{"path":"a"}]')
    expect((await gateway.get('/exports', accessToken)).status).toBe(400)
    expect((await gateway.get(`/exports?_=${time}`, accessToken)).status).toBe(400)
  }
})

test('a request without its parameter is wrong, whatever is stored for the user', async () => {
  const gateway = await startGateway()
  const { accessToken } = await gateway.login(ANA)
  const codeOf = async (search: string) => (await gateway.get(`/exports${search}`, accessToken)).json().code
  expect([await codeOf(''), await codeOf('?r='), await codeOf('?r=a')]).toEqual([
    'MISSING_PARAMETER',
    'MISSING_PARAMETER',
    'NO_WORKSPACE',
  ])
})

test('of two members of a body with the same name the last counts, and a slash more makes another path', async () => {
  const gateway = await startGateway()
  await gateway.load(documentLine('project', ANA, '{"id":"a"}'))
  const { accessToken, refreshToken } = await gateway.login(ANA)
  const askForToken = (first: string, second: string) =>
    gateway.send('POST', '/token', `{"refreshToken":"${first}","refreshToken":"${second}"}`)
  expect((await askForToken('unknown', refreshToken)).status).toBe(200)
  expect((await askForToken(refreshToken, 'unknown')).status).toBe(401)
  for (const path of ['/projects/', '//projects']) expect((await gateway.get(path, accessToken)).status).toBe(404)
})
