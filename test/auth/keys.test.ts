// Tests signing keys: rotation, retirement, algorithms, encryption, and keys that cannot be read.
import { createHmac, createPublicKey, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { createKeyCipher, KeyUnreadableError, readSecret } from '../../src/auth/tokens/key-cipher.ts'
import { standingsOf } from '../../src/auth/tokens/key-states.ts'
import { createSigningKey } from '../../src/auth/tokens/signing-key.ts'
import { createClient, requireSession } from '../support/client.ts'
import { run, runHere, serveForTest, serveHereForTest } from '../support/command-line.ts'
import { ask, startGateway, type TestGateway } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { openTestKeyset } from '../support/keyset.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const SECRET = Buffer.alloc(32, 7).toString('base64')
const KEY_ENV = 'WORKSPACE_GATEWAY_KEY_ENCRYPTION_KEY'

function keysOf(gateway: TestGateway, ...args: string[]) {
  return runHere(['keys', ...args, '--database', gateway.databaseUrl], { clock: gateway.now })
}

async function listed(
  gateway: TestGateway,
): Promise<readonly { kid: string; state: string; algorithm: string; stored: string }[]> {
  const { stdout, exitCode, stderr } = await keysOf(gateway, 'list', '--json')
  expect([exitCode, stderr]).toEqual([0, ''])
  return jsonLines(stdout)
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid

test('keys retire needs -- before a kid that begins with -, as keys of earlier versions may have', async () => {
  const gateway = await startGateway()
  const database = new Database(gateway.databasePath)
  database.exec(`insert into signing_key select '-abc', private_jwk, created_at - 100000000 from signing_key`)
  database.close()
  gateway.advance(1_000)
  expect((await keysOf(gateway, 'retire', '-abc')).exitCode).toBe(2)
  const { exitCode, stderr, stdout } = await runHere(
    ['keys', 'retire', '--database', gateway.databaseUrl, '--', '-abc'],
    { clock: gateway.now },
  )
  expect([exitCode, stderr, stdout]).toEqual([0, '', '-abc was removed\n'])
  expect((await listed(gateway)).map(({ kid }) => kid)).not.toContain('-abc')
})

test('a further key signs after the one before it, even if that one does not sign yet', async () => {
  const gateway = await startGateway()
  const rotated = async (...args: string[]) => {
    const [, time] = / signs from (\S+)\n$/.exec((await keysOf(gateway, 'rotate', ...args)).stdout) ?? []
    return Date.parse(time ?? '')
  }
  const later = await rotated('--sign-after', '600')
  expect(await rotated('--sign-after', '1')).toBe(later + 1)
})

test('a rotated key signs within a second, and the old key is removed only after its tokens have expired', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const before = await gateway.login(ANA)
  const rotated = await keysOf(gateway, 'rotate')
  expect([rotated.exitCode, rotated.stdout]).toEqual([0, expect.stringContaining('(EdDSA) signs from')])
  gateway.advance(1)
  const after = await gateway.login(ANA)
  expect(kidOf(after.accessToken)).not.toBe(kidOf(before.accessToken))
  for (const { accessToken } of [before, after]) expect((await gateway.get('/projects', accessToken)).status).toBe(200)
  expect((await listed(gateway)).map(({ kid, state }) => [kid, state])).toEqual([
    [kidOf(after.accessToken), 'signing'],
    [kidOf(before.accessToken), 'verifying'],
  ])
  const old = kidOf(before.accessToken) ?? ''
  const early = await keysOf(gateway, 'retire', old)
  expect([early.exitCode, early.stderr]).toEqual([1, expect.stringContaining('may be in use until')])
  const signing = await keysOf(gateway, 'retire', kidOf(after.accessToken) ?? '')
  expect([signing.exitCode, signing.stderr]).toEqual([1, expect.stringContaining('this key is in use for signing')])
  gateway.advance(899 + 62)
  const renewed = (await gateway.send('POST', '/token', JSON.stringify(before))).json().accessToken
  const retired = await keysOf(gateway, 'retire', old)
  expect([retired.exitCode, retired.stderr]).toEqual([0, ''])
  gateway.advance(1)
  expect((await gateway.get('/projects', renewed)).status).toBe(200)
  expect((await gateway.get('/.well-known/jwks.json')).json().keys).toHaveLength(1)
  const again = await keysOf(gateway, 'retire', old)
  // This is also the state after a run that was killed when the key was gone and its bytes were not.
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringMatching(/^there is no .* run vacuum --full: .*\n$/)])
})

