// Fakes the tabs of a browser and a gateway in this process: time stands still except for what a test lets pass.
import { onTestFinished, vi } from 'vitest'
import type { BrowserStorage } from '../../src/explorer/design/browser-storage.ts'
import { createSession, type Session } from '../../src/explorer/sign-in/session/session.ts'
import { openTabChannel } from '../../src/explorer/sign-in/session/tab-channel.ts'
import type { Tokens } from '../../src/explorer/sign-in/session/tokens.ts'

export const DEMO = 'demo@example.com'

export interface Tab {
  readonly session: Session
  /** What the tab keeps across a reload, and when it is opened again. */
  readonly storage: BrowserStorage
  readonly close: () => void
  /** While the tab is busy, messages of other tabs wait. */
  readonly setBusy: (isBusy: boolean) => void
  /** Ends the busy time and drops the waiting messages, as for a page that was frozen. */
  readonly drop: () => void
}

/** A tab with an older version of the page, whose sign-ins carry no time and which does not know the newer messages. */
export interface OlderTab {
  readonly signIn: (refreshToken: string, email: string) => void
  /** The people whose sign-ins it heard of, in order. */
  readonly told: () => readonly string[]
}

export interface FakeBrowser {
  readonly open: (storage?: BrowserStorage) => Tab
  readonly openOlder: (refreshToken: string, email: string) => OlderTab
  readonly calls: readonly string[]
  /** The person whose token each read carried, in order. */
  readonly readers: readonly (string | null)[]
  /** Holds back the answers to a path, although the gateway has done the work; the returned function releases them. */
  readonly holdAnswers: (path: string) => () => void
  /** People whose reads are answered 401, as with an expired token. */
  readonly refused: Set<string>
  /** Whether a session of this person can still be renewed. */
  readonly isLive: (email: string) => boolean
  /** The person of each session that can be renewed. */
  readonly live: () => readonly string[]
  /** Ends all sessions of a person, as from another machine. */
  readonly endAll: (email: string) => void
}

class FakeChannel {
  static readonly open = new Set<FakeChannel>()
  static last: FakeChannel | null = null
  onmessage: ((event: { readonly data: unknown }) => void) | null = null
  isBusy = false
  readonly #late: unknown[] = []

  constructor() {
    FakeChannel.open.add(this)
    FakeChannel.last = this
  }

  postMessage(data: unknown): void {
    if (!FakeChannel.open.has(this)) return
    for (const other of FakeChannel.open) if (other !== this) queueMicrotask(() => other.receive(data))
  }

  receive(data: unknown): void {
    if (this.isBusy) this.#late.push(data)
    else this.onmessage?.({ data })
  }

  drop(): void {
    this.#late.length = 0
    this.setBusy(false)
  }

