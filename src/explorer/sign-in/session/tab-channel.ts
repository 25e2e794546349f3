// Shares one session between all tabs of a browser: a new tab asks the others, and a lock lets only one tab renew.
import type { HandedTokens } from './tokens.ts'

/** Why a tab broadcasts tokens: a person signed in there, or it renewed its access token. */
export type TokenOrigin = 'signed-in' | 'renewed'

/** A session that a person signed out of. */
export interface EndedSession {
  readonly refreshToken: string
  /** Null when unknown: a session that is stored across a reload may not have been renewed since. */
  readonly email: string | null
}

export interface TabMessages {
  readonly onTokens: (tokens: HandedTokens, origin: TokenOrigin) => void
  readonly onEnd: (ended: EndedSession) => void
  /** The gateway refused to renew that session. */
  readonly onFoundEnded: (refreshToken: string) => void
  /** The tokens that this tab holds, to answer another tab. */
  readonly held: () => HandedTokens | null
}

export interface TabChannel {
  /**
   * Asks the other tabs for their tokens. Of several answers it prefers those for which `isPreferred` is true. Resolves
   * to null when none arrives within ANSWER_WITHIN_MS.
   */
  readonly ask: (isPreferred: (tokens: HandedTokens) => boolean) => Promise<HandedTokens | null>
  readonly tell: (tokens: HandedTokens, origin: TokenOrigin) => void
  readonly tellEnd: (ended: EndedSession) => void
  readonly tellFoundEnded: (refreshToken: string) => void
  /** Runs under a lock that all tabs share; without a lock where the browser does not support locks. */
  readonly alone: <T>(run: () => Promise<T>) => Promise<T>
}

type Message =
  | { readonly kind: 'end'; readonly ended: EndedSession }
  | { readonly kind: 'found-ended'; readonly refreshToken: string }
  | { readonly kind: 'ask'; readonly question: number }
  | { readonly kind: 'answer'; readonly question: number; readonly tokens: HandedTokens }
  | { readonly kind: 'tokens'; readonly tokens: HandedTokens; readonly origin: TokenOrigin }

/** The pending question of this tab. */
interface Waiting {
  readonly question: number
  /** Handles an answer. The first one is the fallback when no preferred one arrives. */
  readonly take: (tokens: HandedTokens) => void
  readonly settle: (tokens: HandedTokens) => void
}

/** A later answer, as from a busy tab, is ignored: the asking tab has continued without it. */
const ANSWER_WITHIN_MS = 250

/** The fallback without BroadcastChannel: each tab has its own session. */
const WITHOUT_OTHERS: TabChannel = {
  ask: async () => null,
  tell: () => {},
  tellEnd: () => {},
  tellFoundEnded: () => {},
  alone: (run) => run(),
}

/** Tokens travel only between pages of this origin, and the channel stores them nowhere. */
export function openTabChannel(name: string, { onTokens, onEnd, onFoundEnded, held }: TabMessages): TabChannel {
  const channel = openChannel(name)
  if (channel === null) return WITHOUT_OTHERS
  const lockName = `${name}:refresh`
  const presence = `${name}:open`
  let waiting: Waiting | null = null
  // Each open tab holds a shared lock. So the first tab knows that nobody would answer, and does not wait.
  const others = countOthers(presence)

  const post = (message: Message): void => channel.postMessage(message)

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    const mine = held()
    if (data.kind === 'ask' && mine) post({ kind: 'answer', question: data.question, tokens: mine })
    if (data.kind === 'answer' && data.question === waiting?.question) waiting.take(data.tokens)
    if (data.kind === 'end') onEnd(data.ended)
    if (data.kind === 'found-ended') onFoundEnded(data.refreshToken)
    if (data.kind === 'tokens') {
      if (waiting && data.origin === 'renewed') waiting.take(data.tokens)
      else if (waiting) waiting.settle(data.tokens)
      else onTokens(data.tokens, data.origin)
    }
  }

  return {
    async ask(isPreferred) {
      if ((await others) === 0) return null
      return new Promise((resolve) => {
        let first: HandedTokens | null = null
        const timer = setTimeout(() => settle(first), ANSWER_WITHIN_MS)
        function take(tokens: HandedTokens): void {
          first ??= tokens
          if (isPreferred(tokens)) settle(tokens)
        }
        function settle(tokens: HandedTokens | null): void {
          clearTimeout(timer)
          waiting = null
          resolve(tokens)
        }
        const question = Math.random()
        waiting = { question, take, settle }
        post({ kind: 'ask', question })
      })
    },
    tell: (tokens, origin) => post({ kind: 'tokens', tokens, origin }),
    tellEnd: (ended) => post({ kind: 'end', ended }),
    tellFoundEnded: (refreshToken) => post({ kind: 'found-ended', refreshToken }),
    alone: async (run) => ((await others) === null ? run() : navigator.locks.request(lockName, run)),
  }
}

/** Returns null in browsers without BroadcastChannel, and in Firefox when the person blocks cookies. */
function openChannel(name: string): BroadcastChannel | null {
  try {
    return new BroadcastChannel(name)
  } catch {
    return null
  }
}

/**
 * Counts the other open tabs. Resolves to null without Web Locks: browsers hide them on plain HTTP, except on
 * localhost, and refuse them when the person blocks storage.
 */
async function countOthers(presence: string): Promise<number | null> {
  if (!('locks' in navigator)) return null
  const locks = await navigator.locks.query().catch(() => null)
  if (locks === null) return null
  void navigator.locks.request(presence, { mode: 'shared' }, () => new Promise(() => {}))
  return (locks.held ?? []).filter(({ name }) => name === presence).length
}
