// Tests the guard `assertion`: its presets, the assertions it refuses, its options, and how it fetches and keeps keys.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAssertionGuard } from '../../src/auth/guards/assertion/assertion.ts'
import { openKeySource } from '../../src/auth/guards/assertion/keys/open-key-source.ts'
import { assertionFileProblems, openAssertionGuard } from '../../src/auth/guards/assertion/open-assertion-guard.ts'
import type { PresetName } from '../../src/auth/guards/assertion/presets.ts'
import {
  type AssertionOptions,
  assertionProblems,
  assertionSettings,
} from '../../src/auth/guards/assertion/settings.ts'
import type { LoginGuard } from '../../src/auth/guards/guard.ts'
import { callerWith } from '../support/callers.ts'
import {
  hmacWith,
  type Json,
  type KeyServer,
  mint,
  newKey,
  startKeyServer,
  type TestKey,
  toJwk,
  toPem,
} from '../support/signed-assertions.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA } from '../support/workspaces.ts'

const NOW = Date.UTC(2026, 0, 1)
const SECONDS = NOW / 1_000
const REFETCH_MS = 40
const ARN = 'arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/edge/50dc6c495c0c9188'

interface Fixture {
  /** What the operator configures, except the keys, which a server on this machine publishes here. */
  readonly options: Pick<AssertionOptions, 'preset' | 'issuer' | 'audience'>
  readonly keysUrl: string | null
  readonly header: string
  readonly alg: TestKey['alg']
  /** The header of the preset's documented tokens. */
  readonly tokenHeader?: Json
  readonly claims: Json
  readonly isPadded?: boolean
  readonly keysPath: string
}

const TIMES = { iat: SECONDS - 10, exp: SECONDS + 600 }

const FIXTURES: Readonly<Record<PresetName, Fixture>> = {
  oidc: {
    options: { preset: 'oidc', issuer: 'https://id.example.com', audience: ['workspace'] },
    keysUrl: null,
    header: 'authorization',
    alg: 'RS256',
    claims: {
      iss: 'https://id.example.com',
      aud: 'workspace',
      sub: '24400320',
      nonce: 'n-0S6_WzA2Mj',
      auth_time: SECONDS - 20,
      email: ANA,
      email_verified: true,
    },
    keysPath: '/jwks',
  },
  'cloudflare-access': {
    options: {
      preset: 'cloudflare-access',
      issuer: 'https://team.cloudflareaccess.com',
      audience: ['4714c1358e65fe4b'],
    },
    keysUrl: 'https://team.cloudflareaccess.com/cdn-cgi/access/certs',
    header: 'cf-access-jwt-assertion',
    alg: 'RS256',
    tokenHeader: { typ: undefined },
    claims: {
      aud: ['4714c1358e65fe4b'],
      email: ANA,
      nbf: SECONDS - 10,
      iss: 'https://team.cloudflareaccess.com',
      type: 'app',
      identity_nonce: '6ei69kawdKzMIAPF',
      sub: '7335d417-61da-459d-899c-0a01c76a2f94',
      country: 'US',
    },
    keysPath: '/jwks',
  },
  pomerium: {
    options: { preset: 'pomerium', issuer: 'workspace.example.com', audience: ['workspace.example.com'] },
    keysUrl: 'https://workspace.example.com/.well-known/pomerium/jwks.json',
    header: 'x-pomerium-jwt-assertion',
    alg: 'ES256',
    claims: {
      iss: 'workspace.example.com',
      aud: 'workspace.example.com',
      sub: 'google/1234',
      sid: 'ccbd7fa6-1d7e-4f10-aab0-bb13c8da9b4d',
      jti: 'f9d0b2a5-2c43-41b5-8bde-d2a3d7ee8b2f',
      email: ANA,
      groups: ['admins@example.com'],
      name: 'Ana',
    },
    keysPath: '/jwks',
  },
  'google-iap': {
    options: { preset: 'google-iap', audience: ['/projects/123/global/backendServices/456'] },
    keysUrl: 'https://www.gstatic.com/iap/verify/public_key-jwk',
    header: 'x-goog-iap-jwt-assertion',
    alg: 'ES256',
    claims: {
      iss: 'https://cloud.google.com/iap',
      aud: '/projects/123/global/backendServices/456',
      sub: 'accounts.google.com:112233',
      email: ANA,
      hd: 'example.com',
      google: { access_levels: ['accessPolicies/1/accessLevels/x'] },
    },
    keysPath: '/jwks',
  },
  'aws-alb': {
    options: { preset: 'aws-alb', audience: [ARN] },
    keysUrl: 'https://public-keys.auth.elb.eu-west-1.amazonaws.com/{kid}',
    header: 'x-amzn-oidc-data',
    alg: 'ES256',
    tokenHeader: { signer: ARN, iss: 'https://id.example.com', client: 'client-id', exp: SECONDS + 120 },
    claims: {
      sub: '1234567890',
      email_verified: 'true',
      email: ANA,
      username: 'ana',
      iss: 'https://id.example.com',
    },
    isPadded: true,
    keysPath: '/pem/{kid}',
  },
}

