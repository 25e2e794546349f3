// The one sign-in of all pages: tokens in memory, one refresh in flight however many requests wait, an end by logout.
import type { ExplorerData } from '../pages/explorer-config.ts'
import { keptSession } from './kept-session.ts'
import { type HeldToken, holdToken, type Tokens } from './tokens.ts'

export interface SessionState {
  readonly phase: 'starting' | 'signed-out' | 'waiting' | 'signed-in'
  readonly email: string | null
  /** When the access token ends, in milliseconds since the epoch. */
  readonly endsAt: number | null
  readonly isRemembered: boolean
  /** Why nobody is signed in, when there is something to say. */
  readonly message: string | null
}

export interface Session {
  readonly state: () => SessionState
  readonly subscribe: (listener: () => void) => () => void
  /** Takes up the session this tab keeps, or signs the demo user in where there is one. */
  readonly start: () => Promise<void>
  readonly signIn: (email: string) => Promise<void>
  readonly signOut: () => Promise<void>
  /** Whether this tab keeps the session over a reload. */
  readonly remember: (isRemembered: boolean) => void
  /** Signed in as the user: renews the access token before it ends, and once when it is refused. */
  readonly send: (path: string, init?: RequestInit) => Promise<Response>
  /** Tokens of a session of its own, for trying out calls that end one. */
  readonly openAnother: () => Promise<Tokens>
}

const SIGNED_OUT: SessionState = {
  phase: 'signed-out',
  email: null,
  endsAt: null,
  isRemembered: false,
  message: null,
}
const RETRY_REFRESH_MS = 5_000
const ASK_WHETHER_APPROVED_MS = 2_000

export function createSession(facts: ExplorerData, fetchFrom: typeof fetch, storage: Storage): Session {
  const kept = keptSession(storage, facts.basePath)
  const listeners = new Set<() => void>()
  let state: SessionState = { ...SIGNED_OUT, phase: 'starting' }
  let refreshToken: string | null = null
  let held: HeldToken | null = null
  let refreshing: Promise<boolean> | null = null
  let timer = 0

  function change(next: Partial<SessionState>): void {
    state = { ...state, ...next }
    for (const listener of listeners) listener()
  }

  function post(path: string, body: object, method = 'POST'): Promise<Response> {
    return fetchFrom(`${facts.basePath}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  function hold(accessToken: string): void {
    held = holdToken(accessToken, Date.now())
    clearTimeout(timer)
    timer = Number(setTimeout(() => void refresh(), Math.max(0, held.renewAt - Date.now())))
    change({ email: held.email, endsAt: held.endsAt })
  }

  function end(message: string | null): void {
    clearTimeout(timer)
    refreshToken = null
    held = null
    kept.clear()
    change({ ...SIGNED_OUT, message })
  }

  /** False when there is no session any more. A refresh that fails for another reason leaves things as they are. */
  function refresh(): Promise<boolean> {
    refreshing ??= renew().finally(() => {
      refreshing = null
    })
    return refreshing
  }

  async function renew(): Promise<boolean> {
    const presented = refreshToken
    if (presented === null) return false
    const answer = await post('/token', { refreshToken: presented }).catch(() => null)
    if (refreshToken !== presented) return refreshToken !== null
    if (answer?.ok) {
      const { accessToken } = (await answer.json()) as { accessToken: string }
      if (refreshToken === presented) hold(accessToken)
    } else if (answer?.status === 401) {
      end('Your session has ended: sign in again.')
      return false
    } else {
      timer = Number(setTimeout(() => void refresh(), RETRY_REFRESH_MS))
    }
    return true
  }

  async function begin(tokens: Tokens, isRemembered: boolean): Promise<void> {
    refreshToken = tokens.refreshToken
    hold(tokens.accessToken)
    if (isRemembered) kept.keep(tokens.refreshToken)
    change({ phase: facts.loginGuard === 'mail' ? 'waiting' : 'signed-in', message: null, isRemembered })
    if (state.phase === 'waiting') await untilApproved(tokens.refreshToken)
  }

  /** A login that the owner of the mailbox has yet to approve reads nothing until then. */
  async function untilApproved(presented: string): Promise<void> {
    while (refreshToken === presented) {
      const answer = await authorized('/projects', {}).catch(() => null)
      if (refreshToken !== presented) return
      if (answer && answer.status !== 401 && answer.status !== 403) return change({ phase: 'signed-in' })
      await new Promise((resolve) => setTimeout(resolve, ASK_WHETHER_APPROVED_MS))
    }
  }

  function authorized(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers)
    if (held) headers.set('authorization', `Bearer ${held.accessToken}`)
    return fetchFrom(`${facts.basePath}${path}`, { ...init, headers })
  }

  async function login(email: string): Promise<Tokens> {
    const answer = await post('/login', { email })
    const body = (await answer.json()) as Tokens & { readonly detail?: string }
    if (!answer.ok) throw new Error(body.detail ?? `The login answered ${answer.status}.`)
    return body
  }

  return {
    state: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async start() {
      refreshToken = kept.token()
      if (refreshToken !== null) {
        await refresh()
        if (held) return change({ phase: 'signed-in', isRemembered: true })
      }
      if (facts.demoEmail === null || kept.isSignedOut()) return change({ phase: 'signed-out' })
      try {
        await begin(await login(facts.demoEmail), false)
      } catch (error) {
        end(error instanceof Error ? error.message : null)
      }
    },
    async signIn(email) {
      const tokens = await login(email)
      kept.clear()
      await begin(tokens, state.isRemembered)
    },
    async signOut() {
      const presented = refreshToken
      end(null)
      kept.markSignedOut()
      if (presented !== null) await post('/logout', { refreshToken: presented }, 'DELETE').catch(() => null)
    },
    remember(isRemembered) {
      if (isRemembered && refreshToken !== null) kept.keep(refreshToken)
      else kept.clear()
      change({ isRemembered })
    },
    async send(path, init = {}) {
      if (held && Date.now() >= held.renewAt) await refresh()
      const used = held
      const answer = await authorized(path, init)
      if (answer.status !== 401 || used === null) return answer
      const isRenewed = held !== used || (await refresh())
      return isRenewed && held !== used ? authorized(path, init) : answer
    },
    openAnother: () => login(state.email ?? ''),
  }
}
