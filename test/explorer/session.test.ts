// Tests the session of the pages, without a browser: when it renews tokens, what it stores, and when it ends.
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSession, type Session } from '../../src/explorer/sign-in/session/session.ts'
import type { TabChannel, TabMessages } from '../../src/explorer/sign-in/session/tab-channel.ts'
import type { ExplorerData } from '../../src/pages/explorer-config.ts'
import { memoryStorage } from '../support/fake-browser.ts'

const FACTS: ExplorerData = { apiVersion: '1.2', basePath: '/v1', loginGuard: 'local', demoEmail: null, routes: [] }

test('ten requests that get 401 at once share one refresh, and all succeed', async () => {
  const { session, calls, server } = await signedIn()
  server.accepts = 'a2'
  const answers = await Promise.all(Array.from({ length: 10 }, () => session.send('/projects')))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  expect(calls.filter((call) => call === 'POST /v1/token')).toHaveLength(1)
})

test('a token is renewed half a minute before it expires, without a failed request', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { session, calls } = await signedIn()
  const endsAt = session.state().endsAt ?? 0
  await vi.advanceTimersByTimeAsync(endsAt - Date.now() - 31_000)
  expect(calls).toEqual(['POST /v1/login'])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(calls).toEqual(['POST /v1/login', 'POST /v1/token'])
  expect(session.state().endsAt).toBeGreaterThan(endsAt)
  expect((await session.send('/projects')).status).toBe(200)
  expect(calls).toEqual(['POST /v1/login', 'POST /v1/token', 'GET /v1/projects'])
})

test('a token that expired while the machine slept is renewed before the next request', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { session, server, calls } = await signedIn()
  // Timers do not run while a machine sleeps.
  vi.setSystemTime(Date.now() + 3_600_000)
  server.accepts = 'nothing of before'
  expect((await session.send('/projects')).status).toBe(200)
  expect(calls).toEqual(['POST /v1/login', 'POST /v1/token', 'GET /v1/projects'])
})

test("a caller's own token that is refused is neither replaced nor sent again", async () => {
  const { session, calls, authorizations } = await signedIn()
  const answer = await session.send('/projects', { headers: { Authorization: 'Bearer mine' } })
  expect(answer.status).toBe(401)
  expect(authorizations).toEqual(['Bearer mine'])
  expect(calls).toEqual(['POST /v1/login', 'GET /v1/projects'])
})

test('no token is sent after the sign-out', async () => {
  const { session, authorizations } = await signedIn()
  await session.send('/projects')
  await session.signOut()
  expect((await session.send('/projects')).status).toBe(401)
  expect(authorizations).toEqual([expect.stringMatching(/^Bearer .*a1$/), null])
})

test.each(['answer', 'body'] as const)(
  'a refresh whose %s arrives after the sign-out signs nobody in again',
  async (late) => {
    const { session, server, authorizations } = await signedIn()
    const held = Promise.withResolvers<void>()
    server.accepts = 'a2'
    server.late = { what: late, until: held.promise }
    const sending = session.send('/projects')
    await expect.poll(() => server.late?.isAsked).toBe(true)
    await session.signOut()
    held.resolve()
    expect((await sending).status).toBe(401)
    expect(session.state()).toMatchObject({ phase: 'signed-out', email: null })
    await session.send('/projects')
    expect(authorizations.at(-1)).toBeNull()
  },
)

test('a refresh that is refused late does not end a session that began meanwhile', async () => {
  const { session, server } = await signedIn()
  const held = Promise.withResolvers<void>()
  server.accepts = 'a2'
  server.isEnded = true
  server.late = { what: 'answer', until: held.promise }
  const sending = session.send('/projects')
  await expect.poll(() => server.late?.isAsked).toBe(true)
  await session.signIn('ben@example.com')
  held.resolve()
  await sending
  expect(session.state()).toMatchObject({ phase: 'signed-in', message: null })
})

test('a request gets 401 if the session has ended, and the user is told', async () => {
  const { session, server, calls } = await signedIn()
  server.accepts = 'nothing'
  server.isEnded = true
  expect((await session.send('/projects')).status).toBe(401)
  expect(session.state()).toMatchObject({
    phase: 'signed-out',
    email: null,
    message: { text: expect.stringContaining('ended'), isFailure: false },
  })
  expect(calls.filter((call) => call.endsWith('/token'))).toHaveLength(1)
})

