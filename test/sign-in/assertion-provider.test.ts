// Tests the guard `assertion` against a real OpenID provider.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import Provider from 'oidc-provider'
import { expect, test } from 'vitest'
import { serveForTest } from '../support/command-line.ts'
import { listenForTest } from '../support/listen-for-test.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const REDIRECT = 'https://app.example.com/signed-in'

interface TestProvider {
  readonly issuer: string
  /** Signs this user in as a browser would and returns the ID token for the client. */
  readonly idToken: (email: string, clientId: string) => Promise<string>
}

/**
 * Starts a real OpenID provider whose users need no password. An email that begins with `unverified` is not verified.
 */
async function startProvider(clients: readonly string[]): Promise<TestProvider> {
  const server = createServer()
  const issuer = await listenForTest(server)
  const provider = new Provider(issuer, {
    clients: clients.map((client_id) => ({
      client_id,
      redirect_uris: [REDIRECT],
      response_types: ['id_token'],
      grant_types: ['implicit'],
      token_endpoint_auth_method: 'none',
    })),
    responseTypes: ['id_token'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    cookies: { keys: [randomUUID()] },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: sub, email_verified: !sub.startsWith('unverified') }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId })
      grant.addOIDCScope('openid email')
      await grant.save()
      return grant
    },
  })
  const handle = provider.callback()
  let signingIn = ''
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) void handle(request, response)
    else void provider.interactionFinished(request, response, { login: { accountId: signingIn } })
  })
  return {
    issuer,
    async idToken(email, clientId) {
      signingIn = email
      const query = new URLSearchParams({
        client_id: clientId,
        redirect_uri: REDIRECT,
        response_type: 'id_token',
        scope: 'openid email',
        nonce: randomUUID(),
      })
      const cookies = new Map<string, string>()
      let at = `${issuer}/auth?${query}`
      while (!at.startsWith(REDIRECT)) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
        const response = await fetch(at, { redirect: 'manual', headers: { cookie } })
        for (const set of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
          cookies.set(name, value)
        }
        const next = response.headers.get('location')
        if (next === null) throw new Error(`the provider answered ${response.status}: ${await response.text()}`)
        at = new URL(next, at).href
      }
      return new URLSearchParams(new URL(at).hash.slice(1)).get('id_token') ?? at
    },
  }
}

test('an ID token of a real OpenID provider signs in its own user and nobody else, with three options', async () => {
  const provider = await startProvider(['workspace', 'another'])
  const { url } = await serveForTest(
    [
      ...['--login-guard', 'assertion', '--assertion-preset', 'oidc', '--no-demo'],
      ...['--assertion-issuer', provider.issuer, '--assertion-audience', 'workspace'],
    ],
    { cwd: temporaryDirectory() },
  )
  const login = async (token: string, email: string) => {
    const response = await fetch(`${url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ email }),
    })
    return { status: response.status, text: await response.text() }
  }
  const token = await provider.idToken('ana@example.com', 'workspace')
  expect(await login(token, 'ana@example.com')).toMatchObject({
    status: 200,
    text: expect.stringContaining('refreshToken'),
  })
  const refused = [
    await login(token, 'ben@example.com'),
    await login(await provider.idToken('ana@example.com', 'another'), 'ana@example.com'),
    await login(await provider.idToken('unverified@example.com', 'workspace'), 'unverified@example.com'),
    await login(`${token.slice(0, -6)}AAAAAA`, 'ana@example.com'),
    await login('', 'ana@example.com'),
  ]
  for (const { status, text } of refused) {
    expect([status, JSON.parse(text).code]).toEqual([403, 'LOGIN_REFUSED'])
    expect(text).not.toContain(token)
  }
  const graphql = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: 'mutation { login(email: "ana@example.com") { refreshToken } }' }),
  })
  expect(await graphql.json()).toMatchObject({ data: { login: { refreshToken: expect.stringMatching(/^wgr_/) } } })
})
