// Tests that options of `serve` change what a gateway does: its tokens, its sessions, its limits and its
// records.
import { join } from 'node:path'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { runHere, serveHereForTest } from '../support/command-line.ts'
import { ask, bearer, openSession, postJson } from '../support/gateway.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { exchange, readAnswers } from '../support/wire.ts'
import { ANA, documentLine } from '../support/workspaces.ts'

const DAY_MS = 86_400_000

const newDatabase = () => ['--database', `file:${join(temporaryDirectory(), 'workspace.db')}`]

test('access tokens have the issuer, audience, lifetime and algorithm of the options', async () => {
  const names = ['--issuer', 'https://issuer.example.com', '--audience', 'an-audience']
  const { url } = await serveHereForTest([
    ...newDatabase(),
    ...names,
    ...['--access-token-ttl', '1234', '--token-algorithm', 'ES256'],
  ])
  const { accessToken } = await openSession(url, ANA)
  const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`))
  const { payload, protectedHeader } = await jwtVerify(accessToken, keys)
  expect(payload).toMatchObject({ iss: 'https://issuer.example.com', aud: 'an-audience' })
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(1_234)
  expect(protectedHeader.alg).toBe('ES256')
  // Its own tokens are those that it accepts: nothing is stored for this email.
  expect((await ask(`${url}/projects`, { headers: bearer(accessToken) })).status).toBe(404)
})

test.each(['--refresh-idle-ttl', '--refresh-absolute-ttl'])('%s ends sessions', async (option) => {
  const database = newDatabase()
  const { url } = await serveHereForTest([...database, option, '4000'])
  await openSession(url, ANA)
  const { stdout } = await runHere(['sessions', 'list', '--json', ...database])
  const { createdAt, expiresAt } = JSON.parse(stdout)
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(4_000_000)
})

test('--sessions-per-user ends the least recently used session, and --audit-retention 0 records nothing', async () => {
  const database = newDatabase()
  const flags = ['--sessions-per-user', '2', '--audit-retention', '0']
  const { url, kill } = await serveHereForTest([...database, ...flags])
  const sessions = [await openSession(url, ANA), await openSession(url, ANA), await openSession(url, ANA)]
  const refreshed = []
  for (const { refreshToken } of sessions) refreshed.push((await postJson(`${url}/token`, { refreshToken })).status)
  expect(refreshed).toEqual([401, 200, 200])
  await kill('SIGTERM')
  expect((await runHere(['audit', ...database])).stdout).toBe('')
})

test('--ledger-retention says how long REST calls stay in the ledger', async () => {
  const path = join(temporaryDirectory(), 'workspace.db')
  const now = Date.now()
  const [day, lastSeen] = [new Date(now - 10 * DAY_MS).toISOString().slice(0, 10), now]
  await using store = await openTestStore(path)
  const calls = [{ day, route: 'GET /projects', client: 'web', count: 1, lastSeen }]
  await store.addRestCalls({ writer: 'another gateway', sequence: 1, calls })
  const daysAfter = async (retention: string) => {
    const { kill } = await serveHereForTest(['--database', `file:${path}`, '--ledger-retention', retention])
    await kill('SIGTERM')
    return store.restCallDays('', 9)
  }
  expect(await daysAfter('20d')).toEqual([day])
  expect(await daysAfter('5d')).toEqual([])
})

test('pages of --cors-origin can read why a request was refused before it was read', async () => {
  const malformed = 'GET / HTTP/x\r\n\r\n'
  const originOf = async (...options: readonly string[]) => {
    const { url } = await serveHereForTest([...newDatabase(), ...options])
    const [answer] = readAnswers(await exchange(url, malformed))
    expect(answer?.status).toBe(400)
    return answer?.headers.get('access-control-allow-origin')
  }
  expect(await originOf()).toBeNull()
  expect(await originOf('--cors-origin', 'https://app.example.com')).toBe('*')
})

test('requests and GraphQL answers are at most as large as the options say', async () => {
  const database = newDatabase()
  const long = documentLine('template', ANA, JSON.stringify({ id: 't', text: 'x'.repeat(1_024) }))
  await runHere(['import', '-', ...database], { stdin: long })
  const limits = ['--body-limit', '256', '--graphql-max-response-bytes', '1024']
  const { url } = await serveHereForTest([...database, ...limits])
  const { accessToken } = await openSession(url, ANA)
  const send = (query: string) => postJson(`${url}/graphql`, { query }, bearer(accessToken))
  expect((await send('{ me { email } }')).json()).toEqual({ data: { me: { email: ANA } } })
  expect((await send('{ me { templates { data } } }')).json()).toMatchObject({
    errors: [{ extensions: { code: 'RESPONSE_TOO_LARGE' } }],
  })
  expect((await send(`{ me { email } } #${'x'.repeat(256)}`)).status).toBe(413)
})