test.each([401, 200])(
  'a proxy that answers %i in place of the gateway ends no session, nor does it count as a sign-out',
  async (status) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { session, server, calls } = await signedIn()
    server.accepts = 'a2'
    server.proxy = status
    expect((await session.send('/projects')).status).toBe(401)
    expect(session.state().phase).toBe('signed-in')
    await session.signOut()
    expect(session.state()).toMatchObject({
      phase: 'signed-out',
      message: { text: expect.stringContaining('could not be told'), isFailure: true },
    })
    server.proxy = null
    await vi.advanceTimersByTimeAsync(6_000)
    expect(calls.filter((call) => call === 'DELETE /v1/logout')).toHaveLength(2)
    expect(session.state().message).toBeNull()
  },
)

test('a refresh that fails for another reason does not end the session', async () => {
  const { session, server } = await signedIn()
  server.accepts = 'a2'
  server.isDown = true
  expect((await session.send('/projects')).status).toBe(401)
  expect(session.state().phase).toBe('signed-in')
  server.isDown = false
  expect((await session.send('/projects')).status).toBe(200)
  await session.signOut()
})

test.each(['isDown', 'isCut', 'isOther'] as const)(
  'a session kept over a reload is resumed once the gateway answers, and nobody else is signed in (%s)',
  async (fault) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { session: before, server, storage, calls, reload } = await signedIn({ demoEmail: 'demo@example.com' })
    before.remember(true)
    server[fault] = true
    const session = reload()
    await session.start()
    expect(session.state()).toMatchObject({
      phase: 'signed-out',
      message: { text: expect.stringContaining('Trying again'), isFailure: true },
    })
    server[fault] = false
    await vi.advanceTimersByTimeAsync(6_000)
    const taken = { phase: 'signed-in', email: 'ana@example.com', isRemembered: true, message: null }
    expect(session.state()).toMatchObject(taken)
    expect((await session.send('/projects')).status).toBe(200)
    expect([...storage.values()]).toContain('refresh1')
    expect(calls.filter((call) => call === 'POST /v1/login')).toHaveLength(1)
    await Promise.all([before, session].map((one) => one.signOut()))
  },
)

test('a sign-in that something else answers with JSON says so, and signs nobody in', async () => {
  const { server, reload } = await signedIn({ demoEmail: 'ana@example.com' })
  server.isOther = true
  const session = reload()
  await session.start()
  const signedOut = { phase: 'signed-out', message: { text: expect.stringContaining('proxy'), isFailure: true } }
  expect(session.state()).toMatchObject(signedOut)
  await expect(session.signIn('ana@example.com')).rejects.toThrow('proxy')
  expect(session.state().phase).toBe('signed-out')
  server.isOther = false
  await session.signIn('ana@example.com')
  expect(session.state().phase).toBe('signed-in')
  await session.signOut()
})

test('a kept session that ends while its renewal is retried says so, and is not kept any more', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { session: before, server, storage, reload } = await signedIn()
  before.remember(true)
  server.isDown = true
  const session = reload()
  await session.start()
  server.isDown = false
  server.isEnded = true
  await vi.advanceTimersByTimeAsync(6_000)
  const ended = {
    phase: 'signed-out',
    isRemembered: false,
    message: { text: expect.stringContaining('has ended'), isFailure: false },
  }
  expect(session.state()).toMatchObject(ended)
  expect([...storage.values()]).not.toContain('refresh1')
  await before.signOut()
})

test('no token is stored unless the user asks, and the sign-out deletes it', async () => {
  const { session, storage } = await signedIn()
  expect(storage.size).toBe(0)
  session.remember(true)
  expect([...storage.values()]).toEqual(['refresh1', 'ana@example.com'])
  session.remember(false)
  expect(storage.size).toBe(0)
  session.remember(true)
  await session.signOut()
  expect([...storage.values()]).toEqual(['yes'])
})

test('a mailed code that is written into the email address signs in at once', async () => {
  const { session, calls } = await signedIn({ loginGuard: 'mail', email: 'ana+code-K7QM2P9D@example.com' })
  expect(session.state()).toMatchObject({ phase: 'signed-in', email: 'ana@example.com' })
  expect(calls).toEqual(['POST /v1/login'])
  await session.signOut()
})

