// Login, refresh and logout: checks the rate limits and the login guard, then opens, refreshes or ends the session.
import { GatewayError } from '../errors.ts'
import type { Caller } from './caller.ts'
import { canonicalEmail } from './email.ts'
import type { LoginGuard, Refusal } from './guards/guard.ts'
import { networkOf } from './limits/network.ts'
import type { RateLimits } from './limits/rate-limits.ts'
import type { Sessions, TokenPair } from './sessions.ts'

export interface SignInServices {
  readonly sessions: Sessions
  readonly guard: LoginGuard
  readonly limits: RateLimits
}

/** The fields of a login, as the client sent them. */
export interface LoginFields {
  readonly email: string
  /** Code for the guard `mail`; null without one. */
  readonly code: string | null
}

export interface SignIn {
  /** Throws `INVALID_EMAIL`, `LOGIN_REFUSED` and the other refusals of guards, `TOO_MANY_REQUESTS`. */
  readonly login: (fields: LoginFields, caller: Caller) => Promise<TokenPair>
  /** Throws `UNAUTHENTICATED` for an empty token, `INVALID_TOKEN`, `TOO_MANY_REQUESTS`. */
  readonly refresh: (refreshToken: string, caller: Caller) => Promise<{ readonly accessToken: string }>
  /** Throws `UNAUTHENTICATED` for an empty token, `INVALID_TOKEN`. Never rate limited: a user can always sign out. */
  readonly logout: (refreshToken: string, caller: Caller) => Promise<void>
}

export function createSignIn({ sessions, guard, limits }: SignInServices): SignIn {
  function requirePresented(refreshToken: string): void {
    if (refreshToken === '') throw new GatewayError('UNAUTHENTICATED', { message: 'A `refreshToken` is required.' })
  }

  return {
    async login({ email: sent, code }, caller) {
      if (!guard.chargesLimits?.(caller)) limits.require('login', { network: networkOf(caller.client.address) })
      const decision = await guard.decide({ caller, email: sent, code })
      if (decision.outcome !== 'admitted') throw toFailure(decision, guard)
      const email = canonicalEmail(decision.email)
      if (email === null) throw new GatewayError('INVALID_EMAIL')
      return sessions.open(email, caller, decision.client)
    },
    async refresh(refreshToken, caller) {
      requirePresented(refreshToken)
      limits.require('refresh', { network: networkOf(caller.client.address) })
      return sessions.refresh(refreshToken)
    },
    async logout(refreshToken, caller) {
      requirePresented(refreshToken)
      await sessions.close(refreshToken, caller)
    },
  }
}

function toFailure({ code, reason, remedy, retryAfterSeconds }: Refusal, { name }: LoginGuard): GatewayError {
  const help = remedy === null ? '' : ` To fix this: ${remedy}.`
  const message =
    code === 'LOGIN_REFUSED' ? `Sign-in was refused (login guard "${name}"): ${reason}.${help}` : `${reason}.${help}`
  return new GatewayError(code, { message, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) })
}
