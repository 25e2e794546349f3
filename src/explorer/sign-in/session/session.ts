// The one sign-in of all pages: tokens in memory, the same in all tabs, an end by logout.
import type { ExplorerData } from '../../../pages/explorer-config.ts'
import type { BrowserStorage } from '../../design/browser-storage.ts'
import { failureText } from '../../frame/connection.ts'
import { demoTokens } from './demo-tokens.ts'
import { keptSession } from './kept-session.ts'
import { createLogin, type Login, LoginFailure } from './login.ts'
import { createRenewal } from './renewal.ts'
import { createEndAtGateway, type Tried } from './session-ends.ts'
import { createShownState, type SessionState, type ShownState, SIGNED_OUT } from './session-state.ts'
import { createSignInsUnderWay } from './sign-ins-under-way.ts'
import { signedInRequests } from './signed-in-requests.ts'
import type { EndedSession, TabChannel, TabMessages, TokenOrigin } from './tab-channel.ts'
import { emailOf, type HandedTokens, type HeldToken, holdToken, isLater, type Tokens } from './tokens.ts'

export interface Session extends Pick<ShownState, 'state' | 'subscribe'>, Pick<Login, 'openAnother'> {
  /** Takes up the session of another tab, else the one this tab keeps, or signs the demo user in where there is one. */
  readonly start: () => Promise<void>
  /** Throws a LoginFailure; its code is `LOGIN_CODE_SENT` when a code from the mailbox is to come along. */
  readonly signIn: (email: string, options?: SignInOptions) => Promise<void>
  readonly signOut: () => Promise<void>
  /** Whether this tab keeps the session over a reload. */
  readonly remember: (isRemembered: boolean) => void
  /** Signed in as the user: renews the access token before it ends, and once when it is refused. Fails, or is refused, where somebody else signs in meanwhile. */
  readonly send: (path: string, init?: RequestInit) => Promise<Response>
}

export interface SignInOptions {
  readonly code?: string
  readonly isRemembered?: boolean
}

export interface SessionOptions {
  readonly fetchFrom: typeof fetch
  /** Of this tab. */
  readonly storage: BrowserStorage
  /** Of all tabs. */
  readonly sharedStorage: BrowserStorage
  readonly openTabs: (messages: TabMessages) => TabChannel
  /** Runs something as the page is left: by a reload, another address, or the end of its window. */
  readonly onLeave: (run: () => void) => void
  /** Runs something each time the gateway answers again. */
  readonly onBack: (run: () => void) => void
}

const ENDED = 'Your session has ended: sign in again.'
const NOT_KEPT = 'This tab did not keep the session over the reload: sign in again.'
const NOT_RENEWED = 'The gateway could not renew your session yet. Trying again.'
const SIGNED_OUT_ELSEWHERE = 'You signed out in another tab.'
const SIGNED_OUT_MEANWHILE = 'You signed out meanwhile: sign in again.'
const NOT_TOLD = 'Signed out here, but the gateway could not be told yet. Trying again.'
const NOT_ENDED = 'Signed out here, but the gateway refused to end the session: it goes on there until it expires.'
const ASK_WHETHER_APPROVED_MS = 2_000

