// The session of the pages: tokens in memory, shared by all tabs of the browser, ended by logout.
import type { ExplorerData } from '../../../pages/explorer-config.ts'
import { failureText } from '../../frame/connection.ts'
import { demoTokens } from './demo-tokens.ts'
import { keptSession } from './kept-session.ts'
import { createLogin, type Login, LoginFailure } from './login.ts'
import { createRenewal } from './renewal.ts'
import { createEndAtGateway, type Tried } from './session-ends.ts'
import {
  ENDED,
  failed,
  NOT_ENDED,
  NOT_KEPT,
  NOT_RENEWED,
  NOT_TOLD,
  type SessionMessage,
  SIGNED_OUT_ELSEWHERE,
  SIGNED_OUT_MEANWHILE,
} from './session-messages.ts'
import type { SessionOptions } from './session-options.ts'
import { createShownState, type SessionState, type ShownState, SIGNED_OUT } from './session-state.ts'
import { createSignInsUnderWay } from './sign-ins-under-way.ts'
import { signedInRequests } from './signed-in-requests.ts'
import type { EndedSession, TokenOrigin } from './tab-channel.ts'
import { emailOf, type HandedTokens, type HeldToken, holdToken, isLater, type Tokens } from './tokens.ts'

export interface Session extends Pick<ShownState, 'state' | 'subscribe'>, Pick<Login, 'openAnother'> {
  /** Takes over another tab's session, else resumes the stored one, else signs in the demo user if there is one. */
  readonly start: () => Promise<void>
  /** Throws a LoginFailure. Its code is `LOGIN_CODE_SENT` when the caller must retry with the code from the mailbox. */
  readonly signIn: (email: string, options?: SignInOptions) => Promise<void>
  readonly signOut: () => Promise<void>
  /** Ends a session that `openAnother` opened. */
  readonly endAnother: (refreshToken: string) => void
  /** Sets whether this tab stores the session across a reload. */
  readonly remember: (isRemembered: boolean) => void
  /**
   * Sends a request with the access token. Renews the token before it expires, and once after a 401. If another user
   * signs in meanwhile, it throws or returns the 401.
   */
  readonly send: (path: string, init?: RequestInit) => Promise<Response>
}

export interface SignInOptions {
  readonly code?: string
  readonly isRemembered?: boolean
}

