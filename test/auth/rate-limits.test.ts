// Tests the rate limits of logins, refreshes and codes: their buckets, their networks, their memory, their options.
import { expect, test } from 'vitest'
import { guardsOf } from '../../src/auth/guards/guards.ts'
import { createRateLimits } from '../../src/auth/limits/rate-limits.ts'
import { attemptsPerMinute } from '../../src/cli/login-exposure.ts'
import { parseOptions } from '../../src/cli/options/option.ts'
import { SERVE_OPTIONS } from '../../src/cli/options/serve-options.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { ANA } from '../support/workspaces.ts'
import { bytesHeldAfter } from './fill-limits.ts'

const OPEN = guardsOf(['open'], { trustedOrigins: [] })
const BEN = 'ben@example.com'

function login(gateway: TestGateway, email = ANA) {
  return gateway.send('POST', '/login', JSON.stringify({ email }))
}

test('logins and refreshes are limited, logouts are not, and REST and GraphQL say when to retry', async () => {
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

test('attempts count even when the guard opens no sessions', async () => {
  const createGuard = guardsOf(['none'], { trustedOrigins: [] })
  const gateway = await startGateway({ createGuard, attemptsPerMinute: 2 })
  const codes = async () => [(await login(gateway)).json().code, (await login(gateway, BEN)).json().code]
  expect(await codes()).toEqual(['LOGIN_REFUSED', 'LOGIN_REFUSED'])
  expect(await codes()).toEqual(['TOO_MANY_REQUESTS', 'TOO_MANY_REQUESTS'])
})

test('a bucket refills evenly over a minute, and not beyond its quota', async () => {
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

test('each network has its own limits: an IPv6 /64 is one, and all of loopback', async () => {
  const gateway = await startGateway({ attemptsPerMinute: 1, trustedProxies: ['127.0.0.1'], createGuard: OPEN })
  const from = async (address: string) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': address }
    return (await gateway.send('POST', '/login', JSON.stringify({ email: ANA }), headers)).status
  }
  const rows: readonly (readonly [address: string, status: number])[] = [
    ['192.0.2.1', 200],
    ['192.0.2.1', 429],
    ['::ffff:192.0.2.1', 429],
    ['192.0.2.2', 200],
    ['2001:db8:0:1::1', 200],
    ['2001:db8:0:1:ffff:ffff:ffff:ffff', 429],
    ['2001:db8:0:1:0:0:192.0.2.9', 429],
    ['2001:db8:0:2::1', 200],
    ['2001:db8::1:0:0:0:1', 429],
    ['127.0.0.2', 200],
    ['127.9.8.7', 429],
    ['::ffff:127.0.0.3', 429],
    ['::1', 429],
  ]
  for (const [address, status] of rows) expect([address, await from(address)]).toEqual([address, status])
})

test('a Forwarded header that the client has malformed does not give it the limits of another address', async () => {
  const gateway = await startGateway({ attemptsPerMinute: 1, trustedProxies: ['127.0.0.1'], createGuard: OPEN })
  const statuses = []
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    // Such a header comes from a proxy that appends to `Forwarded` and passes on what the client wrote.
    const forwarded = '", for=203.0.113.11'
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': address, forwarded }
    statuses.push((await gateway.send('POST', '/login', JSON.stringify({ email: ANA }), headers)).status)
  }
  expect(statuses).toEqual([200, 429])
})

test('a forwarded address counts only from a trusted proxy', async () => {
  const gateway = await startGateway({ attemptsPerMinute: 1, createGuard: OPEN })
  const statuses = []
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': address, forwarded: `for=${address}` }
    statuses.push((await gateway.send('POST', '/login', JSON.stringify({ email: ANA }), headers)).status)
  }
  expect(statuses).toEqual([200, 429])
})

test('wrong secrets at POST /import are limited for each network, and the import token is not', async () => {
  const token = 'import-token:import-token+import-token'
  const importer = { run: () => null, stop: async () => {} }
  const options = { attemptsPerMinute: 2, trustedProxies: ['127.0.0.1'], importing: { token, importer } }
  const gateway = await startGateway(options)
  const from = async (address: string, authorization = `Basic ${btoa('nobody:wgs_')}`) =>
    (await gateway.send('POST', '/import', '', { 'x-forwarded-for': address, authorization })).status
  for (const status of [401, 401, 429]) expect(await from('192.0.2.1')).toBe(status)
  expect(await from('198.51.100.1')).toBe(401)
  // The importer says that another import is running.
  expect(await from('192.0.2.1', `Bearer ${token}`)).toBe(503)
})

test('strangers cannot lock an owner out, because they use up only their own limits', () => {
  const limits = createRateLimits({ attemptsPerMinute: 0, clock: () => 0 })
  const own = { email: ANA, network: '192.0.2.1' }
  for (let at = 0; at < 1_000; at += 1) {
    for (let round = 0; round < 20; round += 1)
      limits.take('code', { email: ANA, network: `10.0.${at >> 8}.${at & 255}` })
  }
  expect(limits.take('code', own)).toEqual([])
})

test('an attempt that one limit refuses does not count against the others', () => {
  const limits = createRateLimits({ attemptsPerMinute: 0, clock: () => 0 })
  const subject = { email: ANA, network: '192.0.2.1' }
  for (let round = 0; round < 10; round += 1) expect(limits.take('code', subject)).toEqual([])
  for (let round = 0; round < 100; round += 1) {
    expect(limits.take('code', subject).map(({ policy }) => policy)).toEqual(['code-email'])
  }
  const other = (at: number) => ({ email: `other-${at}@example.com`, network: subject.network })
  expect(Array.from({ length: 51 }, (_, at) => limits.take('code', other(at)).length)).toEqual([
    ...Array(50).fill(0),
    1,
  ])
  // Of two limits, the one that takes longer says when to retry.
  expect(() => limits.require('code', subject)).toThrow(
    expect.objectContaining({
      retryAfterSeconds: 60,
      rateLimits: [
        expect.objectContaining({ policy: 'code', resetSeconds: 1 }),
        expect.objectContaining({ policy: 'code-email', resetSeconds: 60 }),
      ],
    }),
  )
})

test('40,000 addresses at every limit hold less than 20 MB', async () => {
  expect(await bytesHeldAfter(40_000)).toBeLessThan(20_000_000)
})

test.each([
  ['on this machine', {}, 0],
  ['on this machine behind a proxy', { trustedProxy: ['127.0.0.1'] }, 600],
  ['on every address', { host: '0.0.0.0' }, 600],
  ['on every address with a limit of its own', { host: '0.0.0.0', attemptsPerMinute: 7 }, 7],
  ['on this machine with a limit of its own', { attemptsPerMinute: 7 }, 7],
  ['on every address with a limit of 0', { host: '0.0.0.0', attemptsPerMinute: 0 }, 0],
  ['with --rate-limits off', { host: '0.0.0.0', attemptsPerMinute: 7, rateLimits: 'off' as const }, null],
])('attemptsPerMinute is right for a gateway %s', (_, given, expected) => {
  expect(attemptsPerMinute({ ...parseOptions(SERVE_OPTIONS, {}), ...given })).toBe(expected)
})

test('--rate-limits off limits nothing', async () => {
  const gateway = await startGateway({ attemptsPerMinute: null })
  for (let round = 0; round < 20; round += 1) expect((await login(gateway)).status).toBe(200)
})
