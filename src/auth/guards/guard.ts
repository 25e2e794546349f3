// Who may call the login: the contract's login proves nothing but an email, so a guard decides what else it takes.
import { type FailureCode, messageOf } from '../../errors.ts'
import type { Awaitable } from '../../store/contract.ts'
import type { Caller } from '../caller.ts'

/** A login as it was asked for, the same over REST and GraphQL. */
export interface LoginAttempt {
  readonly caller: Caller
  /** As sent: not trimmed, not canonical, perhaps no email at all. */
  readonly email: string
  /** As sent; null without one. */
  readonly code: string | null
}

export interface Admission {
  readonly outcome: 'admitted'
  /** The email to open a session for. The sign-in makes it canonical, and refuses what is no email with `INVALID_EMAIL`. */
  readonly email: string
  /** The registered client that vouches for the user. */
  readonly client?: string
}

export interface Refusal {
  /** `refused` is final. `passed`: nothing in the request was meant for this guard, so the next of the list may decide. */
  readonly outcome: 'refused' | 'passed'
  readonly code: FailureCode
  /** Public, one sentence without its full stop: why. Never an email, a code or a secret. */
  readonly reason: string
  /** Public, one sentence without its full stop: which option would let this caller in; null when none would. */
  readonly remedy: string | null
  readonly retryAfterSeconds?: number
}

export interface LoginGuard {
  /** As the operator wrote it: one name, or several with commas. */
  readonly name: string
  /**
   * Decides one login. An admission may already have used something up (a code), durably.
   * Throws only what is not a decision, such as `UNAVAILABLE`.
   */
  readonly decide: (attempt: LoginAttempt) => Awaitable<Admission | Refusal>
  /**
   * Whether this guard charges the rate limits for this caller itself: a registered client has a bucket of its own.
   * Otherwise the network of the caller is charged before the guard is asked.
   */
  readonly chargesLimits: (caller: Caller) => boolean
}

export function admit(email: string, client?: string): Admission {
  return { outcome: 'admitted', email, ...(client === undefined ? {} : { client }) }
}

export function refuse(reason: string, remedy: string | null, code: FailureCode = 'LOGIN_REFUSED'): Refusal {
  return { outcome: 'refused', code, reason, remedy }
}

/** For a login whose email is none. */
export function refuseEmail(): Refusal {
  return refuse(messageOf('INVALID_EMAIL').replace(/\.$/, ''), null, 'INVALID_EMAIL')
}

/** For a guard that found nothing meant for it. */
export function pass(reason: string, remedy: string | null): Refusal {
  return { ...refuse(reason, remedy), outcome: 'passed' }
}