const PRESETS = Object.keys(FIXTURES) as PresetName[]

interface Started {
  readonly guard: LoginGuard
  readonly key: TestKey
  readonly server: KeyServer
  readonly reported: unknown[]
  /** Makes the preset's documented token, with these claims and header fields over it. */
  readonly token: (claims?: Json, header?: Json, key?: TestKey) => string
  readonly decide: (token: string, email?: string) => ReturnType<LoginGuard['decide']>
}

async function start(
  preset: PresetName,
  options: Partial<AssertionOptions> = {},
  refetchMs = REFETCH_MS,
): Promise<Started> {
  const fixture = FIXTURES[preset]
  const key = newKey(fixture.alg)
  const server = await startKeyServer([key])
  const settings = assertionSettings({
    ...fixture.options,
    keys: server.url + fixture.keysPath,
    emailClaim: 'email',
    leewaySeconds: 30,
    ...options,
  })
  const reported: unknown[] = []
  const report = (error: unknown) => reported.push(error)
  const keys = openKeySource(settings.keysAt, { refetchMs, report })
  const guard = createAssertionGuard({ settings, keys, clock: () => NOW, report })
  const { header: name } = settings
  return {
    guard,
    key,
    server,
    reported,
    token: (claims = {}, header = {}, signer = key) =>
      mint(signer, {
        header: { ...fixture.tokenHeader, ...header },
        claims: { ...fixture.claims, ...TIMES, ...claims },
        isPadded: fixture.isPadded ?? false,
      }),
    decide: (token, email = ANA) =>
      guard.decide({
        email,
        code: null,
        caller: callerWith({ headers: { [name]: name === 'authorization' ? `Bearer ${token}` : token } }),
      }),
  }
}

type Clock = 'performance' | 'Date'

const outcomeOf = async (decision: ReturnType<LoginGuard['decide']>) => (await decision).outcome

