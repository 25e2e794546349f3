// Sessions and their tokens: login, refresh, logout, lifetimes and signing keys.
import { createHash } from 'node:crypto'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { createKeyCipher } from '../src/auth/tokens/key-cipher.ts'
import { createSigningKey } from '../src/auth/tokens/signing-key.ts'
import { StoreReadOnlyError, StoreUnavailableError } from '../src/store/contract.ts'
import { startGateway } from './support/gateway.ts'
import { ANA, SMALL_WORLD } from './support/workspaces.ts'

const DAY = 86_400

const body = (value: object) => JSON.stringify(value)

test('an access token has the documented header, claims and lifetime, and verifies with the published keys', async () => {
  const gateway = await startGateway()
  const { accessToken } = await gateway.login(' ANA@Example.COM ')
  const keys = await gateway.get('/.well-known/jwks.json')
  expect(keys.headers.get('content-type')).toBe('application/jwk-set+json')
  expect(keys.text).not.toContain('"d"')
  const { payload, protectedHeader } = await jwtVerify(accessToken, createLocalJWKSet(keys.json()), {
    issuer: 'test-issuer',
    audience: 'test-audience',
    currentDate: new Date(gateway.now()),
  })
  expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: keys.json().keys[0].kid })
  expect(payload).toMatchObject({ sub: ANA, sid: expect.any(String), jti: expect.any(String) })
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(900)
})

test('a refresh token is opaque, and stored only as a hash', async () => {
  const gateway = await startGateway()
  const { refreshToken } = await gateway.login(ANA)
  expect(refreshToken).toMatch(/^wgr_[A-Za-z0-9_-]{51}$/)
  const { readFileSync, readdirSync } = await import('node:fs')
  const { dirname, join } = await import('node:path')
  const directory = dirname(gateway.databasePath)
  for (const file of readdirSync(directory)) {
    expect(readFileSync(join(directory, file)).includes(refreshToken), file).toBe(false)
  }
})

test('a refresh token from an older release, which contains no time, works until its logout', async () => {
  const gateway = await startGateway()
  const { refreshToken } = await gateway.login(ANA)
  const old = `wgr_${'o'.repeat(43)}`
  const { default: Database } = await import('better-sqlite3')
  const hand = new Database(gateway.databasePath)
  hand.prepare('update session set refresh_hash = ?').run(createHash('sha256').update(old).digest())
  hand.close()
  const refresh = (token: string) => gateway.send('POST', '/token', body({ refreshToken: token }))
  expect((await refresh(refreshToken)).status).toBe(401)
  expect((await refresh(old)).status).toBe(200)
  expect((await gateway.send('DELETE', '/logout', body({ refreshToken: old }))).status).toBe(200)
  expect((await refresh(old)).status).toBe(401)
})

test('logout takes effect at once: the next request with either token is refused', async () => {
  for (const method of ['DELETE', 'POST']) {
    const gateway = await startGateway()
    await gateway.load(SMALL_WORLD)
    const { accessToken, refreshToken } = await gateway.login(ANA)
    const other = await gateway.login(ANA)
    const { etag } = Object.fromEntries((await gateway.get('/projects', accessToken)).headers)
    const logout = await gateway.send(method, '/logout', body({ refreshToken }))
    expect([logout.status, logout.text]).toEqual([200, '{}'])
    expect((await gateway.get('/projects', accessToken)).status).toBe(401)
    expect((await gateway.get('/projects', accessToken, { 'if-none-match': etag ?? '' })).status).toBe(401)
    expect((await gateway.graphql('{ me { email } }', { accessToken })).status).toBe(401)
    expect((await gateway.send('POST', '/token', body({ refreshToken }))).status).toBe(401)
    expect((await gateway.send('DELETE', '/logout', body({ refreshToken }))).status).toBe(401)
    // Another session of the same user goes on.
    expect((await gateway.get('/projects', other.accessToken)).status).toBe(200)
  }
})

