// Tests the guard `assertion` with an unsigned header that contains the email, and the options that serve refuses.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createUnsignedAssertionGuard } from '../../src/auth/guards/assertion/unsigned.ts'
import { callerWith } from '../support/callers.ts'
import { runHere } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { exchange, readAnswers, requestText } from '../support/wire.ts'
import { ANA } from '../support/workspaces.ts'

const SECRET = 'a-secret-of-32-characters-or-more'
const guard = createUnsignedAssertionGuard({ header: 'x-email', secretHeader: 'x-proxy-secret', secret: SECRET })

const decide = (headers: Readonly<Record<string, string>>, mayForward = true, email = ANA) =>
  guard.decide({ email, code: null, caller: callerWith({ peer: { isTrustedProxy: true, mayForward }, headers }) })

describe('an unsigned header with the email', () => {
  test('is accepted from a trusted proxy that sends the secret', async () => {
    expect(await decide({ 'x-email': ANA, 'x-proxy-secret': SECRET })).toEqual({ outcome: 'admitted', email: ANA })
    expect(await decide({ 'x-email': 'ANA@Example.com', 'x-proxy-secret': SECRET })).toMatchObject({ email: ANA })
  })

  test.each([
    ['a peer whose headers are not trusted', { 'x-email': ANA, 'x-proxy-secret': SECRET }, false, ANA],
    ['another secret', { 'x-email': ANA, 'x-proxy-secret': `${SECRET}!` }, true, ANA],
    ['an empty secret', { 'x-email': ANA, 'x-proxy-secret': '' }, true, ANA],
    ['the secret twice', { 'x-email': ANA, 'x-proxy-secret': `${SECRET}, ${SECRET}` }, true, ANA],
    ['another email', { 'x-email': 'ben@example.com', 'x-proxy-secret': SECRET }, true, ANA],
    ['two emails', { 'x-email': `${ANA}, ben@example.com`, 'x-proxy-secret': SECRET }, true, ANA],
    ['an email that NFKC would change', { 'x-email': ANA.replace('a', 'ª'), 'x-proxy-secret': SECRET }, true, ANA],
    ['an empty email', { 'x-email': '', 'x-proxy-secret': SECRET }, true, ANA],
  ] as const)('is refused with %s', async (_name, headers, isTrusted, email) => {
    const decision = await decide(headers, isTrusted, email)
    expect(decision).toMatchObject({ outcome: 'refused', code: 'LOGIN_REFUSED' })
    expect(JSON.stringify(decision)).not.toMatch(/secret-of|@/)
  })

  test('counts toward the rate limits like any other login', async () => {
    const headers = { 'content-type': 'application/json', 'x-email': ANA, 'x-proxy-secret': SECRET }
    const gateway = await startGateway({
      createGuard: async () => guard,
      attemptsPerMinute: 2,
      trustedProxies: ['127.0.0.1'],
    })
    const login = () => gateway.send('POST', '/login', JSON.stringify({ email: ANA }), headers)
    const answers = [await login(), await login(), await login()]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
  })

  test('is accepted behind a balancer with the PROXY protocol only from the identity proxy', async () => {
    const gateway = await startGateway({
      createGuard: async () => guard,
      trustedProxies: ['127.0.0.1', '192.0.2.1'],
      proxyProtocol: true,
    })
    const request = requestText({
      method: 'POST',
      target: '/login',
      headers: [
        ['Content-Type', 'application/json'],
        ['X-Email', ANA],
        ['X-Proxy-Secret', SECRET],
        ['Connection', 'close'],
      ],
      body: JSON.stringify({ email: ANA }),
    })
    const statusOf = async (header: string) => {
      const [answer] = readAnswers(await exchange(gateway.url, `${header}\r\n${request}`))
      return answer?.status
    }
    expect(await statusOf('PROXY TCP4 192.0.2.1 198.51.100.1 56324 443')).toBe(200)
    expect(await statusOf('PROXY TCP4 203.0.113.9 198.51.100.1 56324 443')).toBe(403)
    expect(await statusOf('PROXY UNKNOWN')).toBe(403)
  })

  test('is left to the next guard when one of the two headers is missing', async () => {
    expect((await decide({ 'x-email': ANA })).outcome).toBe('passed')
    expect((await decide({ 'x-proxy-secret': SECRET })).outcome).toBe('passed')
  })
})

describe('serve', () => {
  const start = (args: readonly string[]) =>
    runHere([
      ...['serve', '--port', '0', '--login-guard', 'assertion', ...args],
      ...['--database', `file:${join(temporaryDirectory(), 'workspace.db')}`],
    ])
  const unsigned = ['--assertion-header-unsigned', 'X-Email']

  test.each([
    [[], 'assertion-preset'],
    [['--assertion-preset', 'oidc', '--assertion-issuer', 'https://id.example.com'], 'assertion-audience'],
    [['--assertion-preset', 'google-iap', '--assertion-audience', ''], 'assertion-audience'],
    [['--assertion-preset', 'nobody', '--assertion-audience', 'a'], 'google-iap'],
    [['--assertion-preset', 'google-iap', '--assertion-audience', 'a', '--assertion-algorithms', 'HS256'], 'RS256'],
    [['--assertion-preset', 'google-iap', '--assertion-audience', 'a', '--assertion-algorithms', 'none'], 'RS256'],
    [['--assertion-preset', 'google-iap', '--assertion-audience', 'a', ...unsigned], 'one of them'],
    [unsigned, 'trusted-proxy'],
    [[...unsigned, '--trusted-proxy', '10.0.0.1'], 'assertion-secret-header'],
    [[...unsigned, '--trusted-proxy', '10.0.0.1', '--assertion-secret-header', 'X-S'], 'assertion-secret'],
    [[...unsigned, '--trusted-proxy', '10.0.0.1', '--assertion-secret', SECRET.slice(0, 31)], '32'],
    [[...unsigned, '--trusted-proxy', '10.0.0.1', '--assertion-secret', `${SECRET} `], 'ASCII'],
    [[...unsigned, '--trusted-proxy', '10.0.0.1', '--assertion-secret', `${SECRET}é`], 'ASCII'],
  ])('refuses the guard "assertion" with %j, and says what to configure', async (args, advice) => {
    const { exitCode, stdout, stderr } = await start(args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(advice)
    expect(stderr).not.toContain(SECRET.slice(0, 31))
  })
})
