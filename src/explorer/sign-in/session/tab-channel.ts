// One session over all tabs of a browser: a new tab asks the others, and only one of them renews.
import type { HandedTokens } from './tokens.ts'

/** Why a tab tells of tokens: a person has signed in there, or it has renewed those of its session. */
export type TokenOrigin = 'signed-in' | 'renewed'

/** A session that a person has signed out of. */
export interface EndedSession {
  readonly refreshToken: string
  /** Null where it is not known: a session that is kept over a reload may not have been renewed since. */
  readonly email: string | null
}

export interface TabMessages {
  readonly onTokens: (tokens: HandedTokens, origin: TokenOrigin) => void
  readonly onEnd: (ended: EndedSession) => void
  /** The gateway has refused to renew that session. */
  readonly onFoundEnded: (refreshToken: string) => void
  /** What this tab holds, for one that asks. */
  readonly held: () => HandedTokens | null
}

export interface TabChannel {
  /** The tokens that another tab holds, of several those that are preferred; null when none answers in a moment. */
  readonly ask: (isPreferred: (tokens: HandedTokens) => boolean) => Promise<HandedTokens | null>
  readonly tell: (tokens: HandedTokens, origin: TokenOrigin) => void
  readonly tellEnd: (ended: EndedSession) => void
  readonly tellFoundEnded: (refreshToken: string) => void
  /** Runs while no other tab runs one; at once where the browser has no locks. */
  readonly alone: <T>(run: () => Promise<T>) => Promise<T>
}

type Message =
  | { readonly kind: 'end'; readonly ended: EndedSession }
  | { readonly kind: 'found-ended'; readonly refreshToken: string }
  | { readonly kind: 'ask'; readonly question: number }
  | { readonly kind: 'answer'; readonly question: number; readonly tokens: HandedTokens }
  | { readonly kind: 'tokens'; readonly tokens: HandedTokens; readonly origin: TokenOrigin }

/** For the answers to a question. */
interface Waiting {
  readonly question: number
  /** The first one is for when no preferred one comes. */
  readonly take: (tokens: HandedTokens) => void
  readonly settle: (tokens: HandedTokens) => void
}

/** An answer that comes later, as from a tab that is busy, is none: the tab that asked has gone on without it. */
const ANSWER_WITHIN_MS = 250

/** Each tab is then signed in by itself. */
const WITHOUT_OTHERS: TabChannel = {
  ask: async () => null,
  tell: () => {},
  tellEnd: () => {},
  tellFoundEnded: () => {},
  alone: (run) => run(),
}

/** Tokens pass between pages of this origin only, and are stored nowhere. */
export function openTabChannel(name: string, { onTokens, onEnd, onFoundEnded, held }: TabMessages): TabChannel {
  const channel = openChannel(name)
  if (channel === null) return WITHOUT_OTHERS
  const lockName = `${name}:refresh`
  const presence = `${name}:open`
  let waiting: Waiting | null = null
  // Held for as long as the tab is open, so that the first tab need not wait for an answer that nobody gives.
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

/** Null in a browser without channels, and in Firefox where the person blocks cookies. */
function openChannel(name: string): BroadcastChannel | null {
  try {
    return new BroadcastChannel(name)
  } catch {
    return null
  }
}

/** Null without locks: browsers hide them from plain HTTP, except on localhost, and refuse them where the person blocks storage. */
async function countOthers(presence: string): Promise<number | null> {
  if (!('locks' in navigator)) return null
  const locks = await navigator.locks.query().catch(() => null)
  if (locks === null) return null
  void navigator.locks.request(presence, { mode: 'shared' }, () => new Promise(() => {}))
  return (locks.held ?? []).filter(({ name }) => name === presence).length
}
