// The session that the checks read with: logs in once, and renews the access token when it has expired.
import { isTokenRefused } from '../import-export/remote/retry.ts'
import { isHeaderToken } from '../import-export/remote/session.ts'
import { memberOf } from '../member-of.ts'
import { jsonOf } from './answer-body.ts'
import { CannotTellError } from './cannot-tell.ts'
import type { ProbeAnswer, ProbeRequest } from './exchange.ts'

/** Access tokens to try per request: a token that is valid for a second may expire on its way. */
const MAX_TOKENS = 3

export interface Tokens {
  readonly accessToken: string
  /** Empty if the server did not answer one. */
  readonly refreshToken: string
}

export interface OwnSession {
  /** The first login, made once for all checks. */
  readonly login: () => Promise<ProbeAnswer>
  /** The current tokens of the first login. Throws `CannotTellError`. */
  readonly session: () => Promise<Tokens>
  /** The tokens of a new login. Throws `CannotTellError`. */
  readonly newSession: () => Promise<Tokens>
  /** Sends a request with the access token, and renews the token if it is refused. Throws `CannotTellError`. */
  readonly sendAsUser: (request: ProbeRequest) => Promise<ProbeAnswer>
}

export function createOwnSession(send: (request: ProbeRequest) => Promise<ProbeAnswer>, email: string): OwnSession {
  let loggedIn: Promise<ProbeAnswer> | null = null
  let tokens: Tokens | null = null

  const signIn = () => send({ method: 'POST', path: '/login', body: { email } })

  function login(): Promise<ProbeAnswer> {
    loggedIn ??= signIn()
    return loggedIn
  }

  async function session(): Promise<Tokens> {
    tokens ??= requireTokens(await login())
    return tokens
  }

  async function newSession(): Promise<Tokens> {
    return requireTokens(await signIn())
  }

  /** Renews the access token with the refresh token, or logs in again if that fails. */
  async function renew(): Promise<void> {
    const { refreshToken } = await session()
    const answer = refreshToken === '' ? null : await send({ method: 'POST', path: '/token', body: { refreshToken } })
    const renewed = answer?.status === 200 ? tokensOf(answer) : null
    tokens = renewed ? { refreshToken, ...renewed } : await newSession()
  }

  return {
    login,
    session,
    newSession,
    sendAsUser: (request) =>
      whileRefused(async (attempt) => {
        if (attempt > 0) await renew()
        return send({ ...request, headers: { ...bearer((await session()).accessToken), ...request.headers } })
      }),
  }
}

/**
 * Repeats a request while its access token is refused, at most `MAX_TOKENS` times. `ask` uses another token for each
 * attempt.
 */
export async function whileRefused(ask: (attempt: number) => Promise<ProbeAnswer>): Promise<ProbeAnswer> {
  let answer = await ask(0)
  for (let attempt = 1; attempt < MAX_TOKENS && isTokenRefused(answer.status); attempt += 1) answer = await ask(attempt)
  return answer
}

/** The Authorization header for a token. Throws `CannotTellError` if a header cannot contain the token. */
export function bearer(token: string): Record<string, string> {
  if (!isHeaderToken(token)) throw new CannotTellError('the token that was answered cannot be sent in a header')
  return { authorization: `Bearer ${token}` }
}

/** Throws `CannotTellError` if the server did not answer one. */
export function requireRefreshToken({ refreshToken }: Tokens): string {
  if (refreshToken === '') throw new CannotTellError('POST /login answered no refreshToken')
  return refreshToken
}

/** The tokens of an answer; null without an access token. */
function tokensOf(answer: ProbeAnswer): (Pick<Tokens, 'accessToken'> & Partial<Tokens>) | null {
  const body = jsonOf(answer)
  const [accessToken, refreshToken] = [memberOf(body, 'accessToken'), memberOf(body, 'refreshToken')]
  if (typeof accessToken !== 'string') return null
  return typeof refreshToken === 'string' ? { accessToken, refreshToken } : { accessToken }
}

function requireTokens(answer: ProbeAnswer): Tokens {
  const tokens = tokensOf(answer)
  if (!tokens) throw new CannotTellError(`no session: POST /login answered ${answer.status}`)
  return { refreshToken: '', ...tokens }
}