describe.each(PRESETS)('the preset %s', (preset) => {
  const fixture = FIXTURES[preset]

  test('needs at most three options, and uses the documented URL of the keys', () => {
    const options = { ...fixture.options, emailClaim: 'email', leewaySeconds: 30 }
    expect(Object.keys(fixture.options).length).toBeLessThanOrEqual(3)
    expect(assertionProblems(options)).toEqual([])
    const { keysAt, header } = assertionSettings(options)
    expect(keysAt).toEqual(
      fixture.keysUrl === null
        ? { type: 'discovery', issuer: fixture.options.issuer }
        : { type: 'url', url: fixture.keysUrl },
    )
    expect(header).toBe(fixture.header)
  })

  test('admits its documented token for the email in it, however that email is spelled', async () => {
    const { decide, token } = await start(preset)
    expect(await decide(token())).toEqual({ outcome: 'admitted', email: ANA })
    expect(await decide(token(), ' Ana@EXAMPLE.com')).toEqual({ outcome: 'admitted', email: ANA })
    expect(await decide(token({ email: 'ANA@example.com' }))).toEqual({ outcome: 'admitted', email: ANA })
  })

  test('refuses forged tokens and tokens for others', async () => {
    const { decide, token, key, server } = await start(preset)
    const stranger = { ...newKey(fixture.alg), kid: key.kid }
    const claims = { ...fixture.claims, ...TIMES }
    const isPadded = fixture.isPadded ?? false
    const forge = (header: Json, sign?: (input: Buffer) => Uint8Array) =>
      mint(key, { header: { ...fixture.tokenHeader, ...header }, claims, isPadded, ...(sign ? { sign } : {}) })
    const real = token()
    const [head = '', payload = '', signature = ''] = real.split('.')
    const foreignUrl = `${server.url}/foreign`
    const forgeries: Readonly<Record<string, string>> = {
      none: forge({ alg: 'none' }, () => Buffer.alloc(0)),
      'None, capitalized': forge({ alg: 'None' }, () => Buffer.alloc(0)),
      'no signature': `${head}.${payload}.`,
      'HS256 with the public key as PEM': forge({ alg: 'HS256' }, hmacWith(toPem(key))),
      'HS256 with the public key as DER': forge(
        { alg: 'HS256' },
        hmacWith(key.publicKey.export({ type: 'spki', format: 'der' })),
      ),
      'HS256 with the public key as JWK': forge({ alg: 'HS256' }, hmacWith(JSON.stringify(toJwk(key)))),
      'HS256 with nothing': forge({ alg: 'HS256' }, hmacWith('')),
      'a key of its own': token({}, {}, stranger),
      'a key of its own, embedded': token({}, { jwk: toJwk(stranger) }, stranger),
      'a key of its own, by jku': token({}, { jku: foreignUrl }, stranger),
      'a key of its own, by x5u': token({}, { x5u: foreignUrl }, stranger),
      'a key of its own, by x5c': token({}, { x5c: [toPem(stranger)] }, stranger),
      'an unknown kid': token({}, { kid: 'unknown' }),
      'a kid that climbs': token({}, { kid: '../jwks' }),
      'an extension that nobody knows': token({}, { crit: ['exp'], exp: 1 }),
      'an unencoded payload': token({}, { b64: false, crit: ['b64'] }),
      'an access token': token({}, { typ: 'at+jwt' }),
      'of a kind that is no text': token({}, { typ: 1 }),
      'another payload': `${head}.${Buffer.from(JSON.stringify({ ...claims, email: 'ben@example.com' })).toString('base64url')}.${signature}`,
      'another header': `${Buffer.from(JSON.stringify({ alg: fixture.alg })).toString('base64url')}.${payload}.${signature}`,
      expired: token({ exp: SECONDS - 31 }),
      'without exp': token({ exp: undefined }),
      'not yet valid': token({ nbf: SECONDS + 31 }),
      'of the future': token({ iat: SECONDS + 31 }),
      'without an email': token({ email: undefined }),
      'with two emails': token({ email: [ANA, 'ben@example.com'] }),
      'of a mailbox that NFKC makes another': token({ email: ANA.replace('a', 'ª') }),
      'with an @ that NFKC makes one': token({ email: ANA.replace('@', '＠') }),
      'with what is no email': token({ email: 'accounts.google.com:ana' }),
      'an email that is not verified': token({ email_verified: false }),
      'an email that is not verified, as text': token({ email_verified: 'false' }),
      'two tokens': `${real}, ${real}`,
      'five parts': `${real}.${head}.${payload}`,
      huge: token({ filler: 'x'.repeat(20_000) }),
      'with a no-break space behind it': `${real}\xa0`,
      'with a no-break space before it': `\xa0${real}`,
      garbage: 'a.b.c',
      ...(fixture.options.issuer || preset === 'google-iap'
        ? {
            'another issuer': token({ iss: 'https://evil.example.com' }),
            'an issuer with a slash more': token({ iss: `${fixture.claims.iss}/` }),
            'no issuer': token({ iss: undefined }),
          }
        : {}),
      ...(preset === 'aws-alb'
        ? {
            'another signer': token({}, { signer: ARN.replace('edge', 'evil') }),
            'no signer': token({}, { signer: undefined }),
            'the signer as aud': token({ aud: ARN }, { signer: undefined }),
          }
        : {
            'another audience': token({ aud: 'other' }),
            'other audiences': token({ aud: ['other', 'another'] }),
            'no audience': token({ aud: undefined }),
            'issued to another client': token({ azp: 'other' }),
          }),
    }
    for (const [name, forged] of Object.entries(forgeries)) {
      const decision = await decide(forged)
      expect(decision, name).toMatchObject({ outcome: 'refused', code: 'LOGIN_REFUSED' })
      // The reason in the log contains neither a token nor an email.
      expect(JSON.stringify(decision), name).not.toMatch(/eyJ|@/)
    }
    expect(server.paths).not.toContain('/foreign')
    expect(await outcomeOf(decide(real))).toBe('admitted')
  })

  test('refuses without a fetch of keys what no key would make acceptable', async () => {
    const { decide, token, server } = await start(preset)
    const refusals = [
      token({}, { typ: 'at+jwt' }),
      token({}, { alg: 'HS256' }),
      ...(fixture.options.issuer || preset === 'google-iap' ? [token({ iss: 'https://gateway.example.com' })] : []),
    ]
    for (const refused of refusals) expect(await outcomeOf(decide(refused))).toBe('refused')
    expect(server.paths).toEqual([])
  })

  test('refuses to sign in another user, and passes on a request without an assertion', async () => {
    const { decide, guard, token } = await start(preset)
    for (const email of ['ben@example.com', 'ana@example.org', '', 'ana', `${ANA}.evil.com`])
      expect(await decide(token(), email)).toMatchObject({ outcome: 'refused' })
    const attempt = { email: ANA, code: null }
    expect((await guard.decide({ ...attempt, caller: callerWith() })).outcome).toBe('passed')
    expect(
      (await guard.decide({ ...attempt, caller: callerWith({ headers: { authorization: 'Basic YTpi' } }) })).outcome,
    ).toBe('passed')
  })

  test('requires an audience', () => {
    const problems = assertionProblems({ ...fixture.options, audience: [], emailClaim: 'email', leewaySeconds: 30 })
    expect(problems.join()).toContain('assertion-audience')
  })
})