test('a refusal says how to send a token that came without its scheme, and which of the two was sent for the other', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken, refreshToken } = await gateway.login(ANA)
  for (const authorization of [accessToken, `Token ${accessToken}`, '']) {
    const read = await gateway.get('/projects', undefined, { authorization })
    expect([read.status, read.json().code]).toEqual([401, 'UNAUTHENTICATED'])
    expect(read.json().detail).toContain('`Authorization: Bearer`')
    const query = await gateway.graphql('{ me { id } }', { headers: { authorization } })
    expect(query.json().errors[0].message).toBe(read.json().detail)
  }
  const read = await gateway.get('/projects', refreshToken)
  expect([read.status, read.json().code]).toEqual([401, 'INVALID_TOKEN'])
  expect(read.json().detail).toMatch(/is a refresh token: send the access token/)
  const query = await gateway.graphql('{ me { id } }', { accessToken: refreshToken })
  expect([query.status, query.json().errors[0].message]).toEqual([401, read.json().detail])
  for (const [method, path, field] of [
    ['POST', '/token', 'refresh'],
    ['DELETE', '/logout', 'logout'],
  ] as const) {
    const swapped = await gateway.send(method, path, body({ refreshToken: accessToken }))
    expect([swapped.status, swapped.json().code]).toEqual([401, 'INVALID_TOKEN'])
    expect(swapped.json().detail).toMatch(/is an access token: send the refresh token/)
    const selection = field === 'refresh' ? '{ accessToken }' : ''
    const mutation = `mutation($t: String!) { ${field}(refreshToken: $t) ${selection} }`
    const twin = await gateway.send('POST', '/graphql', body({ query: mutation, variables: { t: accessToken } }))
    expect(twin.json().errors[0].message).toBe(swapped.json().detail)
    // A token that is merely unknown is called neither.
    const unknown = await gateway.send(method, path, body({ refreshToken: 'x' }))
    expect(unknown.json().detail).not.toMatch(/is a/)
  }
})

test('a hundred concurrent refreshes all succeed, and all their tokens work', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { refreshToken } = await gateway.login(ANA)
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => gateway.send('POST', '/token', body({ refreshToken }))),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 200))
  const tokens = answers.map((answer) => answer.json().accessToken)
  expect(new Set(tokens).size).toBe(100)
  const reads = await Promise.all(tokens.map((token) => gateway.get('/projects', token)))
  expect(reads.every(({ status }) => status === 200)).toBe(true)
  expect(Object.keys(answers[0]?.json())).toEqual(['accessToken'])
})

test('after a logout among a hundred concurrent refreshes, every token of the session is refused', async () => {
  const gateway = await startGateway()
  const { refreshToken } = await gateway.login(ANA)
  const refresh = () => gateway.send('POST', '/token', body({ refreshToken }))
  const racing = Array.from({ length: 100 }, refresh)
  expect((await racing[0])?.status).toBe(200)
  const logout = await gateway.send('DELETE', '/logout', body({ refreshToken }))
  expect(logout.status).toBe(200)
  const tokens = (await Promise.all(racing)).flatMap((answer) =>
    answer.status === 200 ? answer.json().accessToken : [],
  )
  expect(tokens.length).toBeGreaterThan(0)
  for (const token of tokens) expect((await gateway.get('/projects', token)).status).toBe(401)
  expect((await refresh()).status).toBe(401)
})

test('an access token expires at its exp, and a session at the end of its idle or absolute lifetime', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken, refreshToken } = await gateway.login(ANA)
  gateway.advance(899)
  expect((await gateway.get('/projects', accessToken)).status).toBe(200)
  gateway.advance(1)
  expect((await gateway.get('/projects', accessToken)).status).toBe(401)
  // A session that is refreshed in time lives until the end of its absolute lifetime.
  for (let day = 10; day <= 80; day += 10) {
    gateway.advance(10 * DAY)
    expect((await gateway.send('POST', '/token', body({ refreshToken }))).status, `day ${day}`).toBe(200)
  }
  gateway.advance(10 * DAY)
  expect((await gateway.send('POST', '/token', body({ refreshToken }))).status).toBe(401)
  const idle = await gateway.login(ANA)
  gateway.advance(14 * DAY)
  expect((await gateway.send('POST', '/token', body(idle))).status).toBe(401)
})

