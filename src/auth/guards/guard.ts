// Who may call the login: the contract's login proves nothing but an email, so a guard decides, from outside the body.
import type { Awaitable } from '../../store/contract.ts'

/** What a guard may know of a caller. */
export interface Caller {
  /** The address at the other end of the socket; empty when it is gone already. */
  readonly peerAddress: string
  /** A request header by its lower-case name. */
  readonly header: (name: string) => string | undefined
}

export interface LoginGuard {
  readonly name: LoginGuardName
  /** A sentence for the start of the gateway when this guard lets strangers in. */
  readonly warning: string | null
  /** Why this caller may not sign in, null when they may. */
  readonly refusal: (caller: Caller) => Awaitable<string | null>
}

export const LOGIN_GUARD_NAMES = ['local', 'open'] as const

export type LoginGuardName = (typeof LOGIN_GUARD_NAMES)[number]