test('GraphQL documents that are sent again are kept, and none with --graphql-document-bytes 0', async () => {
  const database = newDatabase()
  await runHere(['import', '-', ...database], { stdin: documentLine('template', ANA, '{"id":"t"}') })
  const query = 'query($first: Int) { me { templates(first: $first) { name } } }'
  const planOf = async (...options: readonly string[]) => {
    const { url } = await serveHereForTest([...database, ...options])
    const headers = { ...bearer((await openSession(url, ANA)).accessToken), 'gateway-trace': '1' }
    // Other variables each time, since whole answers are kept, too.
    const send = (first: number) => postJson(`${url}/graphql`, { query, variables: { first } }, headers)
    for (const first of [1, 2]) await send(first)
    return (await send(3)).headers.get('gateway-trace')
  }
  expect(await planOf()).toBe('plan=kept, reply=made')
  expect(await planOf('--graphql-document-bytes', '0')).toBe('plan=new, reply=made')
})

test('GraphQL documents are limited as the options say, and names are suggested to whom they say', async () => {
  const limits = { depth: 3, aliases: 1, 'root-fields': 2, directives: 1, fields: 6 }
  const { url } = await serveHereForTest([
    ...newDatabase(),
    ...Object.entries(limits).flatMap(([name, limit]) => [`--graphql-max-${name}`, String(limit)]),
    ...['--graphql-suggestions', 'everyone'],
  ])
  const refusalOf = async (query: string) => (await postJson(`${url}/graphql`, { query })).json().errors[0].message
  expect(await refusalOf('{ me { projects { latestExport { createdAt } } } }')).toContain('levels of fields')
  expect(await refusalOf('{ a: me { b: email } }')).toContain('aliases')
  expect(await refusalOf('{ me { email } __typename a: __typename }')).toContain('fields at its root')
  const skipped = '@skip(if: true)'
  expect(await refusalOf(`{ me ${skipped} { email } __typename ${skipped} }`)).toContain('directives')
  expect(await refusalOf('{ me { email projects { id name framework } templates { id } } }')).toContain('expanded')
  expect(await refusalOf('{ me { emial } }')).toContain('Did you mean "email"?')
})

test.each([
  ['--graphql-max-objects', '6'],
  ['--graphql-max-read-bytes', '8192'],
  ['--graphql-max-held-bytes', '8192'],
])('%s limits what a GraphQL request reads', async (option, limit) => {
  const database = newDatabase()
  const lines = Array.from({ length: 12 }, (_, index) =>
    documentLine('template', ANA, JSON.stringify({ id: `t${index}`, text: 'x'.repeat(1_024) })),
  )
  await runHere(['import', '-', ...database], { stdin: lines.join('') })
  const { url } = await serveHereForTest([...database, option, limit])
  const { accessToken } = await openSession(url, ANA)
  const answerTo = async (query: string) =>
    (await postJson(`${url}/graphql`, { query }, bearer(accessToken))).json().errors?.[0].extensions.code ?? null
  expect(await answerTo('{ me { templates(first: 1) { data } } }')).toBeNull()
  expect(await answerTo('{ me { templates { data } } }')).toBe('RESPONSE_TOO_LARGE')
})
