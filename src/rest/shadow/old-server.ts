// The server that clients are moved away from, asked in the name of a user: signed in by email, as the contract has it.
import { LRUCache } from 'lru-cache'
import { isSaidToBeBusy, isSessionRefused, isTokenRefused, retryAfterMs } from '../../import-export/remote/retry.ts'

/** Of users who are signed in there; the one that was not needed for longest is signed out. */
const MAX_SESSIONS = 10_000
/** Until an answer begins. */
const ANSWER_MS = 30_000
/** For all that is said when this process ends. */
const FAREWELL_MS = 2_000
/** At least, of a server that is busy. */
const MIN_BUSY_MS = 1_000

/** It refused to sign the user in, or answered no token. */
export class OldSignInError extends Error {
  override readonly name = 'OldSignInError'
}

/** It is busy, and says or said for how long: this user is asked for again after that. */
export class OldBusyError extends OldSignInError {
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
  /** Its answer to a read of this user; the caller takes the body or cancels it. Throws when none comes, `OldSignInError`, `OldBusyError`. */
  readonly read: (email: string, request: OldRead) => Promise<Response>
}

export interface OldRead {
  readonly method: 'GET' | 'HEAD'
  /** With the query. */
  readonly target: string
  readonly ifNoneMatch?: string | undefined
  /** Ends the answer too. */
  readonly signal: AbortSignal
}

export interface OldServerAddress {
  /** Without a slash at its end. */
  readonly url: string
  /** Sent along with every request, by names in lower case; what the contract needs itself stands in for them. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Sessions live in memory only, one for each user; `stop` ends what is under way, disposing it signs them out. `onFailure` is told what
 * `read` throws, unless the caller or `stop` ended it.
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
      if (reason === 'evict') void signOut(tokens, AbortSignal.timeout(FAREWELL_MS))
    },
  })

  /** By email. A limit is of a user, as far as is known: one who is asked for too often keeps nobody else out. */
  const busy = new LRUCache<string, OldBusyError>({ max: MAX_SESSIONS })

  /** A read that is 503 says nothing about others: it may be about what was asked for. */
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
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: withJson,
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS)]),
    })
    return unlessBusy(email, `POST ${path}`, true, response)
  }

  async function signIn(email: string): Promise<Tokens> {
    const response = await post(email, '/login', { email })
    const answer = await tokenAnswer(response)
    const accessToken = memberOf(answer, 'accessToken')
    if (accessToken === null) throw new OldSignInError(`POST /login answered ${response.status}`)
    return { accessToken, refreshToken: memberOf(answer, 'refreshToken') }
  }

  async function renew(email: string, session: Tokens): Promise<Tokens> {
    const { refreshToken } = session
    if (refreshToken === null) return signIn(email)
    const answer = await tokenAnswer(await post(email, '/token', { refreshToken }))
    const accessToken = memberOf(answer, 'accessToken')
    if (accessToken === null) return signInAgain(email, session)
    // A server that takes each refresh token once answers the next one.
    return { accessToken, refreshToken: memberOf(answer, 'refreshToken') ?? refreshToken }
  }

  /** The session before may be open, whatever its tokens are good for. */
  function signInAgain(email: string, before: Tokens): Promise<Tokens> {
    void signOut(Promise.resolve(before), AbortSignal.timeout(FAREWELL_MS))
    return signIn(email)
  }

  /** The session of all who were refused with `refused`: what came after it, or else `next` makes it. */
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
   * One sign-in, and one renewal, for all who wait for it; one that failed is tried again by the next who asks. Where the server was too
   * busy for it, the session before may be renewed then.
   */
  function keep(email: string, making: Promise<Tokens>, before: Promise<Tokens> | null = null): Promise<Tokens> {
    sessions.set(email, making)
    making.catch((error: unknown) => {
      if (sessions.peek(email) !== making) return
      if (before && error instanceof OldBusyError) sessions.set(email, before)
      else sessions.delete(email)
    })
    return making
  }

  async function send(
    email: string,
    { accessToken }: Tokens,
    { method, target, ifNoneMatch, signal }: OldRead,
  ): Promise<Response> {
    const slow = new AbortController()
    const timer = setTimeout(() => slow.abort(new Error('no answer in time')), ANSWER_MS)
    try {
      const response = await fetch(`${url}${target}`, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${accessToken}`,
          'accept-encoding': 'identity',
          ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
        },
        redirect: 'manual',
        signal: AbortSignal.any([signal, stop, slow.signal]),
      })
      return await unlessBusy(email, `${method} ${target.split('?')[0]}`, false, response)
    } finally {
      clearTimeout(timer)
    }
  }

  async function signOut(session: Promise<Tokens>, signal: AbortSignal): Promise<void> {
    try {
      const { refreshToken } = await session
      if (refreshToken === null) return
      const response = await fetch(`${url}/logout`, {
        method: 'DELETE',
        headers: withJson,
        body: JSON.stringify({ refreshToken }),
        redirect: 'manual',
        signal,
      })
      await response.body?.cancel()
    } catch {
      // It forgets the session by itself, sooner or later.
    }
  }

  async function sendAs(email: string, request: OldRead): Promise<Response> {
    const told = busy.get(email)
    if (told) throw new OldBusyError(told.message, busy.getRemainingTTL(email))
    const used = sessions.get(email) ?? keep(email, signIn(email))
    const response = await send(email, await used, request)
    if (!isTokenRefused(response.status)) return response
    await response.body?.cancel()
    const renewed = replace(email, used, renew)
    const second = await send(email, await renewed, request)
    if (!isSessionRefused(second.status)) return second
    await second.body?.cancel()
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
      const signal = AbortSignal.timeout(FAREWELL_MS)
      await Promise.all([...sessions.values()].map((tokens) => signOut(tokens, signal)))
      sessions.clear()
    },
  }
}

/** Null for an answer that is no success, or no JSON. */
async function tokenAnswer(response: Response): Promise<unknown> {
  if (response.ok) return response.json().catch(() => null)
  await response.body?.cancel()
  return null
}

function memberOf(answer: unknown, name: string): string | null {
  const value: unknown = Reflect.get(Object(answer), name)
  return typeof value === 'string' ? value : null
}