export function createSession(facts: ExplorerData, options: SessionOptions): Session {
  const { fetchFrom, openTabs } = options
  const { state, change, subscribe } = createShownState()
  const kept = keptSession(options.storage, options.sharedStorage, facts.basePath)
  const { login, openAnother, post } = createLogin(facts, fetchFrom, () => state().email ?? '')
  const endAtGateway = createEndAtGateway(post, options.onLeave)
  const underWay = createSignInsUnderWay(endOpened)
  let refreshToken: string | null = null
  let signedInAt = 0
  let held: HeldToken | null = null
  /** Whether the gateway became unreachable before it had signed the demo user in. */
  let isDemoDue = false
  const tabs = openTabs({ held: heldTokens, onTokens: handleTokens, onEnd: endFromOtherTab, onFoundEnded: endFound })
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
  const send = signedInRequests({ held: () => held, refresh: renewal.refresh }, fetchFrom, facts.basePath)

  function heldTokens(): HandedTokens | null {
    if (refreshToken === null || !held) return null
    const { accessToken, receivedAt } = held
    return { accessToken, refreshToken, receivedAt, signedInAt }
  }

  /** Sends this tab's tokens to the other tabs. */
  function handOver(origin: TokenOrigin): void {
    const tokens = heldTokens()
    if (tokens) tabs.tell(tokens, origin)
  }

  /**
   * Applies `next` in the same change, so that listeners never see the new user while the phase is still the old one.
   */
  function hold(accessToken: string, receivedAt: number, next: Partial<SessionState> = {}): void {
    held = holdToken(accessToken, receivedAt)
    isDemoDue = false
    kept.markOfSomebody(facts.demoEmail !== null && held.email !== facts.demoEmail)
    renewal.plan(held.renewAt)
    change({ ...next, email: held.email, endsAt: held.endsAt })
  }

  /**
   * Handles tokens from another tab. A sign-in changes the user of every tab. A renewal only updates tabs of the same
   * session or user; otherwise two tabs with different users would switch users at each renewal.
   */
  function handleTokens(tokens: HandedTokens, origin: TokenOrigin): void {
    const own = heldTokens()
    if (origin === 'renewed') {
      if (isOfThis(tokens)) takeOver(tokens)
    } else if (own && state().phase === 'signed-in' && isLater(own, tokens)) {
      // This tab's sign-in is later, so it keeps its session. If both tabs switched to the other's, both sessions would
      // end.
      tabs.tell(own, 'signed-in')
    } else {
      const replaced = refreshToken
      takeOver(tokens)
      endReplaced(replaced)
    }
  }

  /** Email of the session that this tab holds, or has stored and not renewed yet. */
  function person(): string | null {
    return state().email ?? kept.email()
  }

  function isOfThis(tokens: HandedTokens): boolean {
    return tokens.refreshToken === refreshToken || emailOf(tokens) === person()
  }

  /** Takes over the tokens of another tab. It stays remembered only if both belong to the same session or user. */
  function takeOver(tokens: HandedTokens): void {
    const isRemembered = state().isRemembered && isOfThis(tokens)
    refreshToken = tokens.refreshToken
    signedInAt = tokens.signedInAt ?? signedInAt
    kept.clear()
    if (isRemembered) kept.keep(tokens.refreshToken, emailOf(tokens))
    hold(tokens.accessToken, tokens.receivedAt, { phase: 'signed-in', message: null, isRemembered })
  }

  function end(message: SessionMessage | null): void {
    renewal.stop()
    // A stored session whose renewal is being retried counts too, although nobody is signed in yet.
    const wasActive = refreshToken !== null || state().phase !== 'signed-out'
    kept.forgetDemo(refreshToken)
    refreshToken = null
    held = null
    kept.clear()
    if (wasActive) change({ ...SIGNED_OUT, message })
  }

  /**
   * A sign-out applies to all tabs of the user, also to tabs with another session; tabs of other users are unaffected.
   */
  function endFromOtherTab(ended: EndedSession): void {
    const own = refreshToken
    const isOfPerson = ended.email !== null && ended.email === person()
    const isOfThis = own !== null && (own === ended.refreshToken || isOfPerson)
    underWay.callOff((email) => isOfThis || email.trim().toLowerCase() === ended.email?.toLowerCase())
    if (!isOfThis) return
    end(SIGNED_OUT_ELSEWHERE)
    // After this, a reload does not sign the demo user in, in this tab as in the other one.
    kept.markSignedOut()
    if (own !== ended.refreshToken) endReplaced(own)
  }

  /** This tab or another one found the session ended. Hides its data now, not only when the next request fails. */
  function endFound(presented: string): void {
    if (presented !== refreshToken) return
    end(ENDED)
    // The person has seen the message, so the next reload must not report a lost session.
    kept.markOfSomebody(false)
  }

  function takeRenewed(accessToken: string): void {
    // This is the stored session of the tab, and its first renewal attempt had failed.
    const isLate = state().phase === 'starting' || state().phase === 'signed-out'
    hold(accessToken, Date.now(), isLate ? { phase: 'signed-in', message: null } : {})
    handOver('renewed')
  }

  function begin(tokens: Tokens, at: number, isRemembered: boolean): void {
    refreshToken = tokens.refreshToken
    signedInAt = at
    hold(tokens.accessToken, Date.now(), { phase: 'signed-in', message: null, isRemembered })
    if (held?.email === facts.demoEmail) kept.keepDemo(tokens.refreshToken)
    if (isRemembered) kept.keep(tokens.refreshToken, emailOf(tokens))
  }

  /** Shows whether the gateway has ended the session, unless the person has signed in again meanwhile. */
  function showLogoutResult(tried: Tried): void {
    if (state().phase !== 'signed-out') return
    if (tried !== 'ended') change({ message: tried === 'due' ? NOT_TOLD : NOT_ENDED })
    else if (state().message === NOT_TOLD) change({ message: null })
  }

  /**
   * Ends a session that no tab holds any more, because somebody with a copy of its token could still use it. The demo
   * user's session stays, for the next page that opens.
   */
  function endReplaced(presented: string | null): void {
    if (presented === null || presented === refreshToken || presented === kept.demoToken()) return
    void endAtGateway(presented)
  }

  /** Ends a session that this tab opened and does not use. */
  function endOpened(opened: string): void {
    kept.forgetDemo(opened)
    void endAtGateway(opened)
  }

  function endKeptDemo(): void {
    const left = kept.demoToken()
    kept.forgetDemo(left)
    endReplaced(left)
  }

  /**
   * Whether the tokens are the demo user's while this tab belongs to somebody else. A tab whose question a busy tab did
   * not answer in time becomes the demo user's; after a reload, a tab of somebody else must not copy that.
   */
  function wouldSwitchToDemo(tokens: HandedTokens): boolean {
    return kept.isOfSomebody() && emailOf(tokens) === facts.demoEmail
  }

  async function beginDemo(email: string): Promise<void> {
    isDemoDue = false
    try {
      const { alone } = tabs
      const tokens = await underWay.run(email, () => demoTokens({ kept, post, login, alone, email, end: endOpened }))
      if (tokens && refreshToken === null) return begin(tokens, 0, false)
      // The person signed in while the demo sign-in was in flight.
      if (refreshToken !== null) return endReplaced(tokens?.refreshToken ?? null)
      end(SIGNED_OUT_ELSEWHERE)
      kept.markSignedOut()
    } catch (error) {
      isDemoDue = error instanceof TypeError && refreshToken === null
      if (refreshToken === null) end(failed(failureText(error)))
    }
  }

  options.onBack(() => {
    if (isDemoDue && facts.demoEmail !== null && !kept.isSignedOut()) void beginDemo(facts.demoEmail)
  })

  return {
    state,
    subscribe,
    openAnother,
    endAnother: endOpened,
    async start() {
      const [own, isOfSomebody] = [kept.token(), kept.isOfSomebody()]
      refreshToken = own
      change({ isRemembered: own !== null })
      // If tabs have different sessions, prefer one with this tab's session: taking over another one ends this tab's
      // session.
      const isOwn = (tokens: HandedTokens): boolean => (own === null ? !wouldSwitchToDemo(tokens) : isOfThis(tokens))
      const shared = kept.isSignedOut() ? null : await tabs.ask(isOwn)
      if (shared && !wouldSwitchToDemo(shared)) {
        takeOver(shared)
        return endReplaced(own)
      }
      if (refreshToken !== null) {
        await renewal.refresh()
        if (held) return
        if (refreshToken !== null) return change({ phase: 'signed-out', message: NOT_RENEWED })
      }
      if (facts.demoEmail === null || kept.isSignedOut()) return change({ phase: 'signed-out' })
      // The session ended during the renewal, and its message is already shown.
      if (isOfSomebody && own !== null) return
      if (isOfSomebody) return change({ phase: 'signed-out', message: NOT_KEPT })
      await beginDemo(facts.demoEmail)
    },
    async signIn(email, { code, isRemembered } = {}) {
      const tokens = await underWay.run(email, () => login(email, code))
      if (tokens === null) throw new LoginFailure('', SIGNED_OUT_MEANWHILE)
      const replaced = new Set([refreshToken, kept.demoToken()])
      kept.clear()
      // Later than any sign-in that this tab knows of, even if the clock was set back.
      const at = Math.max(Date.now(), signedInAt + 1)
      // Read only now, because the person may have changed the choice of this tab since the request.
      begin(tokens, at, isRemembered ?? state().isRemembered)
      handOver('signed-in')
      for (const one of replaced) endReplaced(one)
    },
    async signOut() {
      const [presented, email] = [refreshToken, person()]
      underWay.callOff(() => true)
      end(null)
      kept.markSignedOut()
      // Tabs that opened at the same moment each opened a demo session; the stored one may belong to another tab.
      if (email !== null && email === facts.demoEmail) endKeptDemo()
      if (presented === null) return
      tabs.tellEnd({ refreshToken: presented, email })
      await endAtGateway(presented, showLogoutResult)
    },
    remember(isRemembered) {
      const own = heldTokens()
      if (isRemembered && own) kept.keep(own.refreshToken, emailOf(own))
      else kept.clear()
      change({ isRemembered })
    },
    send,
  }
}