test("a tab uses the tokens that another tab passes on, and its session ends with that tab's", async () => {
  const opened: TabMessages[] = []
  const { session, calls } = await signedIn({
    openTabs(given) {
      opened.push(given)
      return ALONE
    },
  })
  const [others] = opened
  if (!others) throw new Error('no channel was opened')
  const receivedAt = Date.now() - 600_000
  const handed = { accessToken: token('a1', 900), refreshToken: 'of the other tab', receivedAt, signedInAt: 0 }
  others.onTokens(handed, 'renewed')
  // The token keeps its age, so it expires as it does in the other tab.
  expect(session.state().endsAt).toBe(receivedAt + 899_000)
  expect((await session.send('/projects')).status).toBe(200)
  expect(others.held()).toMatchObject({ refreshToken: 'of the other tab', receivedAt })
  others.onEnd({ refreshToken: 'of the other tab', email: 'ana@example.com' })
  expect(session.state()).toMatchObject({
    phase: 'signed-out',
    message: { text: expect.stringContaining('another tab'), isFailure: false },
  })
  expect(calls.filter((call) => call.endsWith('/token'))).toEqual([])
})

test('a sign-out that does not reach the gateway says so and is retried', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { session, server, calls } = await signedIn()
  server.isDown = true
  await session.signOut()
  expect(session.state()).toMatchObject({
    phase: 'signed-out',
    message: { text: expect.stringContaining('could not be told'), isFailure: true },
  })
  server.isDown = false
  await vi.advanceTimersByTimeAsync(6_000)
  expect(calls.filter((call) => call === 'DELETE /v1/logout')).toHaveLength(2)
  expect(session.state().message).toBeNull()
})

test.each([
  [503, 3],
  [429, 3],
  [408, 3],
  [401, 1],
  [403, 1],
  [404, 1],
])('a sign-out answered %i for six seconds is sent %i times', async (status, times) => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { session, server, calls } = await signedIn()
  server.ends = status
  await session.signOut()
  await vi.advanceTimersByTimeAsync(6_000)
  server.ends = 200
  await vi.advanceTimersByTimeAsync(60_000)
  expect(calls.filter((call) => call === 'DELETE /v1/logout')).toHaveLength(times)
  const isRefused = times === 1 && status !== 401
  expect(session.state().message).toEqual(
    isRefused ? { text: expect.stringContaining('refused'), isFailure: true } : null,
  )
})

test('a failed sign-out is retried after another user signs in, who sees no message about it', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { session, server, calls } = await signedIn()
  server.isDown = true
  await session.signOut()
  await session.signIn('ben@example.com')
  await vi.advanceTimersByTimeAsync(6_000)
  expect(session.state()).toMatchObject({ phase: 'signed-in', message: null })
  server.isDown = false
  await vi.advanceTimersByTimeAsync(6_000)
  expect(calls.filter((call) => call === 'DELETE /v1/logout')).toHaveLength(3)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(calls.filter((call) => call === 'DELETE /v1/logout')).toHaveLength(3)
  await session.signOut()
})

test('a listener that throws on a sign-in stops neither the sign-in nor the other listeners', async () => {
  const reported: unknown[] = []
  vi.stubGlobal('reportError', (error: unknown) => reported.push(error))
  onTestFinished(() => void vi.unstubAllGlobals())
  const { session, storage } = await signedIn()
  const failure = new Error('a listener failed')
  const told: (string | null)[] = []
  session.subscribe(() => {
    throw failure
  })
  session.subscribe(() => told.push(session.state().email))
  await session.signIn('ana@example.com', { isRemembered: true })
  expect(told).toEqual(['ana@example.com'])
  expect([...storage.values()]).toEqual(['refresh2', 'ana@example.com'])
  expect(reported).toEqual([failure])
  // Otherwise a later renewal would tell the listener while another test runs.
  await session.signOut()
})

test('a sign-in at a gateway that mails codes sends the code', async () => {
  const bodies: string[] = []
  const storage = memoryStorage()
  async function answer(_input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    bodies.push(String(init.body))
    return String(init.body).includes('"code"')
      ? Response.json({ accessToken: token('a1', 900), refreshToken: 'refresh' })
      : Response.json({ code: 'LOGIN_CODE_SENT', detail: 'A code was mailed.' }, { status: 403 })
  }
  const facts = { ...FACTS, loginGuard: 'mail' }
  const session = createSession(facts, {
    fetchFrom: answer,
    storage,
    sharedStorage: memoryStorage(),
    openTabs: () => ALONE,
    onLeave: () => {},
    onBack: () => {},
  })
  await expect(session.signIn('ana@example.com')).rejects.toMatchObject({ code: 'LOGIN_CODE_SENT' })
  expect(session.state().phase).not.toBe('signed-in')
  await session.signIn('ana@example.com', { code: 'K7QM2P9D' })
  expect(session.state().phase).toBe('signed-in')
  expect(bodies[1]).toBe('{"email":"ana@example.com","code":"K7QM2P9D"}')
  session.remember(false)
})

