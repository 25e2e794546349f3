// A client of the old server that reads there as a user: it signs in with the user's email, as the contract defines.
import { LRUCache } from 'lru-cache'
import { eachOf } from '../../import-export/each-of.ts'
import { statusInWords } from '../../import-export/remote/redirect.ts'
import {
  isSaidToBeBusy,
  isSessionRefused,
  isTokenRefused,
  kindOfStatus,
  retryAfterMs,
} from '../../import-export/remote/retry.ts'
import { isHeaderToken } from '../../import-export/remote/session.ts'
import { ANSWER_MS, fetchAgain, type OldAnswer, toOldAnswer } from './old-answer.ts'

/** Users signed in on the old server. Beyond this number the least recently used session is signed out. */
const MAX_SESSIONS = 10_000
/** Time limit for signing out. */
const SIGN_OUT_MS = 2_000
/** Sign-outs in parallel; each may open a connection. */
const SIGN_OUTS_AT_ONCE = 32
/** The shortest pause after the old server has reported that it is busy. */
const MIN_BUSY_MS = 1_000

/** The old server refused to sign the user in, or returned no token. */
export class OldSignInError extends Error {
  override readonly name = 'OldSignInError'
}

/** The old server, or a proxy in front of it, cannot answer now. */
export class OldAwayError extends Error {
  override readonly name: string = 'OldAwayError'
}

/** The old server is busy until a stated time. Until then no request is sent on behalf of this user. */
export class OldBusyError extends OldAwayError {
  override readonly name = 'OldBusyError'
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string | null
}

export interface OldServer extends AsyncDisposable {
  /**
   * Returns the answer to a read of this user; the caller reads the body or cancels it. Throws `OldSignInError`,
   * `OldAwayError`, and what `fetch` throws.
   */
  readonly read: (email: string, request: OldRead) => Promise<OldAnswer>
}

export interface OldRead {
  readonly method: 'GET' | 'HEAD'
  /** Path and query. */
  readonly target: string
  /** Header fields by lower-case name. */
  readonly conditions?: Readonly<Record<string, string>>
  /** Aborts the body too. */
  readonly signal: AbortSignal
}

