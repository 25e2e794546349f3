// Tests that the options of `serve` about login guards reach the guards: each one changes whom the guard admits.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere, serveHereForTest } from '../support/command-line.ts'
import { postJson } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { mint, newKey, toJwk } from '../support/signed-assertions.ts'
import { startMailServer } from '../support/smtp.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA } from '../support/workspaces.ts'

test.each([
  [[], 'done'],
  [['--mail-domains', 'example.org,example.com'], 'done'],
  [['--mail-domains', 'example.org'], 'refused'],
  [['--mail-known-users-only'], 'refused'],
  [['--mail-limit-address', '0'], 'refused'],
  [['--mail-limit-network', '0'], 'refused'],
  [['--mail-limit-total', '0'], 'refused'],
])('with %j, the request of an unknown user for a code is %s', async (options, result) => {
  const server = await startMailServer()
  const database = ['--database', `file:${join(temporaryDirectory(), 'workspace.db')}`]
  const mail = ['--login-guard', 'mail', '--mail-url', server.url, '--mail-from', 'a@example.com', '--mail-tls', 'off']
  const { url, kill } = await serveHereForTest([...database, ...mail, ...options])
  expect((await postJson(`${url}/login`, { email: ANA })).json().code).toBe('LOGIN_CODE_SENT')
  const requests = async () => (await runHere(['audit', '--kind', 'codeRequest', ...database])).stdout
  // Each look opens the database.
  await expect.poll(requests, { interval: 250 }).not.toBe('')
  expect(JSON.parse(await requests())).toMatchObject({ result })
  if (result === 'done') expect((await server.mail(0)).to).toBe(ANA)
  await kill('SIGTERM')
  expect(server.mails).toHaveLength(result === 'done' ? 1 : 0)
})

test('a login with a wrong code has two audit entries, and is one refused login', async () => {
  const database = ['--database', `file:${join(temporaryDirectory(), 'workspace.db')}`]
  const mail = ['--login-guard', 'mail', '--mail-url', 'smtp://127.0.0.1:9', '--mail-from', 'a@example.com']
  const { url, kill } = await serveHereForTest([...database, ...mail])
  expect((await postJson(`${url}/login`, { email: ANA, code: 'K7QM2P9D' })).json().code).toBe('LOGIN_CODE_WRONG')
  await kill('SIGTERM')
  const { stdout } = await runHere(['audit', ...database])
  const refused = jsonLines(stdout).filter(({ result }) => result === 'refused')
  expect(refused.map(({ kind, detail }) => `${kind}: ${detail}`)).toEqual([
    'code: wrong code',
    'login: LOGIN_CODE_WRONG',
  ])
})

test('assertions are read and refused as the options say', async () => {
  const directory = temporaryDirectory()
  const [key, other] = [newKey('ES256'), newKey('RS256')]
  const keys = join(directory, 'keys.json')
  writeFileSync(keys, JSON.stringify({ keys: [key, other].map(toJwk) }))
  const { url } = await serveHereForTest([
    ...['--database', `file:${join(directory, 'workspace.db')}`, '--login-guard', 'assertion'],
    ...['--assertion-preset', 'oidc', '--assertion-issuer', 'https://id.example.com'],
    ...[
      '--assertion-audience',
      'another,workspace',
      '--assertion-keys',
      keys,
      '--assertion-algorithms',
      'Ed25519,ES256',
    ],
    ...['--assertion-header', 'X-Identity', '--assertion-email-claim', 'mail'],
    ...['--assertion-email-verified', 'if-present', '--assertion-max-age', '60', '--assertion-leeway', '10'],
  ])
  const seconds = Math.floor(Date.now() / 1_000)
  const claims = {
    iss: 'https://id.example.com',
    aud: 'workspace',
    sub: '1',
    mail: ANA,
    iat: seconds,
    exp: seconds + 600,
  }
  const login = async (token: string, header = 'x-identity') =>
    (await postJson(`${url}/login`, { email: ANA }, { [header]: token })).status
  expect(await login(mint(key, { claims }))).toBe(200)
  const refused = [
    await login(mint(key, { claims }), 'authorization'),
    await login(mint(other, { claims })),
    await login(mint(key, { claims: { ...claims, iss: 'https://other.example.com' } })),
    await login(mint(key, { claims: { ...claims, aud: 'third' } })),
    await login(mint(key, { claims: { ...claims, mail: undefined, email: ANA } })),
    await login(mint(key, { claims: { ...claims, email_verified: false } })),
    // Within the lifetime of the token, and within the default of the option.
    await login(mint(key, { claims: { ...claims, iat: seconds - 100 } })),
    await login(mint(key, { claims: { ...claims, exp: seconds - 15 } })),
  ]
  expect(refused).toEqual(refused.map(() => 403))
})
