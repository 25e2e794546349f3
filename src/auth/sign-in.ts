// Signing in, staying signed in and signing out, for one caller: limits and the guard first, then the session.
import { GatewayError } from '../errors.ts'
import { canonicalEmail } from './email.ts'
import type { Caller, LoginGuard } from './guards/guard.ts'
import type { Sessions, TokenPair } from './sessions.ts'

export interface SignInOptions {
  readonly guard: LoginGuard
  /** Logins and refreshes a minute that one peer address may try; 0 for no limit. */
  readonly attemptsPerMinute: number
}

export interface SignIn {
  /** Throws `INVALID_EMAIL`, `LOGIN_REFUSED`, `TOO_MANY_REQUESTS`. */
  readonly login: (email: string, caller: Caller) => Promise<TokenPair>
  /** Throws `UNAUTHENTICATED` for an empty token, `INVALID_TOKEN`, `TOO_MANY_REQUESTS`. */
  readonly refresh: (refreshToken: string, caller: Caller) => Promise<{ readonly accessToken: string }>
  /** Throws `UNAUTHENTICATED` for an empty token, `INVALID_TOKEN`. Never limited: whoever wants out gets out. */
  readonly logout: (refreshToken: string) => Promise<void>
}

/** Throws `TOO_MANY_REQUESTS`. */
type RequireWithinLimit = (caller: Caller) => Promise<void>

export async function createSignIn(sessions: Sessions, { guard, attemptsPerMinute }: SignInOptions): Promise<SignIn> {
  const requireWithinLimit = attemptsPerMinute > 0 ? await createLimit(attemptsPerMinute) : async () => {}

  function requirePresented(refreshToken: string): void {
    if (refreshToken === '') throw new GatewayError('UNAUTHENTICATED', { message: 'A `refreshToken` is required.' })
  }

  return {
    async login(input, caller) {
      await requireWithinLimit(caller)
      const reason = await guard.refusal(caller)
      if (reason !== null) {
        throw new GatewayError('LOGIN_REFUSED', {
          message: `Sign-in was refused (login guard "${guard.name}"): ${reason}.`,
        })
      }
      const email = canonicalEmail(input)
      if (email === null) throw new GatewayError('INVALID_EMAIL')
      return sessions.open(email, caller)
    },
    async refresh(refreshToken, caller) {
      requirePresented(refreshToken)
      await requireWithinLimit(caller)
      return sessions.refresh(refreshToken)
    },
    async logout(refreshToken) {
      requirePresented(refreshToken)
      await sessions.close(refreshToken)
    },
  }
}

async function createLimit(attemptsPerMinute: number): Promise<RequireWithinLimit> {
  // Loaded only for a limit: it brings its clients of a dozen databases along.
  const { RateLimiterMemory, RateLimiterRes } = await import('rate-limiter-flexible')
  const limiter = new RateLimiterMemory({ points: attemptsPerMinute, duration: 60 })
  return async ({ peerAddress }) => {
    try {
      await limiter.consume(peerAddress)
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      throw new GatewayError('TOO_MANY_REQUESTS', { retryAfterSeconds: Math.ceil(refused.msBeforeNext / 1_000) })
    }
  }
}
