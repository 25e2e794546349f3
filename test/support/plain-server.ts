// A server of the contract as somebody else might have written it: plain, without entity tags by default, with the
// error bodies of its framework. Others move in from it, a proxy is compared with it, and it can be broken on purpose.
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { PlainFault } from './plain-faults.ts'
import { type PlainWorkspace, plainWorkspaces } from './plain-workspaces.ts'

export interface PlainServerOptions {
  /** The data of its users: import records, as `dump` writes them. */
  readonly records: string
  /** A prefix of every path, such as `/v1`. */
  readonly basePath?: string
  /** Sends weak entity tags, and 304 when one matches. */
  readonly hasEtags?: boolean
  /** Sends `Last-Modified` with exports. */
  readonly hasLastModified?: boolean
  /** Answers 404 for an empty list. */
  readonly areEmptyLists404?: boolean
  readonly accessTokenTtlSeconds?: number
  /** The status for a read with an invalid access token; 401 by default. */
  readonly refusedTokenStatus?: 401 | 403
  /** `POST /token` uses up the refresh token and returns a new one. */
  readonly rotatesRefreshTokens?: boolean
  /** A login ends the earlier session of its user, whose access tokens are refused from then on. */
  readonly hasOneSessionPerUser?: boolean
  /** The content coding of every body, whether the client accepts it or not. */
  readonly coding?: keyof typeof CODERS
  /** Every body in JSON begins with a byte order mark. */
  readonly hasByteOrderMark?: boolean
  readonly faults?: readonly PlainFault[]
  /** Sees a request before the server does; returns true if it has answered, or will. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean
}

export interface SeenRequest {
  readonly method: string
  /** With the query string, without the base path. */
  readonly path: string
  readonly status: number
}

export interface PlainServer extends AsyncDisposable {
  /** Includes the base path. */
  readonly url: string
  /** Keyed by the email of the records; a test may change it while the server runs. */
  readonly workspaces: Map<string, PlainWorkspace>
  /** Every request that was answered since the start. */
  readonly requests: readonly SeenRequest[]
  /** How many refresh tokens are valid. */
  readonly openSessions: () => number
  /** The body that the user reads now; null if the answer is 404. */
  readonly expected: (email: string, path: string) => string | null
  readonly setFaults: (faults: readonly PlainFault[]) => void
  readonly setIntercept: (intercept: PlainServerOptions['intercept'] | null) => void
  /** As after kill -9: every connection is reset and the port refuses new ones. Sessions are kept by default. */
  readonly kill: (options?: { readonly forgetsSessions?: boolean }) => Promise<void>
  /** Listens again on the same port. */
  readonly restart: () => Promise<void>
}

interface Reply {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Buffer
}

const JSON_TYPE = 'application/json; charset=utf-8'
const CODERS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, zstd: zstdCompressSync } as const
const NOT_MODIFIED: Reply = { status: 304, headers: {}, body: '' }
const LISTS = { '/projects': 'projects', '/templates': 'templates', '/ui-libraries': 'uiLibraries' } as const