test('a forced retirement invalidates the tokens of the key, and the next token is signed with a new key', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken, refreshToken } = await gateway.login(ANA)
  expect((await keysOf(gateway, 'retire', kidOf(accessToken) ?? '', '--force')).exitCode).toBe(0)
  gateway.advance(1)
  expect((await gateway.get('/projects', accessToken)).status).toBe(401)
  const renewed = await gateway.send('POST', '/token', JSON.stringify({ refreshToken }))
  expect((await gateway.get('/projects', renewed.json().accessToken)).status).toBe(200)
})

test('fifty concurrent logins on two gateways all succeed and make one key after all keys were deleted', async () => {
  const gateway = await startGateway()
  const other = await startGateway({ databasePath: gateway.databasePath })
  const hand = new Database(gateway.databasePath)
  hand.exec('delete from signing_key')
  hand.close()
  for (const each of [gateway, other]) each.advance(1)
  const logins = await Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 ? gateway : other).login(ANA)))
  expect(new Set(logins.map(({ accessToken }) => kidOf(accessToken))).size).toBe(1)
  expect(await gateway.store.signingKeys()).toHaveLength(1)
})

test('a key published ahead signs only when its time has come', async () => {
  const gateway = await startGateway()
  const { accessToken } = await gateway.login(ANA)
  expect((await keysOf(gateway, 'rotate', '--sign-after', '600')).exitCode).toBe(0)
  gateway.advance(599)
  expect(kidOf((await gateway.login(ANA)).accessToken)).toBe(kidOf(accessToken))
  expect((await gateway.get('/.well-known/jwks.json')).json().keys).toHaveLength(2)
  expect((await listed(gateway)).map(({ state }) => state)).toEqual(['next', 'signing'])
  gateway.advance(1)
  expect(kidOf((await gateway.login(ANA)).accessToken)).not.toBe(kidOf(accessToken))
})

test('a retired signing key is replaced by an older key until the next one signs, or else by the next one', async () => {
  const gateway = await startGateway()
  const signer = async () => kidOf((await gateway.login(ANA)).accessToken) ?? ''
  const older = await signer()
  await keysOf(gateway, 'rotate')
  gateway.advance(1)
  const signing = await signer()
  await keysOf(gateway, 'rotate', '--sign-after', '600')
  const [next] = await listed(gateway)
  for (const [retired, successor] of [
    [signing, older],
    [older, next?.kid],
  ] as const) {
    expect((await keysOf(gateway, 'retire', retired, '--force')).exitCode).toBe(0)
    gateway.advance(1)
    expect(await signer()).toBe(successor)
    expect((await listed(gateway)).find(({ state }) => state === 'signing')?.kid).toBe(successor)
  }
})

test('a key that does not sign yet can be retired without --force', async () => {
  const gateway = await startGateway()
  await keysOf(gateway, 'rotate', '--sign-after', '600')
  const [next, signing] = await listed(gateway)
  expect((await keysOf(gateway, 'retire', next?.kid ?? '')).exitCode).toBe(0)
  expect(await listed(gateway)).toEqual([signing])
})

test('a key is needed from its first token to the end of its last token', () => {
  const at = (now: number) => standingsOf([{ createdAt: 100_000 }, { createdAt: 0 }], { now, accessTokenTtlSeconds: 9 })
  expect(at(99_999).map(({ state }) => state)).toEqual(['next', 'signing'])
  expect(at(100_000)).toEqual([
    { state: 'signing', neededUntil: null },
    { state: 'verifying', neededUntil: 170_000 },
  ])
  expect(at(169_999)[1]?.state).toBe('verifying')
  expect(at(170_000)[1]).toEqual({ state: 'spent', neededUntil: null })
})