  setBusy(isBusy: boolean): void {
    this.isBusy = isBusy
    for (const data of this.#late.splice(0)) this.receive(data)
  }
}

/** Lasts until the end of the test. */
export function fakeBrowser({ demoEmail = DEMO }: { readonly demoEmail?: string | null } = {}): FakeBrowser {
  vi.useFakeTimers()
  vi.stubGlobal('BroadcastChannel', FakeChannel)
  // Without the Web Locks API, as over plain HTTP: each tab then asks by itself.
  vi.stubGlobal('navigator', {})
  onTestFinished(() => {
    FakeChannel.open.clear()
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })

  const facts = { apiVersion: '1.2', basePath: '', loginGuard: 'local', demoEmail, routes: [] }
  const calls: string[] = []
  const readers: (string | null)[] = []
  const refused = new Set<string>()
  const held = new Map<string, Promise<void>>()
  /** Keyed by refresh token. */
  const emails = new Map<string, string>()
  let opened = 0
  const shared = memoryStorage()

  function readAs(authorization: string | null): Response {
    const email = authorization === null ? null : emailIn(authorization)
    readers.push(email)
    return Response.json({}, { status: email === null || refused.has(email) ? 401 : 200 })
  }

  function answerTo(path: string, init: RequestInit): Response {
    if (!['/login', '/token', '/logout'].includes(path)) return readAs(new Headers(init.headers).get('authorization'))
    const body = JSON.parse(String(init.body)) as { readonly email?: string; readonly refreshToken?: string }
    if (path === '/login') opened += 1
    const refreshToken = body.refreshToken ?? `refresh${opened}`
    const email = body.email ?? emails.get(refreshToken)
    if (email === undefined) return Response.json({ code: 'INVALID_TOKEN' }, { status: 401 })
    if (path === '/logout') {
      emails.delete(refreshToken)
      return Response.json({})
    }
    emails.set(refreshToken, email)
    return Response.json({ accessToken: accessTokenOf(email), refreshToken })
  }

  async function answer(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const path = String(input)
    calls.push(path)
    init.signal?.throwIfAborted()
    const answered = answerTo(path, init)
    await held.get(path)
    init.signal?.throwIfAborted()
    return answered
  }

  function open(storage: BrowserStorage = memoryStorage()): Tab {
    const session = createSession(facts, {
      fetchFrom: answer,
      storage,
      sharedStorage: shared,
      openTabs: (messages) => openTabChannel('tabs', messages),
      onLeave: () => {},
      onBack: () => {},
    })
    const channel = FakeChannel.last
    return {
      session,
      storage,
      close: () => channel && FakeChannel.open.delete(channel),
      setBusy: (isBusy) => channel?.setBusy(isBusy),
      drop: () => channel?.drop(),
    }
  }

  function openOlder(refreshToken: string, email: string): OlderTab {
    const channel = new FakeChannel()
    const told: string[] = []
    let tokens = tokensOfOlder(refreshToken, email)
    emails.set(refreshToken, email)
    channel.onmessage = ({ data }) => {
      const message = data as { kind: string; question?: unknown; origin?: string; tokens?: Tokens }
      if (message.kind === 'ask') channel.postMessage({ kind: 'answer', question: message.question, tokens })
      if (message.kind === 'tokens' && message.origin === 'signed-in' && message.tokens) {
        tokens = tokensOfOlder(message.tokens.refreshToken, emailIn(message.tokens.accessToken))
        told.push(emailIn(message.tokens.accessToken))
      }
    }
    return {
      signIn(next, person) {
        tokens = tokensOfOlder(next, person)
        emails.set(next, person)
        channel.postMessage({ kind: 'tokens', origin: 'signed-in', tokens })
      },
      told: () => told,
    }
  }

  return {
    open,
    openOlder,
    calls,
    readers,
    refused,
    holdAnswers(path) {
      const { promise, resolve } = Promise.withResolvers<void>()
      held.set(path, promise)
      return () => {
        held.delete(path)
        resolve()
      }
    },
    isLive: (email) => [...emails.values()].includes(email),
    live: () => [...emails.values()],
    endAll(email) {
      for (const [refreshToken, owner] of emails) if (owner === email) emails.delete(refreshToken)
    },
  }
}

function tokensOfOlder(refreshToken: string, email: string): Tokens & { readonly receivedAt: number } {
  return { accessToken: accessTokenOf(email), refreshToken, receivedAt: Date.now() }
}

/** Starts the session and waits long enough for other tabs to answer, if any do. */
export async function started(tab: Tab): Promise<Tab> {
  const starting = tab.session.start()
  await vi.advanceTimersByTimeAsync(1_000)
  await starting
  return tab
}

/** Runs everything that is due without any time passing. */
export async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0)
}

export function emailOf({ session }: Tab): string | null {
  return session.state().email
}

/** Not signed: a page does not verify its own tokens. */
function accessTokenOf(email: string): string {
  return `x.${Buffer.from(JSON.stringify({ sub: email, iat: 0, exp: 900 })).toString('base64url')}.x`
}

function emailIn(authorization: string): string {
  const claims = Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()
  return (JSON.parse(claims) as { readonly sub: string }).sub
}

/** A storage of a browser, whose content is that of the map. */
export function memoryStorage() {
  const map = new Map<string, string>()
  return Object.assign(map, {
    getItem: (key: string) => map.get(key) ?? null,
    setItem: (key: string, value: string) => void map.set(key, value),
    removeItem: (key: string) => void map.delete(key),
  })
}