export async function startPlainServer(options: PlainServerOptions): Promise<PlainServer> {
  const {
    basePath = '',
    hasEtags = false,
    hasLastModified = false,
    areEmptyLists404 = false,
    accessTokenTtlSeconds = 900,
    refusedTokenStatus = 401,
    rotatesRefreshTokens = false,
    hasOneSessionPerUser = false,
    coding,
    hasByteOrderMark = false,
  } = options
  const workspaces = plainWorkspaces(options.records)
  const secret = randomBytes(32)
  const requests: SeenRequest[] = []
  /** Both map a token to an email. */
  const sessions = new Map<string, string>()
  const opaque = new Map<string, string>()
  /** The access tokens of ended sessions, and those of the open session by email: only with one session per user. */
  const ended = new Set<string>()
  const current = new Map<string, readonly string[]>()
  let faults = new Set(options.faults)
  let intercept = options.intercept ?? null
  let lastEmail = ''
  let server = await listen(0)
  const { port } = server.address() as AddressInfo

  async function listen(onPort: number): Promise<Server> {
    const listening = createServer((request, response) => {
      response.on('finish', () =>
        requests.push({ method: request.method ?? '', path: pathOf(request), status: response.statusCode }),
      )
      if (intercept?.(request, response)) return
      answer(request)
        .catch((error: Error) => failure(500, error))
        .then((reply) => (hasByteOrderMark ? marked(reply) : reply))
        .then((reply) => (coding ? coded(reply, coding) : reply))
        .then(({ status, headers, body }) => {
          response.writeHead(status, { 'X-Powered-By': 'Express', ...headers })
          response.end(request.method === 'HEAD' ? undefined : body)
        })
    })
    listening.listen(onPort, '127.0.0.1')
    await once(listening, 'listening')
    return listening
  }

  function pathOf(request: IncomingMessage): string {
    return (request.url ?? '').slice(basePath.length)
  }

  async function answer(request: IncomingMessage): Promise<Reply> {
    const { pathname, searchParams } = new URL(pathOf(request), 'http://localhost')
    const route = `${request.method} ${pathname}`
    const isSessionRoute = route === 'POST /login' || route === 'POST /token' || route === 'DELETE /logout'
    if (isSessionRoute) {
      const body = await readJson(request)
      if (body === undefined) return failure(400, new SyntaxError('Unexpected token in JSON'))
      if (route === 'POST /login') return login(body)
      return route === 'POST /token' ? renew(body) : logout(body)
    }
    const isRead = pathname in LISTS || pathname === '/exports'
    const isHead = request.method === 'HEAD' && !faults.has('head-is-404')
    if (isRead && (request.method === 'GET' || isHead)) return read(request, pathname, searchParams.get('r'))
    const body = `<!DOCTYPE html>\n<pre>Cannot ${request.method} ${pathname}</pre>\n`
    return { status: 404, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body }
  }

  async function readJson(request: IncomingMessage): Promise<Record<string, unknown> | undefined> {
    const body = await text(request)
    if (body === '' || (request.method === 'DELETE' && faults.has('delete-loses-its-body'))) return {}
    try {
      return Object(JSON.parse(body))
    } catch {
      return undefined
    }
  }

  function login({ email }: Record<string, unknown>): Reply {
    const isGiven = typeof email === 'string' && email.includes('@')
    if (!isGiven && !faults.has('login-needs-no-email')) return failure(400, new Error('email is required'))
    lastEmail = isGiven ? email : lastEmail
    const refreshToken = randomBytes(24).toString('hex')
    if (hasOneSessionPerUser) endSessionsOf(lastEmail)
    sessions.set(refreshToken, lastEmail)
    const accessToken = issue(lastEmail)
    const status = faults.has('login-is-201') ? 201 : 200
    return json(status, faults.has('login-lacks-refresh-token') ? { accessToken } : { accessToken, refreshToken })
  }

  function renew({ refreshToken }: Record<string, unknown>): Reply {
    const email = emailOf(refreshToken) ?? (faults.has('token-takes-anything') ? lastEmail : undefined)
    if (email === undefined) return refusal(refreshToken)
    if (faults.has('refresh-token-works-once')) sessions.delete(String(refreshToken))
    const status = faults.has('token-is-201') ? 201 : 200
    if (!rotatesRefreshTokens) return json(status, { accessToken: issue(email) })
    sessions.delete(String(refreshToken))
    const next = randomBytes(24).toString('hex')
    sessions.set(next, email)
    return json(status, { accessToken: issue(email), refreshToken: next })
  }

  function logout({ refreshToken }: Record<string, unknown>): Reply {
    const email = emailOf(refreshToken)
    if (email === undefined && !faults.has('logout-takes-anything')) return refusal(refreshToken)
    if (!faults.has('logout-ends-nothing')) sessions.delete(String(refreshToken))
    if (faults.has('logout-ends-all') && email !== undefined) endSessionsOf(email)
    if (faults.has('logout-is-204')) return { status: 204, headers: {}, body: '' }
    return json(200, { message: 'Logout successful' })
  }

  function endSessionsOf(email: string): void {
    for (const [token, owner] of sessions) if (owner === email) sessions.delete(token)
    for (const token of current.get(email) ?? []) ended.add(token)
    current.delete(email)
  }

  function emailOf(refreshToken: unknown): string | undefined {
    return typeof refreshToken === 'string' ? sessions.get(refreshToken) : undefined
  }

  function refusal(refreshToken: unknown): Reply {
    const status = refreshToken !== undefined && faults.has('bad-refresh-token-is-400') ? 400 : 401
    return failure(status, new Error(refreshToken === undefined ? 'No token' : 'Invalid token'))
  }

  function read(request: IncomingMessage, pathname: string, ref: string | null): Reply {
    const email = whoReads(request)
    const knownTag = request.headers['if-none-match']
    if (email === null && knownTag !== undefined && faults.has('not-modified-for-strangers')) return NOT_MODIFIED
    if (email === null) return failure(refusedTokenStatus, new Error('Unauthorized'))
    if (pathname === '/exports' && ref === null) return failure(400, new Error('r is required'))
    const found = expected(email, pathname === '/exports' ? `/exports?r=${encodeURIComponent(ref ?? '')}` : pathname)
    const isEmpty = pathname === '/exports' && faults.has('unknown-export-is-empty')
    const array = found ?? (isEmpty ? '[]' : null)
    if (array === null) return failure(404, new Error('Not found'))
    const createdAt = workspaces.get(email)?.exports.get(ref ?? '')?.createdAt
    const etag = `W/"${createHash('sha1').update(array).digest('base64')}"`
    const headers = {
      ...(hasEtags ? { ETag: etag } : {}),
      ...(hasLastModified && createdAt !== undefined ? { 'Last-Modified': new Date(createdAt).toUTCString() } : {}),
    }
    if (hasEtags && knownTag === etag) return { ...NOT_MODIFIED, headers }
    const body = Buffer.from(brokenList(array), faults.has('list-is-not-utf8') ? 'utf16le' : 'utf8')
    const isHtml = faults.has('list-is-html') && pathname !== '/exports'
    const isWrong = request.method === 'HEAD' && faults.has('head-tells-another-length')
    return {
      status: 200,
      headers: {
        ...headers,
        'Content-Type': isHtml ? 'text/html; charset=utf-8' : JSON_TYPE,
        'Content-Length': String(isWrong ? 2_000_000 : body.byteLength),
      },
      body,
    }
  }

  function brokenList(array: string): string {
    if (faults.has('list-is-an-object')) return `{"items":${array}}`
    return faults.has('list-is-not-json') ? array.replace(/\]$/, ',]') : array
  }

  function whoReads(request: IncomingMessage): string | null {
    const [, token = ''] = /^Bearer (.*)$/i.exec(request.headers.authorization ?? '') ?? []
    if (token === '' && faults.has('reads-need-no-token')) return lastEmail
    if (faults.has('reads-take-refresh-token') && sessions.has(token)) return sessions.get(token) ?? null
    if (faults.has('access-token-is-no-jwt') && opaque.has(token)) return opaque.get(token) ?? null
    return ended.has(token) ? null : verify(token)
  }

  function expected(email: string, path: string): string | null {
    const workspace = workspaces.get(email)
    if (!workspace) return null
    const { pathname, searchParams } = new URL(path, 'http://localhost')
    const list = LISTS[pathname as keyof typeof LISTS]
    if (list && areEmptyLists404 && workspace[list].length === 0) return null
    const texts = list ? workspace[list] : workspace.exports.get(searchParams.get('r') ?? '')?.elements
    return texts ? `[${texts.join(',')}]` : null
  }

  function issue(email: string): string {
    if (faults.has('access-token-is-no-jwt')) {
      const token = randomBytes(24).toString('hex')
      opaque.set(token, email)
      return token
    }
    const seconds = Math.floor(Date.now() / 1_000)
    const claims = { email, iat: seconds, exp: seconds + accessTokenTtlSeconds, jti: randomUUID() }
    const unsigned = [{ alg: 'HS256', typ: 'JWT' }, claims].map(toPart).join('.')
    const token = `${unsigned}.${signatureOf(unsigned)}`
    if (hasOneSessionPerUser) current.set(email, [...(current.get(email) ?? []), token])
    return token
  }

  function verify(token: string): string | null {
    const [head, payload = '', signature = ''] = token.split('.')
    const right = Buffer.from(signatureOf(`${head}.${payload}`))
    const given = Buffer.from(signature)
    const isSigned = given.byteLength === right.byteLength && timingSafeEqual(given, right)
    if (!isSigned && !(faults.has('reads-take-forged-token') && payload !== '')) return null
    const { email, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return exp > Date.now() / 1_000 ? email : null
  }

  function signatureOf(unsigned: string): string {
    return createHmac('sha256', secret).update(unsigned).digest('base64url')
  }

  function failure(status: number, error: Error): Reply {
    return json(status, { error: faults.has('error-shows-stack') ? error.stack : error.message })
  }

  async function kill({ forgetsSessions = false } = {}): Promise<void> {
    if (forgetsSessions) sessions.clear()
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }

  return {
    url: `http://127.0.0.1:${port}${basePath}`,
    workspaces,
    requests,
    openSessions: () => sessions.size,
    expected,
    setFaults(next) {
      faults = new Set(next)
    },
    setIntercept(next) {
      intercept = next ?? null
    },
    kill,
    async restart() {
      server = await listen(port)
    },
    [Symbol.asyncDispose]: () => kill(),
  }
}

function json(status: number, value: object): Reply {
  return { status, headers: { 'Content-Type': JSON_TYPE }, body: JSON.stringify(value) }
}

function marked(reply: Reply): Reply {
  if (reply.headers['Content-Type'] !== JSON_TYPE) return reply
  const body = Buffer.concat([Buffer.from('\ufeff'), Buffer.from(reply.body)])
  return { ...reply, headers: { ...reply.headers, 'Content-Length': String(body.byteLength) }, body }
}

function coded({ status, headers, body }: Reply, coding: keyof typeof CODERS): Reply {
  if (body.length === 0) return { status, headers, body }
  const bytes = CODERS[coding](body)
  const length = { 'Content-Encoding': coding, 'Content-Length': String(bytes.byteLength) }
  return { status, headers: { ...headers, ...length }, body: bytes }
}

function toPart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** The user whose access token a request has. */
export function readerOf({ headers }: IncomingMessage): string | null {
  const payload = headers.authorization?.split('.')[1]
  return payload === undefined ? null : JSON.parse(Buffer.from(payload, 'base64url').toString()).email
}
