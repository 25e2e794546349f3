// Keeps one session per user at the old server, in memory only: opens, renews, replaces and ends it.
import { LRUCache } from 'lru-cache'
import { eachOf } from '../../import-export/each-of.ts'
import { createLateStop } from '../../import-export/remote/answer-limits.ts'
import { statusInWords } from '../../import-export/remote/redirect.ts'
import { kindOfStatus } from '../../import-export/remote/retry.ts'
import { isHeaderToken } from '../../import-export/remote/session.ts'
import { memberOf } from '../../member-of.ts'
import { readAtMost } from '../../send-request.ts'
import type { BusyUsers } from './busy-users.ts'
import { ANSWER_MS, sendAgain } from './old-answer.ts'
import { OldAwayError, OldSignInError } from './old-errors.ts'

/** Time limit for signing out, and for a sign-in or a renewal in flight after a stop: its session must be ended too. */
const SIGN_OUT_MS = 2_000
/** Maximum size of an answer with tokens: it is read into memory whole, for each user who signs in. */
const MAX_TOKEN_ANSWER_BYTES = 65_536
/** Sign-outs in parallel; each may open a connection. */
const SIGN_OUTS_AT_ONCE = 32

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string | null
}

/** A session that is open or being opened. The promise itself tells whether it has been replaced. */
export type OldSession = Promise<Tokens>

export interface OldServerAddress {
  /** Without a trailing slash. */
  readonly url: string
  /** Sent with every request, by lower-case name. A header that the contract requires replaces one of the same name. */
  readonly headers: Readonly<Record<string, string>>
}

/** Each verb rejects with `OldSignInError`, `OldAwayError`, and what `sendRequest` throws. */
export interface OldSessions extends AsyncDisposable {
  /** The session of this user; signs in if there is none. */
  readonly of: (email: string) => OldSession
  /** Renews the access token of a session, because the old server has refused it. */
  readonly renew: (email: string, refused: OldSession) => OldSession
  /** Signs in again, because the old server has refused a renewed session too. */
  readonly reopen: (email: string, refused: OldSession) => OldSession
}

/**
 * Signs out the least recently used session beyond `maxSessions`, and all of them when disposed. After `stop` no session
 * is opened or renewed.
 */
export function createOldSessions(
  { url, headers }: OldServerAddress,
  maxSessions: number,
  { unlessBusy }: BusyUsers,
  stop: AbortSignal,
): OldSessions {
  const stopLate = createLateStop(stop, SIGN_OUT_MS)
  const withJson = { ...headers, 'content-type': 'application/json' }

  const sessions = new LRUCache<string, OldSession>({
    max: maxSessions,
    dispose: (session, _email, reason) => {
      if (reason === 'evict') void signOut(session, AbortSignal.timeout(SIGN_OUT_MS))
    },
  })

  async function post(email: string, path: string, body: object): Promise<Response> {
    stop.throwIfAborted()
    const response = await sendAgain(`${url}${path}`, {
      method: 'POST',
      headers: withJson,
      body: JSON.stringify(body),
      signal: AbortSignal.any([stopLate, AbortSignal.timeout(ANSWER_MS)]),
    })
    const name = `POST ${path}`
    await unlessBusy({ email, name, isSignIn: true }, response)
    if (kindOfStatus(response.status) === 'answer') return response
    await response.body?.cancel()
    throw new OldAwayError(`${name} answered ${response.status}`)
  }

  async function signIn(email: string): Promise<Tokens> {
    const response = await post(email, '/login', { email })
    const answer = await tokenAnswer(response)
    const [accessToken, refreshToken] = [textMember(answer, 'accessToken'), textMember(answer, 'refreshToken')]
    if (isHeaderToken(accessToken)) return { accessToken, refreshToken }
    // It may have opened a session all the same.
    void signOut(Promise.resolve({ refreshToken }), AbortSignal.timeout(SIGN_OUT_MS))
    throw new OldSignInError(
      `POST /login ${response.ok ? 'answered no accessToken' : statusInWords(response, url, '/login')}`,
    )
  }

  async function renew(email: string, session: Tokens): Promise<Tokens> {
    const { refreshToken } = session
    if (refreshToken === null) return signIn(email)
    const answer = await tokenAnswer(await post(email, '/token', { refreshToken }))
    const accessToken = textMember(answer, 'accessToken')
    if (!isHeaderToken(accessToken)) return signInAgain(email, session)
    // A server that rotates refresh tokens returns a new one.
    return { accessToken, refreshToken: textMember(answer, 'refreshToken') ?? refreshToken }
  }

  /** Signs out the previous session: it may still be open, although its tokens were refused. */
  function signInAgain(email: string, before: Tokens): Promise<Tokens> {
    void signOut(Promise.resolve(before), AbortSignal.timeout(SIGN_OUT_MS))
    return signIn(email)
  }

  /**
   * Returns the session that replaces `refused`. The first caller creates it with `next`; all other refused callers
   * share it.
   */
  function replace(
    email: string,
    refused: OldSession,
    next: (email: string, tokens: Tokens) => Promise<Tokens>,
  ): OldSession {
    const now = sessions.get(email)
    if (now && now !== refused) return now
    return keep(
      email,
      refused.then((tokens) => next(email, tokens)),
      refused,
    )
  }

  /**
   * All concurrent callers share one sign-in or renewal. After a failure the next read tries again: with a new sign-in
   * when the old server refused this one, otherwise with the session `before`, which may still be open there.
   */
  function keep(email: string, making: OldSession, before: OldSession | null = null): OldSession {
    sessions.set(email, making)
    making.catch((error: unknown) => {
      if (sessions.peek(email) !== making) return
      if (before && !(error instanceof OldSignInError)) sessions.set(email, before)
      else sessions.delete(email)
    })
    return making
  }

  async function signOut(session: Promise<Pick<Tokens, 'refreshToken'>>, signal: AbortSignal): Promise<void> {
    try {
      const { refreshToken } = await session
      if (refreshToken === null) return
      const response = await sendAgain(`${url}/logout`, {
        method: 'DELETE',
        headers: withJson,
        body: JSON.stringify({ refreshToken }),
        signal,
      })
      await response.body?.cancel()
    } catch {
      // The session expires on the old server by itself.
    }
  }

  return {
    of: (email) => sessions.get(email) ?? keep(email, signIn(email)),
    renew: (email, refused) => replace(email, refused, renew),
    reopen: (email, refused) => replace(email, refused, signInAgain),
    async [Symbol.asyncDispose]() {
      const signal = AbortSignal.timeout(SIGN_OUT_MS)
      await eachOf([...sessions.values()], SIGN_OUTS_AT_ONCE, (session) => signOut(session, signal))
      sessions.clear()
    },
  }
}

/** Returns null for a response that is not a success, too long, or not JSON. */
async function tokenAnswer(response: Response): Promise<unknown> {
  if (!response.ok) {
    await response.body?.cancel()
    return null
  }
  const body = await readAtMost(response, MAX_TOKEN_ANSWER_BYTES).catch(() => null)
  return body && new Response(body).json().catch(() => null)
}

function textMember(answer: unknown, name: string): string | null {
  const value: unknown = memberOf(answer, name)
  return typeof value === 'string' ? value : null
}