describe('email_verified', () => {
  test.each(PRESETS)(
    'has the documented default for %s, can be configured, and must never be false',
    async (preset) => {
      const isRequired = preset === 'oidc' || preset === 'aws-alb'
      const { decide, token } = await start(preset)
      expect(await outcomeOf(decide(token({ email_verified: undefined })))).toBe(isRequired ? 'refused' : 'admitted')
      const other = await start(preset, { emailVerified: isRequired ? 'ifPresent' : 'required' })
      expect(await outcomeOf(other.decide(other.token({ email_verified: undefined })))).toBe(
        isRequired ? 'admitted' : 'refused',
      )
      expect(await outcomeOf(other.decide(other.token({ email_verified: false })))).toBe('refused')
    },
  )
})

describe('options', () => {
  test('an ID token is valid for five minutes by default, and the assertion of a proxy until it expires', async () => {
    const [oidc, proxy] = [await start('oidc'), await start('pomerium')]
    for (const iat of [SECONDS - 330, SECONDS + 30])
      expect(await outcomeOf(oidc.decide(oidc.token({ iat })))).toBe('admitted')
    expect(await outcomeOf(oidc.decide(oidc.token({ iat: SECONDS - 331 })))).toBe('refused')
    expect(await outcomeOf(oidc.decide(oidc.token({ iat: undefined })))).toBe('refused')
    expect(await outcomeOf(proxy.decide(proxy.token({ iat: SECONDS - 80_000 })))).toBe('admitted')
    const strict = await start('pomerium', { maxAgeSeconds: 60, leewaySeconds: 0 })
    expect(await outcomeOf(strict.decide(strict.token({ iat: SECONDS - 61 })))).toBe('refused')
  })

  test('the header, the email claim, the audiences and the algorithms can be changed', async () => {
    const { decide, token, guard } = await start('pomerium', {
      header: 'X-Id',
      emailClaim: 'upn',
      audience: ['one', 'two'],
      algorithms: ['ES256'],
    })
    expect(await decide(token({ aud: 'two', upn: ANA, email: 'ben@example.com' }))).toMatchObject({ email: ANA })
    expect(await outcomeOf(decide(token({ aud: 'three', upn: ANA })))).toBe('refused')
    const rest = await start('pomerium', { algorithms: ['RS256'] })
    expect(await outcomeOf(rest.decide(rest.token()))).toBe('refused')
    const caller = callerWith({ headers: { 'x-pomerium-jwt-assertion': token() } })
    expect(await outcomeOf(guard.decide({ email: ANA, code: null, caller }))).toBe('passed')
  })

  test.each(['EdDSA', 'Ed25519'] as const)('an ID token with the algorithm %s is accepted', async (alg) => {
    const { decide, token, server } = await start('oidc')
    const key = newKey(alg)
    server.publish([key])
    expect(await outcomeOf(decide(token({}, {}, key)))).toBe('admitted')
  })

  test('keys can come from a file, as a key set or as one PEM', async () => {
    const { token, key } = await start('pomerium')
    for (const text of [JSON.stringify({ keys: [toJwk(key)] }), toPem(key)]) {
      const path = join(temporaryDirectory(), 'keys')
      writeFileSync(path, text)
      expect(
        assertionProblems({ ...FIXTURES.pomerium.options, keys: path, emailClaim: 'email', leewaySeconds: 30 }),
      ).toEqual([])
      const other = await start('pomerium', { keys: path })
      expect(await outcomeOf(other.decide(token()))).toBe('admitted')
      expect(await outcomeOf(other.decide(other.token()))).toBe('refused')
    }
  })

  test('a file of keys that holds none is refused', async () => {
    const path = join(temporaryDirectory(), 'keys')
    writeFileSync(path, '{"keys":[]}')
    const signed = { ...FIXTURES.pomerium.options, keys: path, emailClaim: 'email', leewaySeconds: 30 }
    const problems = await assertionFileProblems({ signed, unsigned: null })
    expect(problems).toEqual([expect.stringContaining('must hold a JWK set with a key')])
  })

  test.each<[what: string, keysOf: (key: TestKey) => readonly unknown[]]>([
    ['an unreadable key', (key) => [{ ...toJwk(key), x: 'AA' }]],
    ['a private key', (key) => [{ ...key.privateKey.export({ format: 'jwk' }), ...toJwk(key) }]],
    ['a second key of the same name', (key) => [toJwk(key), toJwk({ ...newKey(), kid: key.kid })]],
    ['no object', (key) => [toJwk(key), null]],
    ['a list', (key) => [[toJwk(key)]]],
  ])('%s among the keys of the issuer is reported to the operator, and the client may retry', async (_, keysOf) => {
    const { token, key } = await start('pomerium')
    const path = join(temporaryDirectory(), 'keys')
    writeFileSync(path, JSON.stringify({ keys: keysOf(key) }))
    const { decide, reported } = await start('pomerium', { keys: path })
    await expect(decide(token())).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 5 })
    expect(reported).toHaveLength(1)
  })

  test.each([
    [{ preset: 'oidc', audience: ['a'] }, 'assertion-issuer'],
    [{ preset: 'oidc', audience: ['a'], issuer: 'http://id.example.com' }, 'assertion-issuer'],
    [{ preset: 'pomerium', audience: ['a'] }, 'assertion-issuer'],
    [{ preset: 'pomerium', audience: ['a'], issuer: 'two words' }, 'assertion-issuer'],
    [{ preset: 'cloudflare-access', audience: ['a'], issuer: 'team.cloudflareaccess.com' }, 'assertion-issuer'],
    [{ preset: 'cloudflare-access', audience: ['a'], issuer: 'http://team.cloudflareaccess.com' }, 'assertion-issuer'],
    [{ preset: 'aws-alb', audience: ['a'] }, 'assertion-audience'],
    [{ preset: 'aws-alb', audience: [ARN, ARN.replace('eu-west-1', 'us-east-1')] }, 'several regions'],
    [{ preset: 'aws-alb', audience: [ARN.replace('aws:', 'aws-us-gov:')] }, 'assertion-keys'],
    [{ preset: 'aws-alb', audience: [ARN.replace('aws:', 'aws-cn:')] }, 'assertion-keys'],
    [{ preset: 'google-iap', audience: ['a'], keys: 'http://keys.example.com/jwks' }, 'assertion-keys'],
    [{ preset: 'google-iap', audience: ['a'], keys: 'ftp://keys.example.com/jwks' }, 'assertion-keys'],
    [{ preset: 'google-iap', audience: ['a'], keys: 'https://ana:secret@keys.example.com/jwks' }, 'assertion-keys'],
  ] as const)('%j is refused, and the message names %s', (options, expected) => {
    expect(assertionProblems({ emailClaim: 'email', leewaySeconds: 0, ...options }).join()).toContain(expected)
  })

  test('load balancers of one region need no option for keys; several regions are accepted with it', () => {
    const problems = (audience: readonly string[], keys?: string) =>
      assertionProblems({ preset: 'aws-alb', emailClaim: 'email', leewaySeconds: 0, audience, keys })
    const elsewhere = ARN.replace('aws:eu-west-1', 'aws-us-gov:us-gov-west-1')
    expect(problems([ARN, ARN.replace('edge', 'other')])).toEqual([])
    expect(problems([ARN, elsewhere], 'https://keys.example.com/{kid}')).toEqual([])
  })
})

