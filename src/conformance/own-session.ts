// The session that the checks read with: signed in once, and renewed when its access token has run out.
import { isTokenRefused } from '../import-export/remote/retry.ts'
import { isHeaderToken } from '../import-export/remote/session.ts'
import { jsonOf, memberOf } from './answer-body.ts'
import { CannotTellError } from './cannot-tell.ts'
import type { ProbeAnswer, ProbeRequest } from './exchange.ts'

/** Of one request: a token that lives for a second may run out on its way. */
const MAX_TOKENS = 3

export interface Tokens {
  readonly accessToken: string
  /** Empty where the server answered none. */
  readonly refreshToken: string
}

export interface OwnSession {
  /** The first login: once for all checks. */
  readonly login: () => Promise<ProbeAnswer>
  /** Its tokens, as they were renewed last. Throws `CannotTellError`. */
  readonly session: () => Promise<Tokens>
  /** Of another login. Throws `CannotTellError`. */
  readonly newSession: () => Promise<Tokens>
  /** With its access token, which is renewed when it is refused. Throws `CannotTellError`. */
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

  /** By its refresh token; by another login where that is none any more. */
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

/** Asks again while the access token is refused, a few times: each with another access token. */
export async function whileRefused(ask: (attempt: number) => Promise<ProbeAnswer>): Promise<ProbeAnswer> {
  let answer = await ask(0)
  for (let attempt = 1; attempt < MAX_TOKENS && isTokenRefused(answer.status); attempt += 1) answer = await ask(attempt)
  return answer
}

/** Throws `CannotTellError`. */
export function bearer(token: string): Record<string, string> {
  if (!isHeaderToken(token)) throw new CannotTellError('no header can hold the token that was answered')
  return { authorization: `Bearer ${token}` }
}

/** Throws `CannotTellError` where the server answered none. */
export function requireRefreshToken({ refreshToken }: Tokens): string {
  if (refreshToken === '') throw new CannotTellError('POST /login answered no refreshToken')
  return refreshToken
}

/** Null without an access token. */
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
