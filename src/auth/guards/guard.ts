// The interface of login guards: the contract's login request contains only an email, so a guard decides what else is
// required.
import { type FailureCode, messageOf } from '../../errors.ts'
import type { Awaitable } from '../../store/contract.ts'
import type { Caller } from '../caller.ts'

/** A login request, the same for REST and GraphQL. */
export interface LoginAttempt {
  readonly caller: Caller
  /** The email as sent: not trimmed, not canonical, and possibly not an email at all. */
  readonly email: string
  /** The mailed code as sent; null without one. */
  readonly code: string | null
}

export interface Admission {
  readonly outcome: 'admitted'
  /** The email to open a session for. Sign-in canonicalizes it, and throws `INVALID_EMAIL` if it is not an email. */
  readonly email: string
  /** The registered client that vouches for the user. */
  readonly client?: string
}

export interface Refusal {
  /**
   * `refused` is final. `passed`: nothing in the request was meant for this guard, so the next guard in the list
   * decides.
   */
  readonly outcome: 'refused' | 'passed'
  readonly code: FailureCode
  /** Public reason: one sentence without its full stop. Never an email, a code or a secret. */
  readonly reason: string
  /** Public hint which option would let this caller in: one sentence without its full stop. Null if there is none. */
  readonly remedy: string | null
  readonly retryAfterSeconds?: number
}

export interface LoginGuard {
  /** Name of the guard as the operator wrote it; several names are separated by commas. */
  readonly name: string
  /**
   * Decides one login. An admission may already have consumed something (a code), durably.
   * Throws only errors that are not decisions, such as `UNAVAILABLE`.
   */
  readonly decide: (attempt: LoginAttempt) => Awaitable<Admission | Refusal>
  /**
   * Whether this guard charges the rate limits for this caller itself, since a registered client has a bucket of its
   * own. Otherwise the caller's network is charged before the guard is called.
   */
  readonly chargesLimits?: (caller: Caller) => boolean
}

export function admit(email: string, client?: string): Admission {
  return { outcome: 'admitted', email, ...(client === undefined ? {} : { client }) }
}

export function refuse(reason: string, remedy: string | null, code: FailureCode = 'LOGIN_REFUSED'): Refusal {
  return { outcome: 'refused', code, reason, remedy }
}

/** The refusal of a login whose email is not an email. */
export function refuseEmail(): Refusal {
  return refuse(messageOf('INVALID_EMAIL').replace(/\.$/, ''), null, 'INVALID_EMAIL')
}

/** The refusal of a guard that found nothing meant for it. */
export function pass(reason: string, remedy: string | null): Refusal {
  return { ...refuse(reason, remedy), outcome: 'passed' }
}