export interface OldServerAddress {
  /** Without a trailing slash. */
  readonly url: string
  /** Sent with every request, by lower-case name. A header that the contract requires replaces one of the same name. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Keeps one session per user, in memory only, and signs them all out when disposed. `stop` aborts the requests in
 * flight. `onFailure` receives what `read` throws, unless the caller or `stop` aborted it.
 */
export function createOldServer(
  { url, headers }: OldServerAddress,
  stop: AbortSignal,
  onFailure: (error: unknown) => void,
): OldServer {
  const withJson = { ...headers, 'content-type': 'application/json' }

  const sessions = new LRUCache<string, Promise<Tokens>>({
    max: MAX_SESSIONS,
    dispose: (tokens, _email, reason) => {
      if (reason === 'evict') void signOut(tokens, AbortSignal.timeout(SIGN_OUT_MS))
    },
  })

  /** Keyed by email: a rate limit is taken to apply to this user only, so other users are still read. */
  const busy = new LRUCache<string, OldBusyError>({ max: MAX_SESSIONS })

  /**
   * Throws `OldBusyError` for a response that says so. Stores the error for the user, unless it is the 503 of a read,
   * which may concern only that path.
   */
  async function unlessBusy(email: string, name: string, isSignIn: boolean, response: Response): Promise<Response> {
    const { status, headers: received } = response
    const told = { retryAfter: received.get('retry-after'), date: received.get('date') }
    if (!isSaidToBeBusy(status, told.retryAfter)) return response
    await response.body?.cancel()
    const ms = Math.max(MIN_BUSY_MS, Math.ceil(retryAfterMs(told, Date.now()) ?? 0))
    const error = new OldBusyError(`${name} answered ${status}`, ms)
    if (isSignIn || status === 429) busy.set(email, error, { ttl: ms })
    throw error
  }

  async function post(email: string, path: string, body: object): Promise<Response> {
    const response = await fetchAgain(`${url}${path}`, {
      method: 'POST',
      headers: withJson,
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS)]),
    })
    const name = `POST ${path}`
    await unlessBusy(email, name, true, response)
    if (kindOfStatus(response.status) === 'answer') return response
    await response.body?.cancel()
    throw new OldAwayError(`${name} answered ${response.status}`)
  }

  async function signIn(email: string): Promise<Tokens> {
    const response = await post(email, '/login', { email })
    const answer = await tokenAnswer(response)
    const accessToken = memberOf(answer, 'accessToken')
    if (!isHeaderToken(accessToken)) {
      throw new OldSignInError(
        `POST /login ${response.ok ? 'answered no accessToken' : statusInWords(response, url, '/login')}`,
      )
    }
    return { accessToken, refreshToken: memberOf(answer, 'refreshToken') }
  }

  async function renew(email: string, session: Tokens): Promise<Tokens> {
    const { refreshToken } = session
    if (refreshToken === null) return signIn(email)
    const answer = await tokenAnswer(await post(email, '/token', { refreshToken }))
    const accessToken = memberOf(answer, 'accessToken')
    if (!isHeaderToken(accessToken)) return signInAgain(email, session)
    // A server that rotates refresh tokens returns a new one.
    return { accessToken, refreshToken: memberOf(answer, 'refreshToken') ?? refreshToken }
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
    refused: Promise<Tokens>,
    next: (email: string, tokens: Tokens) => Promise<Tokens>,
  ): Promise<Tokens> {
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
  function keep(email: string, making: Promise<Tokens>, before: Promise<Tokens> | null = null): Promise<Tokens> {
    sessions.set(email, making)
    making.catch((error: unknown) => {
      if (sessions.peek(email) !== making) return
      if (before && !(error instanceof OldSignInError)) sessions.set(email, before)
      else sessions.delete(email)
    })
    return making
  }

  async function send(
    email: string,
    { accessToken }: Tokens,
    { method, target, conditions, signal }: OldRead,
  ): Promise<OldAnswer> {
    const slow = new AbortController()
    const giveUp = () => slow.abort(new Error('no answer in time'))
    const timer = setTimeout(giveUp, ANSWER_MS)
    try {
      const response = await fetchAgain(`${url}${target}`, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${accessToken}`,
          'accept-encoding': 'identity',
          ...conditions,
        },
        redirect: 'manual',
        signal: AbortSignal.any([signal, stop, slow.signal]),
      })
      return toOldAnswer(await unlessBusy(email, `${method} ${target.split('?')[0]}`, false, response), giveUp)
    } finally {
      clearTimeout(timer)
    }
  }

  async function signOut(session: Promise<Tokens>, signal: AbortSignal): Promise<void> {
    try {
      const { refreshToken } = await session
      if (refreshToken === null) return
      const response = await fetchAgain(`${url}/logout`, {
        method: 'DELETE',
        headers: withJson,
        body: JSON.stringify({ refreshToken }),
        redirect: 'manual',
        signal,
      })
      await response.body?.cancel()
    } catch {
      // The session expires on the old server by itself.
    }
  }

  async function sendAs(email: string, request: OldRead): Promise<OldAnswer> {
    const told = busy.get(email)
    if (told) throw new OldBusyError(told.message, busy.getRemainingTTL(email))
    const used = sessions.get(email) ?? keep(email, signIn(email))
    const first = await send(email, await used, request)
    if (!isTokenRefused(first.status)) return first
    await first.cancel()
    const renewed = replace(email, used, renew)
    const second = await send(email, await renewed, request)
    if (!isSessionRefused(second.status)) return second
    await second.cancel()
    return send(email, await replace(email, renewed, signInAgain), request)
  }

  return {
    async read(email, request) {
      try {
        return await sendAs(email, request)
      } catch (error) {
        if (!stop.aborted && !request.signal.aborted) onFailure(error)
        throw error
      }
    },
    async [Symbol.asyncDispose]() {
      const signal = AbortSignal.timeout(SIGN_OUT_MS)
      await eachOf([...sessions.values()], SIGN_OUTS_AT_ONCE, (tokens) => signOut(tokens, signal))
      sessions.clear()
    },
  }
}

/** Returns null for a response that is not a success, or not JSON. */
async function tokenAnswer(response: Response): Promise<unknown> {
  if (response.ok) return response.json().catch(() => null)
  await response.body?.cancel()
  return null
}

function memberOf(answer: unknown, name: string): string | null {
  const value: unknown = Reflect.get(Object(answer), name)
  return typeof value === 'string' ? value : null
}
