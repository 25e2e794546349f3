// An HTTP client for a gateway in another process, with keep-alive connections of its own.
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface ClientAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface Session {
  readonly accessToken: string
  readonly refreshToken: string
}

/** Every answer is complete: when the connection breaks before the end of the body, the promise rejects. */
export interface Client extends Disposable {
  readonly login: (email: string) => Promise<ClientAnswer>
  readonly refresh: (refreshToken: string) => Promise<ClientAnswer>
  readonly logout: (refreshToken: string) => Promise<ClientAnswer>
  readonly get: (path: string, accessToken?: string, headers?: Record<string, string>) => Promise<ClientAnswer>
  readonly graphql: (query: string, accessToken: string, headers?: Record<string, string>) => Promise<ClientAnswer>
  /** How many connections have been opened so far. */
  readonly connectionsOpened: () => number
}

export function createClient(url: string, { connections = 1 } = {}): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let connectionsOpened = 0

  function send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: object | null,
  ): Promise<ClientAnswer> {
    const bytes = body === null ? null : Buffer.from(JSON.stringify(body))
    const content = bytes ? { 'content-type': 'application/json', 'content-length': bytes.byteLength } : {}
    const { promise, resolve, reject } = Promise.withResolvers<ClientAnswer>()
    const outgoing = request(`${url}${path}`, { agent, method, headers: { ...content, ...headers } })
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      if (!outgoing.reusedSocket) connectionsOpened += 1
      text(incoming).then(
        (whole) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text: whole }),
        reject,
      )
    })
    outgoing.end(bytes)
    return promise
  }

  return {
    login: (email) => send('POST', '/login', {}, { email }),
    refresh: (refreshToken) => send('POST', '/token', {}, { refreshToken }),
    logout: (refreshToken) => send('DELETE', '/logout', {}, { refreshToken }),
    get: (path, accessToken, headers = {}) => send('GET', path, { ...authorization(accessToken), ...headers }, null),
    graphql: (query, accessToken, headers = {}) =>
      send('POST', '/graphql', { ...authorization(accessToken), ...headers }, { query }),
    connectionsOpened: () => connectionsOpened,
    [Symbol.dispose]: () => agent.destroy(),
  }
}

/** Logs in and returns the session; throws if the login fails. */
export async function requireSession(client: Client, email: string): Promise<Session> {
  const answer = await client.login(email)
  if (answer.status !== 200) throw new Error(`login was answered ${answer.status}: ${answer.text}`)
  return readSession(answer)
}

export function readSession({ text }: ClientAnswer): Session {
  const { accessToken, refreshToken } = JSON.parse(text) as Session
  return { accessToken, refreshToken }
}

function authorization(accessToken: string | undefined): Record<string, string> {
  return accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }
}