/** A channel without other tabs. */
const ALONE: TabChannel = {
  ask: async () => null,
  tell: () => {},
  tellEnd: () => {},
  tellFoundEnded: () => {},
  alone: (run) => run(),
}

interface Server {
  /** The last characters of the access token that the server accepts. */
  accepts: string
  /** The status with which a proxy answers in place of the gateway, except to reads; null without one. */
  proxy: number | null
  isEnded: boolean
  isDown: boolean
  /** The answer to a refresh breaks off in the middle. */
  isCut: boolean
  /** Whether something in front of the gateway answers everything with other JSON. */
  isOther: boolean
  /** The status of an answer to a logout. */
  ends: number
  /** The part of a refresh's answer that is held back. */
  late: { readonly what: 'answer' | 'body'; readonly until: Promise<void>; isAsked?: boolean } | null
}

interface SignedIn {
  readonly session: Session
  readonly server: Server
  readonly calls: string[]
  /** The authorization header of each read. */
  readonly authorizations: (string | null)[]
  readonly storage: ReturnType<typeof memoryStorage>
  /** Loads the page anew in the same tab. */
  readonly reload: () => Session
}

interface Options {
  readonly openTabs?: (messages: TabMessages) => TabChannel
  readonly loginGuard?: string
  readonly demoEmail?: string | null
  readonly email?: string
}

async function signedIn({
  loginGuard = 'local',
  demoEmail = null,
  email = 'ana@example.com',
  openTabs = () => ALONE,
}: Options = {}): Promise<SignedIn> {
  const server: Server = {
    accepts: 'a1',
    isEnded: false,
    isDown: false,
    isCut: false,
    isOther: false,
    proxy: null,
    ends: 200,
    late: null,
  }
  const calls: string[] = []
  const authorizations: (string | null)[] = []
  const storage = memoryStorage()
  const renewed = JSON.stringify({ accessToken: token('a2', 900) })
  let logins = 0
  function refreshToken(): string {
    logins += 1
    return `refresh${logins}`
  }
  async function answer(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    calls.push(`${init.method ?? 'GET'} ${input}`)
    const path = String(input).replace('/v1', '')
    if (server.isOther) return Response.json({ message: 'welcome' })
    if (path === '/login') return Response.json({ accessToken: token('a1', 900), refreshToken: refreshToken() })
    if (path === '/logout' && server.isDown) throw new TypeError('no connection')
    if (server.proxy !== null && path !== '/projects') return new Response('<h1>Sign in</h1>', { status: server.proxy })
    if (path === '/logout') return Response.json(server.ends === 200 ? {} : { code: 'FAILED' }, { status: server.ends })
    if (path === '/token' && server.late) {
      server.late.isAsked = true
      if (server.late.what === 'answer') await server.late.until
    }
    if (path === '/token' && server.isDown) return Response.json({}, { status: 503 })
    if (path === '/token' && server.isCut) return new Response('{"acc')
    if (path === '/token' && server.isEnded) return Response.json({ code: 'INVALID_TOKEN' }, { status: 401 })
    if (path === '/token') {
      server.accepts = 'a2'
      return new Response(server.late?.what === 'body' ? after(server.late.until, renewed) : renewed)
    }
    const authorization = new Headers(init.headers).get('authorization')
    authorizations.push(authorization)
    const isAccepted = authorization?.endsWith(server.accepts)
    return Response.json([], { status: isAccepted ? 200 : 401 })
  }
  const reload = () =>
    createSession(
      { ...FACTS, loginGuard, demoEmail },
      { fetchFrom: answer, storage, sharedStorage: memoryStorage(), openTabs, onLeave: () => {}, onBack: () => {} },
    )
  const session = reload()
  await session.signIn(email)
  return { session, server, calls, authorizations, storage, reload }
}

function after(until: Promise<void>, text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      await until
      controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })
}

/** The token is not signed, because a page does not verify its own tokens. */
function token(name: string, lifetimeSeconds: number): string {
  const claims = { sub: 'ana@example.com', iat: 0, exp: lifetimeSeconds }
  return `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${name}`
}