describe('the key source', () => {
  test('fetches the key set once for any number of concurrent logins', async () => {
    const { decide, token, server } = await start('cloudflare-access')
    const tokens = Array.from({ length: 50 }, () => token())
    expect(new Set(await Promise.all(tokens.map((one) => outcomeOf(decide(one)))))).toEqual(new Set(['admitted']))
    expect(server.fetches()).toBe(1)
  })

  test('reports one failed fetch once, however many logins wait for it', async () => {
    const { server, token } = await start('cloudflare-access')
    server.fail(true)
    const reported: unknown[] = []
    const { options } = FIXTURES['cloudflare-access']
    const signed = { ...options, keys: `${server.url}/jwks`, emailClaim: 'email', leewaySeconds: 30 }
    const guard = openAssertionGuard(
      { signed, unsigned: null },
      { clock: () => NOW, report: (error) => reported.push(error) },
    )
    const caller = callerWith({ headers: { 'cf-access-jwt-assertion': token() } })
    const attempts = Array.from({ length: 20 }, async () => guard.decide({ email: ANA, code: null, caller }))
    const outcomes = await Promise.allSettled(attempts)
    expect(outcomes.map(({ status }) => status)).toEqual(Array(20).fill('rejected'))
    expect(reported).toHaveLength(1)
  })

  test('makes two fetches for 10,000 unknown key ids, and fails nobody whose key is known', async () => {
    const { decide, token, server } = await start('pomerium')
    expect(await outcomeOf(decide(token()))).toBe('admitted')
    const one = token()
    const [, rest = ''] = /^[^.]+(\..*)$/.exec(one) ?? []
    const unknown = Array.from({ length: 10_000 }, (_, index) => {
      const header = JSON.stringify({ alg: 'ES256', kid: `made up ${index}`, typ: 'JWT' })
      return Buffer.from(header).toString('base64url') + rest
    })
    const outcomes = await Promise.all([...unknown.map((forged) => outcomeOf(decide(forged))), outcomeOf(decide(one))])
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(1)
    expect(outcomes.at(-1)).toBe('admitted')
    expect(server.fetches()).toBe(2)
  })

  /** Stops the clock that limits fetches. A fetch that is queued still waits `REFETCH_MS` of real time. */
  function stopFetchClock(): void {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
  }

  test('with a URL per key, makes three fetches for 10,000 unknown ids; the others are UNAVAILABLE', async () => {
    stopFetchClock()
    const { decide, token, server, reported } = await start('aws-alb')
    const known = token()
    expect(await outcomeOf(decide(known))).toBe('admitted')
    const unknown = Array.from({ length: 10_000 }, (_, index) => token({}, { kid: `made-up-${index}` }).slice(0, -8))
    const outcomes = await Promise.all(unknown.map((forged) => outcomeOf(decide(forged)).catch(({ code }) => code)))
    expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(3)
    expect(outcomes.filter((outcome) => outcome === 'UNAVAILABLE')).toHaveLength(9_997)
    expect(await outcomeOf(decide(known))).toBe('admitted')
    expect(server.fetches()).toBe(4)
    // The operator learns of the three keys that could not be fetched.
    expect(reported).toHaveLength(3)
  })

  test('with a URL per key, fetches a known key after made-up ids, and then asks callers to retry', async () => {
    stopFetchClock()
    const { decide, token } = await start('aws-alb')
    const made = (name: string) => token({}, { kid: name }).slice(0, -8)
    for (const name of ['made-up-1', 'made-up-2']) expect(await outcomeOf(decide(made(name)))).toBe('refused')
    expect(await outcomeOf(decide(token()))).toBe('admitted')
    expect(await outcomeOf(decide(made('made-up-3')))).toBe('refused')
    await expect(decide(made('made-up-4'))).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 })
  })

  test('with a URL per key, fetches a missing key once, however often it is named', async () => {
    const { decide, token, server } = await start('aws-alb', {}, 60_000)
    const forged = token({}, { kid: 'made-up' })
    for (let count = 0; count < 5; count += 1) expect(await outcomeOf(decide(forged))).toBe('refused')
    expect(server.fetches()).toBe(1)
  })

  test('with a URL per key, fetches a key once for all concurrent logins', async () => {
    const { decide, token, server, reported } = await start('aws-alb', {}, 60_000)
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(decide(token()))))
    expect(new Set(outcomes)).toEqual(new Set(['admitted']))
    expect(server.fetches()).toBe(1)
    expect(reported).toEqual([])
  })

  test('fails no login while keys rotate, also while strangers name made-up keys', async () => {
    const { decide, server, key, token } = await start('pomerium')
    let current = key
    const outcomes: Promise<string>[] = []
    for (let round = 0; round < 4; round += 1) {
      const next = newKey('ES256')
      server.publish([current, next])
      current = next
      void decide(token({}, { kid: `made up ${round}` }))
      for (let sign = 0; sign < 20; sign += 1) outcomes.push(outcomeOf(decide(token({}, {}, current))))
      await Promise.all(outcomes)
    }
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['admitted']))
  })

  test('refuses a withdrawn key after the next fetch', async () => {
    const { decide, server, token } = await start('pomerium')
    const old = token()
    expect(await outcomeOf(decide(old))).toBe('admitted')
    const next = newKey('ES256')
    server.publish([next])
    expect(await outcomeOf(decide(token({}, {}, next)))).toBe('admitted')
    expect(await outcomeOf(decide(old))).toBe('refused')
  })

  test.each(['google-iap', 'aws-alb'] as const)(
    'keeps the keys of %s while the issuer is down, and answers UNAVAILABLE when another key is needed',
    async (preset) => {
      const { decide, server, token, reported } = await start(preset)
      server.fail(true)
      await expect(decide(token())).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      server.fail(false)
      expect(await outcomeOf(decide(token()))).toBe('admitted')
      server.fail(true)
      // No server has said that the key does not exist.
      await expect(decide(token({}, { kid: 'unknown' }))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      expect(await outcomeOf(decide(token()))).toBe('admitted')
      expect(String(reported.at(-1))).toContain('503')
    },
  )

  test('admits after the issuer has removed a second key of the same name', async () => {
    const { decide, server, key, token } = await start('pomerium')
    server.publish([{ ...newKey(), kid: key.kid }, key])
    await expect(decide(token())).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    server.publish([key])
    expect(await outcomeOf(decide(token()))).toBe('admitted')
  })

  test('refuses a token without a key name when several keys match, and reports nothing', async () => {
    const { decide, server, key, token, reported } = await start('pomerium')
    server.publish([key, newKey()])
    expect(await outcomeOf(decide(token({}, { kid: undefined })))).toBe('refused')
    expect(reported).toEqual([])
  })

  test('finds a key that was published after a fetch for another key had reached the issuer', async () => {
    const { decide, server, key, token } = await start('pomerium')
    expect(await outcomeOf(decide(token()))).toBe('admitted')
    const release = server.hold()
    const madeUp = outcomeOf(decide(token({}, { kid: 'made up' })))
    await expect.poll(server.fetches).toBe(2)
    const next = newKey('ES256')
    server.publish([key, next])
    const signIns = [next, key, next].map((signer) => outcomeOf(decide(token({}, {}, signer))))
    release()
    expect(await Promise.all([madeUp, ...signIns])).toEqual(['refused', 'admitted', 'admitted', 'admitted'])
    expect(server.fetches()).toBe(3)
  })

  describe.each(['pomerium', 'aws-alb'] as const)('with the preset %s', (preset) => {
    /** Signs in once, lets `meanwhile` change the server, and then lets this much time pass without a login. */
    async function idleFor(minutes: number, meanwhile: (server: KeyServer) => void, clock: Clock = 'performance') {
      vi.useFakeTimers({ toFake: [clock] })
      onTestFinished(() => void vi.useRealTimers())
      const started = await start(preset)
      const signIn = () => outcomeOf(started.decide(started.token()))
      expect(await signIn()).toBe('admitted')
      meanwhile(started.server)
      vi.advanceTimersByTime(minutes * 60_000)
      return { ...started, signIn }
    }

    test('uses its keys for ten minutes without a fetch', async () => {
      const { signIn, server } = await idleFor(9, () => {})
      const before = server.fetches()
      expect(await signIn()).toBe('admitted')
      expect(server.fetches()).toBe(before)
    })

    test('fetches in the background at a login after ten minutes, and then refuses a withdrawn key', async () => {
      const { signIn } = await idleFor(11, (server) => server.publish([newKey()]))
      expect(await signIn()).toBe('admitted')
      await vi.waitFor(async () => expect(await signIn()).toBe('refused'))
    })

    test('refuses keys that were withdrawn long ago, also for concurrent logins', async () => {
      const { signIn } = await idleFor(60, (server) => server.publish([newKey()]))
      expect(await Promise.all([signIn(), signIn(), signIn()])).toEqual(['refused', 'refused', 'refused'])
    })

    test('refuses keys that were withdrawn while the machine was suspended, which stops one of its clocks', async () => {
      const { signIn } = await idleFor(60, (server) => server.publish([newKey()]), 'Date')
      expect(await signIn()).toBe('refused')
    })

    test('keeps old keys while the issuer is down, and does not fetch for each login', async () => {
      const { signIn, server, reported } = await idleFor(60, (server) => server.fail(true))
      const before = server.fetches()
      expect(await Promise.all([signIn(), signIn()])).toEqual(['admitted', 'admitted'])
      expect(await signIn()).toBe('admitted')
      expect(server.fetches()).toBe(before + 1)
      expect(reported).toHaveLength(1)
    })
  })

  test('with a URL per key, accepts a key after a stranger has named another algorithm for it', async () => {
    const { decide, token, server } = await start('aws-alb', { algorithms: ['RS256', 'PS256'] })
    const key = newKey('RS256')
    server.publish([key])
    expect(await outcomeOf(decide(token({}, { alg: 'PS256' }, key)))).toBe('refused')
    expect(await outcomeOf(decide(token({}, {}, key)))).toBe('admitted')
    expect(server.fetches()).toBe(1)
  })

  test('finds keys in the discovery document of the issuer, and refuses that of another issuer', async () => {
    const key = newKey('RS256')
    const server = await startKeyServer([key])
    const guardFor = (issuer: string) => {
      const options = {
        preset: 'oidc',
        issuer,
        audience: ['workspace'],
        emailClaim: 'email',
        leewaySeconds: 0,
      } as const
      const settings = assertionSettings(options)
      const keys = openKeySource(settings.keysAt, { refetchMs: REFETCH_MS, report() {} })
      return createAssertionGuard({ settings, keys, clock: () => NOW, report() {} })
    }
    const login = (issuer: string) => {
      const claims = { ...FIXTURES.oidc.claims, ...TIMES, iss: issuer }
      const caller = callerWith({ headers: { authorization: `Bearer ${mint(key, { claims })}` } })
      return guardFor(issuer).decide({ email: ANA, code: null, caller })
    }
    expect(await outcomeOf(login(server.url))).toBe('admitted')
    // The issuers of some providers end in a slash.
    const slashed = await startKeyServer([key], (url) => ({ issuer: `${url}/`, jwks_uri: `${url}/jwks` }))
    expect(await outcomeOf(login(`${slashed.url}/`))).toBe('admitted')
    await expect(login(server.url.replace('127.0.0.1', 'localhost'))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    // As with assertion-keys, an address with a password is not asked.
    const unsafe = await startKeyServer([key], (url) => ({
      issuer: url,
      jwks_uri: `${url.replace('//', '//ana:secret@')}/jwks`,
    }))
    await expect(login(unsafe.url)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(unsafe.paths).not.toContain('/jwks')
  })
})