export function createSession(facts: ExplorerData, options: SessionOptions): Session {
  const { fetchFrom, openTabs } = options
  const { state, change, subscribe } = createShownState()
  const kept = keptSession(options.storage, options.sharedStorage, facts.basePath)
  const opening = createLogin(facts, fetchFrom, () => state().email ?? '')
  const { login, openAnother, post } = opening
  const endAtGateway = createEndAtGateway(post, options.onLeave)
  const underWay = createSignInsUnderWay((opened) => void endAtGateway(opened))
  let refreshToken: string | null = null
  let signedInAt = 0
  let held: HeldToken | null = null
  /** Whether the gateway went away before it had signed the demo user in. */
  let isDemoDue = false
  const tabs = openTabs({ held: heldTokens, onTokens: hear, onEnd: endWithOther, onFoundEnded: endFound })
  const renewal = createRenewal({
    post,
    alone: tabs.alone,
    refreshToken: () => refreshToken,
    held: () => held,
    onRenewed: takeRenewed,
    onEnded(presented) {
      tabs.tellFoundEnded(presented)
      endFound(presented)
    },
  })
  const requests = signedInRequests({ held: () => held, refresh: renewal.refresh }, fetchFrom, facts.basePath)

  function heldTokens(): HandedTokens | null {
    if (refreshToken === null || !held) return null
    const { accessToken, receivedAt } = held
    return { accessToken, refreshToken, receivedAt, signedInAt }
  }

  /** Tells the other tabs of them. */
  function handOver(origin: TokenOrigin): void {
    const tokens = heldTokens()
    if (tokens) tabs.tell(tokens, origin)
  }

  /** `next` is changed with it: whoever listens is not told of a person who has yet to be let in. */
  function hold(accessToken: string, receivedAt: number, next: Partial<SessionState> = {}): void {
    held = holdToken(accessToken, receivedAt)
    isDemoDue = false
    kept.markOfSomebody(facts.demoEmail !== null && held.email !== facts.demoEmail)
    renewal.plan(held.renewAt)
    change({ ...next, email: held.email, endsAt: held.endsAt })
  }

  /** Only a person who signs in makes every tab theirs: two tabs that went apart would change people at each renewal. */
  function hear(tokens: HandedTokens, origin: TokenOrigin): void {
    const own = heldTokens()
    if (origin === 'renewed') {
      if (isOfThis(tokens)) takeOver(tokens)
    } else if (own && state().phase === 'signed-in' && isLater(own, tokens)) {
      // Two tabs that each went over to the other one's session would end both.
      tabs.tell(own, 'signed-in')
    } else {
      const replaced = refreshToken
      takeOver(tokens)
      endReplaced(replaced)
    }
  }

  /** Of the session that this tab holds, or keeps and has yet to renew. */
  function person(): string | null {
    return state().email ?? kept.email()
  }

  function isOfThis(tokens: HandedTokens): boolean {
    return tokens.refreshToken === refreshToken || emailOf(tokens) === person()
  }

  /** The tokens of another tab. What one person asked to be kept is not kept of the next one. */
  function takeOver(tokens: HandedTokens): void {
    const isRemembered = state().isRemembered && isOfThis(tokens)
    refreshToken = tokens.refreshToken
    signedInAt = tokens.signedInAt ?? signedInAt
    kept.clear()
    if (isRemembered) kept.keep(tokens.refreshToken, emailOf(tokens))
    hold(tokens.accessToken, tokens.receivedAt, { phase: 'signed-in', message: null, isRemembered })
  }

  function end(message: string | null): void {
    renewal.stop()
    // A kept session whose renewal is tried again is one too, though nobody is signed in yet.
    const isSomething = refreshToken !== null || state().phase !== 'signed-out'
    kept.forgetDemo(refreshToken)
    refreshToken = null
    held = null
    kept.clear()
    if (isSomething) change({ ...SIGNED_OUT, message })
  }

  /** Who signs out does so in all their tabs, also in one that has a session of its own; another person's tab stays theirs. */
  function endWithOther(ended: EndedSession): void {
    const own = refreshToken
    const isOfPerson = ended.email !== null && ended.email === person()
    const isOfThis = own !== null && (own === ended.refreshToken || isOfPerson)
    underWay.callOff((email) => isOfThis || email.trim().toLowerCase() === ended.email?.toLowerCase())
    if (!isOfThis) return
    end(SIGNED_OUT_ELSEWHERE)
    // A reload does not sign the demo user in, here as little as there.
    kept.markSignedOut()
    if (own !== ended.refreshToken) endReplaced(own)
  }

  /** By this tab or another one: what nobody may read any more is not shown until the next request either. */
  function endFound(presented: string): void {
    if (presented !== refreshToken) return
    end(ENDED)
    // They have been told: a reload is not one that lost their session.
    kept.markOfSomebody(false)
  }

  function takeRenewed(accessToken: string): void {
    // A session that a tab keeps, and whose first renewal failed.
    const isLate = state().phase === 'starting' || state().phase === 'signed-out'
    hold(accessToken, Date.now(), isLate ? { phase: 'signed-in', message: null } : {})
    handOver('renewed')
  }

  async function begin(tokens: Tokens, at: number, isRemembered: boolean, isApproved: boolean): Promise<void> {
    refreshToken = tokens.refreshToken
    signedInAt = at
    hold(tokens.accessToken, Date.now(), { phase: isApproved ? 'signed-in' : 'waiting', message: null, isRemembered })
    if (held?.email === facts.demoEmail) kept.keepDemo(tokens.refreshToken)
    if (isRemembered) kept.keep(tokens.refreshToken, emailOf(tokens))
    if (!isApproved) await untilApproved(tokens.refreshToken)
  }

  /** A login that the owner of the mailbox has yet to approve reads nothing until then. */
  async function untilApproved(presented: string): Promise<void> {
    while (refreshToken === presented) {
      const answer = await requests.authorized('/projects', {}).catch(() => null)
      if (refreshToken !== presented) return
      if (answer && answer.status !== 401 && answer.status !== 403) return change({ phase: 'signed-in' })
      await new Promise((resolve) => setTimeout(resolve, ASK_WHETHER_APPROVED_MS))
    }
  }

  /** The person may have signed in again meanwhile. */
  function sayWhetherTold(tried: Tried): void {
    if (state().phase !== 'signed-out') return
    if (tried !== 'ended') change({ message: tried === 'due' ? NOT_TOLD : NOT_ENDED })
    else if (state().message === NOT_TOLD) change({ message: null })
  }

  /** No tab holds it any more, but whoever has a copy could. The demo user's is left to the page that is opened next. */
  function endReplaced(presented: string | null): void {
    if (presented === null || presented === refreshToken || presented === kept.demoToken()) return
    void endAtGateway(presented)
  }

  function endKeptDemo(): void {
    const left = kept.demoToken()
    kept.forgetDemo(left)
    endReplaced(left)
  }

  /** A tab that a busy one did not answer is the demo user's: it makes nobody else so who is loaded anew. */
  function isDemosBesideSomebody(tokens: HandedTokens): boolean {
    return kept.isOfSomebody() && emailOf(tokens) === facts.demoEmail
  }

  async function beginDemo(email: string): Promise<void> {
    isDemoDue = false
    try {
      const tokens = await underWay.run(email, () => demoTokens(kept, opening, email))
      if (tokens && refreshToken === null) return await begin(tokens, 0, false, true)
      // The person has signed in meanwhile.
      if (refreshToken !== null) return endReplaced(tokens?.refreshToken ?? null)
      end(SIGNED_OUT_ELSEWHERE)
      kept.markSignedOut()
    } catch (error) {
      isDemoDue = error instanceof TypeError && refreshToken === null
      if (refreshToken === null) end(failureText(error))
    }
  }

  options.onBack(() => {
    if (isDemoDue && facts.demoEmail !== null && !kept.isSignedOut()) void beginDemo(facts.demoEmail)
  })

  return {
    state,
    subscribe,
    openAnother,
    async start() {
      const [own, isOfSomebody] = [kept.token(), kept.isOfSomebody()]
      refreshToken = own
      change({ isRemembered: own !== null })
      // Of tabs that went apart, one with this tab's session: whoever goes over to another one's ends it there too.
      const isOwn = (tokens: HandedTokens): boolean =>
        own === null ? !isDemosBesideSomebody(tokens) : isOfThis(tokens)
      const shared = kept.isSignedOut() ? null : await tabs.ask(isOwn)
      if (shared && !isDemosBesideSomebody(shared)) {
        takeOver(shared)
        return endReplaced(own)
      }
      if (refreshToken !== null) {
        await renewal.refresh()
        if (held) return
        if (refreshToken !== null) return change({ phase: 'signed-out', message: NOT_RENEWED })
      }
      if (facts.demoEmail === null || kept.isSignedOut()) return change({ phase: 'signed-out' })
      // It has ended meanwhile, and said why.
      if (isOfSomebody && own !== null) return
      if (isOfSomebody) return change({ phase: 'signed-out', message: NOT_KEPT })
      await beginDemo(facts.demoEmail)
    },
    async signIn(email, { code, isRemembered = state().isRemembered } = {}) {
      const tokens = await underWay.run(email, () => login(email, code))
      if (tokens === null) throw new LoginFailure('', SIGNED_OUT_MEANWHILE)
      const replaced = new Set([refreshToken, kept.demoToken()])
      kept.clear()
      // Later than what this tab knows of, also where a clock was set back.
      const at = Math.max(Date.now(), signedInAt + 1)
      await begin(tokens, at, isRemembered, facts.loginGuard !== 'mail' || code !== undefined)
      if (refreshToken === tokens.refreshToken) handOver('signed-in')
      for (const one of replaced) endReplaced(one)
    },
    async signOut() {
      const [presented, email] = [refreshToken, person()]
      underWay.callOff(() => true)
      end(null)
      kept.markSignedOut()
      // Of tabs that were opened at once each opened a session, and another one's is kept.
      if (email !== null && email === facts.demoEmail) endKeptDemo()
      if (presented === null) return
      tabs.tellEnd({ refreshToken: presented, email })
      await endAtGateway(presented, sayWhetherTold)
    },
    remember(isRemembered) {
      const own = heldTokens()
      if (isRemembered && own) kept.keep(own.refreshToken, emailOf(own))
      else kept.clear()
      change({ isRemembered })
    },
    send: (path, init = {}) => requests.send(path, init),
  }
}
