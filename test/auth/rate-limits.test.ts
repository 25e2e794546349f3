import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { ANA } from '../support/workspaces.ts'

const BEN = 'ben@example.com'

function login(gateway: TestGateway, email = ANA) {
  return gateway.send('POST', '/login', JSON.stringify({ email }))
}

test('logins and refreshes have a limit each, a logout has none, and both protocols say when to come again', async () => {
  const gateway = await startGateway({ attemptsPerMinute: 3 })
  const { refreshToken } = await gateway.login(ANA)
  await gateway.login(ANA)
  await gateway.login(BEN)
  const refused = await login(gateway)
  expect([refused.status, refused.json().code]).toEqual([429, 'TOO_MANY_REQUESTS'])
  expect(Object.fromEntries(refused.headers)).toMatchObject({
    'retry-after': '20',
    'ratelimit-policy': '"login";q=3;w=60',
    ratelimit: '"login";r=0;t=20',
  })
  const graphql = await gateway.graphql(`mutation { login(email: "${ANA}") { accessToken } }`)
  expect(graphql.status).toBe(429)
  expect(graphql.headers.get('ratelimit')).toBe('"login";r=0;t=20')
  expect(graphql.json().errors[0].extensions).toEqual({
    code: 'TOO_MANY_REQUESTS',
    retryAfterSeconds: 20,
    rateLimits: [{ policy: 'login', quota: 3, windowSeconds: 60, resetSeconds: 20 }],
  })
  const token = () => gateway.send('POST', '/token', JSON.stringify({ refreshToken }))
  for (let attempt = 1; attempt <= 3; attempt += 1) expect((await token()).status).toBe(200)
  expect((await token()).headers.get('ratelimit-policy')).toBe('"refresh";q=3;w=60')
  expect((await gateway.send('DELETE', '/logout', JSON.stringify({ refreshToken }))).status).toBe(200)
})

test('a bucket refills evenly over a minute, and not past what fits in', async () => {
  const gateway = await startGateway({ attemptsPerMinute: 3 })
  const tries = async () => {
    let count = 0
    while ((await login(gateway)).status === 200) count += 1
    return count
  }
  expect(await tries()).toBe(3)
  gateway.advance(19)
  expect(await tries()).toBe(0)
  gateway.advance(1)
  expect(await tries()).toBe(1)
  gateway.advance(40)
  expect(await tries()).toBe(2)
  gateway.advance(86_400)
  expect(await tries()).toBe(3)
})