describe('algorithms', () => {
  test.each(['EdDSA', 'ES256', 'RS256'] as const)(
    '%s tokens verify with the published keys and on another gateway',
    async (alg) => {
      const gateway = await startGateway({ tokenAlgorithm: alg })
      await gateway.load(SMALL_WORLD)
      const { accessToken } = await gateway.login(ANA)
      const jwks = await gateway.get('/.well-known/jwks.json')
      expect(jwks.json().keys[0]).toMatchObject({ alg, use: 'sig' })
      // Public members only: RFC 7518 sections 6.2.2 and 6.3.2.
      for (const name of ['d', 'p', 'q', 'dp', 'dq', 'qi']) expect(jwks.json().keys[0]).not.toHaveProperty(name)
      const { protectedHeader } = await jwtVerify(accessToken, createLocalJWKSet(jwks.json()), {
        issuer: 'test-issuer',
        algorithms: [alg],
        currentDate: new Date(gateway.now()),
      })
      expect(protectedHeader.alg).toBe(alg)
      // A gateway that has not issued the token verifies its signature as well.
      const other = await startGateway({ databasePath: gateway.databasePath })
      expect((await other.get('/projects', accessToken)).status).toBe(200)
      const [header, payload, signature = ''] = accessToken.split('.')
      const changed = `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
      expect((await other.get('/projects', changed)).status).toBe(401)
    },
  )

  test('a gateway started with another algorithm switches to it, and nobody is signed out', async () => {
    const first = await startGateway()
    await first.load(SMALL_WORLD)
    const { accessToken } = await first.login(ANA)
    first.advance(2)
    const second = await startGateway({ databasePath: first.databasePath, tokenAlgorithm: 'RS256' })
    second.advance(2)
    const third = await startGateway({ databasePath: first.databasePath, tokenAlgorithm: 'RS256' })
    third.advance(2)
    const newer = await second.login(ANA)
    expect(decodeProtectedHeader(newer.accessToken).alg).toBe('RS256')
    for (const gateway of [first, second, third]) {
      for (const token of [accessToken, newer.accessToken]) {
        expect((await gateway.get('/projects', token)).status).toBe(200)
      }
    }
    // Gateways that start together make one key, and gateways without the option use it too.
    expect((await listed(first)).map(({ algorithm }) => algorithm)).toEqual(['RS256', 'EdDSA'])
    expect(decodeProtectedHeader((await first.login(ANA)).accessToken).alg).toBe('RS256')
  })

  test('a key verifies its own algorithm and no other', async () => {
    const gateway = await startGateway({ tokenAlgorithm: 'RS256' })
    await gateway.load(SMALL_WORLD)
    const { accessToken } = await gateway.login(ANA)
    const { keys } = (await gateway.get('/.well-known/jwks.json')).json()
    const pem = createPublicKey({ key: keys[0], format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    const payload = accessToken.split('.')[1] ?? ''
    for (const alg of ['HS256', 'PS256', 'RS512', 'EdDSA', 'ES256', 'none']) {
      const header = Buffer.from(JSON.stringify({ alg, typ: 'at+jwt', kid: keys[0].kid })).toString('base64url')
      const hmac = createHmac('sha256', pem).update(`${header}.${payload}`).digest('base64url')
      for (const signature of [hmac, accessToken.split('.')[2], '']) {
        expect((await gateway.get('/projects', `${header}.${payload}.${signature}`)).status, alg).toBe(401)
      }
    }
  })
})

describe('encryption', () => {
  test('a secret is 32 bytes in base64, base64url or hexadecimal, and nothing else', () => {
    const bytes = randomBytes(32)
    for (const text of [
      bytes.toString('base64'),
      bytes.toString('base64url'),
      bytes.toString('hex'),
      `${bytes.toString('hex')}\n`,
    ]) {
      expect(Buffer.from(readSecret(text) ?? [])).toEqual(bytes)
    }
    for (const text of [
      '',
      'short',
      bytes.toString('hex').slice(1),
      randomBytes(31).toString('base64'),
      `${SECRET}x`,
    ]) {
      expect(readSecret(text), text).toBeNull()
    }
  })

  test('a sealed key opens only under its own kid and secret, and only unmodified', () => {
    const [secret, other] = [randomBytes(32), randomBytes(32)]
    const cipher = createKeyCipher([secret])
    const sealed = cipher.seal('kid', '{"d":"private"}')
    expect(sealed).not.toContain('private')
    expect(cipher.seal('kid', '{"d":"private"}')).not.toBe(sealed)
    expect(cipher.open('kid', sealed)).toBe('{"d":"private"}')
    expect(createKeyCipher([other, secret]).open('kid', sealed)).toBe('{"d":"private"}')
    const parts = sealed.split('.')
    const shortTag = [...parts.slice(0, 3), (parts[3] ?? '').slice(0, 6)].join('.')
    const attempts = [() => cipher.open('another', sealed), () => createKeyCipher([other]).open('kid', sealed)]
    for (const attempt of [
      ...attempts,
      () => createKeyCipher([]).open('kid', sealed),
      () => cipher.open('kid', shortTag),
    ]) {
      expect(attempt).toThrow(KeyUnreadableError)
    }
    expect([cipher.isCurrent('kid', sealed), createKeyCipher([other, secret]).isCurrent('kid', sealed)]).toEqual([
      true,
      false,
    ])
    expect([cipher.isCurrent('kid', '{}'), createKeyCipher([]).isCurrent('kid', '{}')]).toEqual([false, true])
  })

  test('a gateway with a secret never writes a key in clear to its files, and still publishes its keys', async () => {
    const cipher = createKeyCipher([randomBytes(32)])
    const gateway = await startGateway({ keyCipher: cipher })
    const { accessToken } = await gateway.login(ANA)
    const [stored] = await gateway.store.signingKeys()
    const { d } = JSON.parse(cipher.open(stored?.kid ?? '', stored?.privateJwk ?? ''))
    expect(filesWith(gateway, d)).toEqual([])
    const jwks = (await gateway.get('/.well-known/jwks.json')).json()
    await jwtVerify(accessToken, createLocalJWKSet(jwks), { currentDate: new Date(gateway.now()) })
  })

  test('a start with a secret warns of keys that are stored in clear, until they are encrypted', async () => {
    const database = ['--database', `file:${join(temporaryDirectory(), 'workspace.db')}`]
    const secretFile = join(temporaryDirectory(), 'secret')
    writeFileSync(secretFile, `${SECRET}\n`)
    const encryption = [...database, '--key-encryption-key-file', secretFile]
    const logOf = async (args: readonly string[]) => {
      const serving = await serveHereForTest(args)
      await serving.kill('SIGTERM')
      return serving.stderr()
    }
    expect(await logOf(database)).not.toContain('stored unencrypted')
    expect(await logOf(encryption)).toContain('signing keys are stored unencrypted')
    expect((await runHere(['keys', 'encrypt', ...encryption])).exitCode).toBe(0)
    expect(await logOf(encryption)).not.toContain('stored unencrypted')
  })

  test('keys encrypt removes clear keys from the files while a gateway serves, and nobody is signed out', async () => {
    const gateway = await startGateway({ tokenAlgorithm: 'RS256' })
    await gateway.load(SMALL_WORLD)
    for (const name of ['EdDSA', 'ES256']) await keysOf(gateway, 'rotate', '--token-algorithm', name)
    const { accessToken } = await gateway.login(ANA)
    const clear = await gateway.store.signingKeys()
    expect(clear).toHaveLength(3)
    const secrets = clear.map(({ privateJwk }) => JSON.parse(privateJwk).d as string)
    for (const d of secrets) expect(filesWith(gateway, d)).not.toEqual([])
    const secretFile = join(temporaryDirectory(), 'secret')
    writeFileSync(secretFile, `${SECRET}\n`)
    const done = await keysOf(gateway, 'encrypt', '--key-encryption-key-file', secretFile)
    expect([done.exitCode, done.stdout]).toEqual([0, '3 keys encrypted\n'])
    for (const d of secrets) expect(filesWith(gateway, d)).toEqual([])
    expect((await keysOf(gateway, 'encrypt', '--key-encryption-key-file', secretFile)).stdout).toBe(
      '0 keys encrypted\n',
    )
    expect((await gateway.get('/projects', accessToken)).status).toBe(200)
    // A second secret replaces the first.
    const other = randomBytes(32).toString('hex')
    writeFileSync(secretFile, `${other},${SECRET}`)
    expect((await keysOf(gateway, 'encrypt', '--key-encryption-key-file', secretFile)).stdout).toBe(
      '3 keys encrypted\n',
    )
    writeFileSync(secretFile, other)
    const shown = await keysOf(gateway, 'list', '--key-encryption-key-file', secretFile)
    expect(shown.stdout.match(/encrypted/g)).toHaveLength(3)
    for (const d of secrets) expect(shown.stdout).not.toContain(d)
  })

  test('a retired key is gone from the files too', async () => {
    const gateway = await startGateway()
    const [stored] = await gateway.store.signingKeys()
    const { d } = JSON.parse(stored?.privateJwk ?? '')
    await keysOf(gateway, 'rotate')
    expect((await keysOf(gateway, 'retire', stored?.kid ?? '', '--force')).exitCode).toBe(0)
    expect(filesWith(gateway, d)).toEqual([])
  })

  test('a key that is retired or encrypted beside a reader is reported as left in the files', async () => {
    const gateway = await startGateway()
    const [stored] = await gateway.store.signingKeys()
    const { kid = '', privateJwk = '' } = stored ?? {}
    const { d } = JSON.parse(privateJwk)
    const reader = new Database(gateway.databasePath)
    const read = () => reader.exec('begin; select 1 from user')
    read()
    const secretFile = join(temporaryDirectory(), 'secret')
    writeFileSync(secretFile, SECRET)
    const sealed = await keysOf(gateway, 'encrypt', '--key-encryption-key-file', secretFile, '--lock-timeout', '50')
    expect([sealed.exitCode, sealed.stdout]).toEqual([1, '1 key encrypted\n'])
    const retired = await keysOf(gateway, 'retire', kid, '--force', '--lock-timeout', '50')
    expect([retired.exitCode, retired.stdout]).toEqual([1, `${kid} was removed\n`])
    for (const { stderr } of [sealed, retired]) {
      expect(stderr).toMatch(
        /^the private part may still be in the files of the database \(.+ is reading from it\): run vacuum --full/,
      )
      expect(stderr).not.toContain(d)
    }
    expect(await gateway.store.signingKeys()).toEqual([])
    expect(filesWith(gateway, d)).not.toEqual([])
    const { stdout } = await runHere(['audit', '--database', gateway.databaseUrl])
    for (const kind of ['keysEncrypted', 'keyRetired']) expect(stdout).toContain(kind)
    // The command that the message names helps.
    reader.close()
    expect((await runHere(['vacuum', '--full', '--database', gateway.databaseUrl])).exitCode).toBe(0)
    expect(filesWith(gateway, d)).toEqual([])
  })

  test('serve refuses to start with a wrong, missing, malformed or command-line secret, and says why', async () => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const serving = await serveForTest(['--database', database], { env: { [KEY_ENV]: SECRET } })
    using client = createClient(serving.url)
    await requireSession(client, ANA)
    await serving.kill('SIGTERM')
    const wrong = Buffer.alloc(32, 8).toString('base64')
    const cases: [args: string[], env: Record<string, string>, says: string][] = [
      [[], { [KEY_ENV]: wrong }, 'is encrypted with another key than the one that is given'],
      [[], {}, `no key to decrypt it is given: give the key that it was encrypted with, with ${KEY_ENV}`],
      [[], { [KEY_ENV]: 'broken-secret' }, 'must be 32 bytes in base64 or hexadecimal'],
      [['--key-encryption-key', SECRET], {}, `cannot be given as an argument: set ${KEY_ENV}`],
      [['--key-encryption-key-file', '/nowhere'], {}, 'cannot read /nowhere'],
      [['--key-encryption-key-file', '/nowhere'], { [KEY_ENV]: SECRET }, 'give only one of them'],
    ]
    for (const [args, env, says] of cases) {
      const { exitCode, stderr } = await run(['serve', '--port', '0', '--database', database, ...args], { env })
      expect([exitCode, stderr], says).toEqual([2, expect.stringContaining(says)])
      for (const secret of [SECRET, wrong, 'broken-secret']) expect(stderr).not.toContain(secret)
    }
    const { stdout } = await run(['serve', '--help'])
    expect(stdout).toContain(KEY_ENV)
    expect(stdout).not.toMatch(/^ {2}--key-encryption-key </m)
  })

  test('an unreadable key that is added while serving is skipped and reported once', async () => {
    const gateway = await startGateway()
    await gateway.load(SMALL_WORLD)
    const { accessToken } = await gateway.login(ANA)
    const keyset = await openTestKeyset(gateway, { cipher: createKeyCipher([randomBytes(32)]) })
    const { kid } = await keyset.signingKey()
    const secretFile = join(temporaryDirectory(), 'secret')
    writeFileSync(secretFile, SECRET)
    expect((await keysOf(gateway, 'rotate', '--key-encryption-key-file', secretFile)).exitCode).toBe(0)
    for (const _ of [1, 2]) {
      // The keys are read again.
      gateway.advance(2)
      expect(kidOf((await gateway.login(ANA)).accessToken)).toBe(kid)
    }
    expect((await gateway.get('/projects', accessToken)).status).toBe(200)
    expect(gateway.reported).toEqual([expect.any(KeyUnreadableError)])
  })

  test('the log names an unreadable key, and no request: none has failed', async () => {
    const gateway = await startGateway()
    const serving = await serveForTest(['--database', gateway.databaseUrl])
    const secretFile = join(temporaryDirectory(), 'secret')
    writeFileSync(secretFile, SECRET)
    const rotate = ['keys', 'rotate', '--database', gateway.databaseUrl, '--key-encryption-key-file', secretFile]
    expect((await runHere(rotate)).exitCode).toBe(0)
    const lineOf = () => /^.*"a signing key cannot be read: .*$/m.exec(serving.stderr())?.[0] ?? 'null'
    await expect
      .poll(async () => {
        expect((await ask(`${serving.url}/.well-known/jwks.json`)).status).toBe(200)
        return JSON.parse(lineOf())
      })
      .toMatchObject({ level: 50, err: { name: 'KeyUnreadableError', message: expect.stringContaining('no key to') } })
    expect(JSON.parse(lineOf())).not.toHaveProperty('requestId')
    expect(serving.stderr()).not.toContain('a request failed')
  })
})

test('a damaged key is named but not quoted, skipped while serving, and removed by the suggested command', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const [damaged, kid] = ['-damaged', kidOf((await gateway.login(ANA)).accessToken)]
  const database = new Database(gateway.databasePath)
  const [before] = database.prepare('select private_jwk as jwk from signing_key').all() as readonly { jwk: string }[]
  // The damaged text begins with the secret, because parser errors often quote the beginning.
  const secret = (JSON.parse(before?.jwk ?? '') as { d: string }).d
  const text = before?.jwk.slice(before.jwk.indexOf(secret))
  database.prepare('insert into signing_key select ?, ?, created_at + 1 from signing_key').run(damaged, text)
  database.close()
  gateway.advance(2_000)
  for (const _ of [1, 2]) expect(kidOf((await gateway.login(ANA)).accessToken)).toBe(kid)
  expect(gateway.reported).toEqual([expect.any(KeyUnreadableError)])

  const { exitCode, stderr } = await runHere(['serve', '--port', '0', '--database', gateway.databaseUrl])
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`the signing key ${damaged} is damaged`)])
  const doctor = await runHere(['doctor', '--database', gateway.databaseUrl])
  for (const told of [stderr, doctor.stdout]) expect(told).not.toContain(secret.slice(0, 4))
  const told = /`workspace-gateway (.+)`/.exec(stderr)?.[1]
  const recommended = /run: workspace-gateway (.+)/.exec(doctor.stdout)?.[1] ?? ''
  expect(recommended.replace(` --database ${gateway.databaseUrl}`, '')).toBe(told)
  const retired = await runHere(recommended.split(' '), { clock: gateway.now })
  expect([retired.exitCode, retired.stdout]).toEqual([0, `${damaged} was removed\n`])
  expect((await listed(gateway)).map(({ kid }) => kid)).not.toContain(damaged)
})

/** Returns the files of the database that contain the text. */
function filesWith({ databasePath }: TestGateway, text: string): string[] {
  const directory = join(databasePath, '..')
  return readdirSync(directory).filter((file) => readFileSync(join(directory, file)).includes(text))
}

test('no key has an id that the command line would take for an option', async () => {
  const made = Array.from({ length: 1000 }, () => createSigningKey('EdDSA', 0, createKeyCipher([])))
  const ids = (await Promise.all(made)).map(({ kid }) => kid)
  expect(ids.filter((kid) => kid.startsWith('-'))).toEqual([])
})