test('while nothing can be written, sessions are refreshed, and their idle time is reset once it can be', async () => {
  let refusal: Error | null = null
  const gateway = await startGateway({
    wrapStore: (store) => ({
      ...store,
      extendSessions: async (extensions) => (refusal ? Promise.reject(refusal) : store.extendSessions(extensions)),
    }),
  })
  const { refreshToken } = await gateway.login(ANA)
  const refresh = async () => {
    const { status, json } = await gateway.send('POST', '/token', body({ refreshToken }))
    return status === 200 ? (await gateway.get('/projects', json().accessToken)).status : status
  }
  gateway.advance(7 * DAY)
  // 404: Ana has no workspace. The token is accepted.
  refusal = new StoreReadOnlyError()
  expect(await refresh()).toBe(404)
  refusal = new StoreUnavailableError('away')
  expect(await refresh()).toBe(404)
  refusal = new Error('a bug')
  expect(await refresh()).toBe(500)
  // The end of the session is the one of its login.
  gateway.advance(6 * DAY)
  refusal = new StoreUnavailableError('away')
  expect(await refresh()).toBe(404)
  refusal = null
  expect(await refresh()).toBe(404)
  gateway.advance(2 * DAY)
  expect(await refresh()).toBe(404)
  refusal = new StoreUnavailableError('away')
  gateway.advance(14 * DAY)
  expect(await refresh()).toBe(401)
})

test('a workspace that is imported after the login is visible at the next read', async () => {
  const gateway = await startGateway()
  const { accessToken } = await gateway.login(ANA)
  expect((await gateway.get('/projects', accessToken)).json().code).toBe('NO_WORKSPACE')
  await gateway.load(SMALL_WORLD)
  expect((await gateway.get('/projects', accessToken)).status).toBe(200)
})

test('a new signing key takes over within a second, and tokens of the old one stay valid', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const before = await gateway.login(ANA)
  const key = await createSigningKey('EdDSA', gateway.now() + 1, createKeyCipher([]))
  const { default: Database } = await import('better-sqlite3')
  const hand = new Database(gateway.databasePath)
  hand
    .prepare('insert into signing_key (kid, private_jwk, created_at) values (?, ?, ?)')
    .run(key.kid, key.privateJwk, key.createdAt)
  hand.close()
  gateway.advance(1)
  const after = await gateway.login(ANA)
  expect(decodeProtectedHeader(after.accessToken).kid).toBe(key.kid)
  for (const { accessToken } of [before, after]) expect((await gateway.get('/projects', accessToken)).status).toBe(200)
  expect((await gateway.get('/.well-known/jwks.json')).json().keys).toHaveLength(2)
})

test('a token of a removed key is refused within a second, even by the gateway that issued it', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const [used, unused] = [await gateway.login(ANA), await gateway.login(ANA)]
  expect((await gateway.get('/projects', used.accessToken)).status).toBe(200)
  const key = await createSigningKey('EdDSA', gateway.now(), createKeyCipher([]))
  const { default: Database } = await import('better-sqlite3')
  const hand = new Database(gateway.databasePath)
  hand.prepare('update signing_key set kid = ?, private_jwk = ?').run(key.kid, key.privateJwk)
  hand.close()
  gateway.advance(1)
  for (const { accessToken } of [used, unused]) expect((await gateway.get('/projects', accessToken)).status).toBe(401)
  const { accessToken } = await gateway.login(ANA)
  expect((await gateway.get('/projects', accessToken)).status).toBe(200)
})

test('every access token of a session names the session, and no two tokens have the same jti', async () => {
  const gateway = await startGateway()
  const { accessToken, refreshToken } = await gateway.login(ANA)
  const renewed = (await gateway.send('POST', '/token', body({ refreshToken }))).json().accessToken
  const [first, second] = [decodeJwt(accessToken), decodeJwt(renewed)]
  expect(second.sid).toBe(first.sid)
  expect(second.jti).not.toBe(first.jti)
})
