// The server that clients are moved away from, asked in the name of a user: signed in by email, as the contract has it.
import { LRUCache } from 'lru-cache'
import { isSessionRefused, isTokenRefused } from '../../import-export/remote/retry.ts'

/** Of users who are signed in there; the one that was not needed for longest is signed out. */
const MAX_SESSIONS = 10_000
/** Until an answer begins. */
const ANSWER_MS = 30_000
/** For all that is said when this process ends. */
const FAREWELL_MS = 2_000

/** It refused to sign the user in, or answered no token. */
export class OldSignInError extends Error {
  override readonly name = 'OldSignInError'
}

interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string | null
}

export interface OldServer extends AsyncDisposable {
  /** Its answer to a read of this user; the caller takes the body or cancels it. Throws when none comes, `OldSignInError`. */
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

  async function post(path: string, body: object): Promise<Response> {
    return fetch(`${url}${path}`, {
      method: 'POST',
      headers: withJson,
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS)]),
    })
  }

  async function signIn(email: string): Promise<Tokens> {
    const response = await post('/login', { email })
    const answer = await tokenAnswer(response)
    const accessToken = memberOf(answer, 'accessToken')
    if (accessToken === null) throw new OldSignInError(`POST /login answered ${response.status}`)
    return { accessToken, refreshToken: memberOf(answer, 'refreshToken') }
  }

  async function renew(email: string, session: Tokens): Promise<Tokens> {
    const { refreshToken } = session
    if (refreshToken === null) return signIn(email)
    const answer = await tokenAnswer(await post('/token', { refreshToken }))
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
    )
  }

  /** One sign-in, and one renewal, for all who wait for it; one that failed is tried again by the next who asks. */
  function keep(email: string, making: Promise<Tokens>): Promise<Tokens> {
    sessions.set(email, making)
    making.catch(() => {
      if (sessions.peek(email) === making) sessions.delete(email)
    })
    return making
  }

  async function send({ accessToken }: Tokens, { method, target, ifNoneMatch, signal }: OldRead): Promise<Response> {
    const slow = new AbortController()
    const timer = setTimeout(() => slow.abort(new Error('no answer in time')), ANSWER_MS)
    try {
      return await fetch(`${url}${target}`, {
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
    const used = sessions.get(email) ?? keep(email, signIn(email))
    const response = await send(await used, request)
    if (!isTokenRefused(response.status)) return response
    await response.body?.cancel()
    const renewed = replace(email, used, renew)
    const second = await send(await renewed, request)
    if (!isSessionRefused(second.status)) return second
    await second.body?.cancel()
    return send(await replace(email, renewed, signInAgain), request)
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
