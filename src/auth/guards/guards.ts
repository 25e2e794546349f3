// The login guards there are, by name: adding a row is adding a guard.
import { UsageError } from '../../errors.ts'
import type { Awaitable, Store } from '../../store/contract.ts'
import type { Audit } from '../audit/audit-event.ts'
import type { RateLimits } from '../limits/rate-limits.ts'
import type { Keyset } from '../tokens/keyset.ts'
import {
  type AssertionGuardOptions,
  assertionFileProblems,
  assertionGuardProblems,
  openAssertionGuard,
} from './assertion/open-assertion-guard.ts'
import { createClientGuard } from './client/client.ts'
import type { LoginGuard } from './guard.ts'
import { createGuardList } from './guard-list.ts'
import { createLocalGuard } from './local.ts'
import { type MailGuardOptions, openMailGuard } from './mail/open-mail-guard.ts'
import { createNoneGuard } from './none.ts'
import { createOpenGuard } from './open.ts'
import { canAskForSocketOwners, createSocketOwner } from './socket-owner.ts'

/** What an operator may say about guards; each guard reads its own. */
export interface GuardOptions {
  /** Pages of these origins may sign in as if they were this gateway's own. */
  readonly trustedOrigins: readonly string[]
  /** Null without a mail server. */
  readonly mail?: MailGuardOptions | null
  readonly assertion?: AssertionGuardOptions
}

/** What a guard may work with, once the store is open. */
export interface GuardServices {
  readonly store: Store
  readonly limits: RateLimits
  readonly keyset: Pick<Keyset, 'signingKey' | 'keyOf'>
  readonly audit: Audit
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** For the log: something failed that nobody waits for. */
  readonly report: (error: unknown, what: string) => void
  /** What a guard keeps running is stopped with it, before the store is closed. */
  readonly running: AsyncDisposableStack
}

interface GuardRow {
  /** A short description of who may sign in. */
  readonly summary: string
  /** Whether it keeps strangers out by itself; one that does not must not be reachable from other machines. */
  readonly guardsNetwork: boolean
  /** Sentences for every start of the gateway: what this guard lets in. */
  readonly warnings: () => readonly string[]
  /** What is wrong with the options, each with the line that mends it; empty when nothing is. Stops the start. */
  readonly problems: (options: GuardOptions) => readonly string[]
  /** What is wrong in the files that the options name, each with its option. Stops the start. */
  readonly fileProblems: (options: GuardOptions) => Awaitable<readonly string[]>
  readonly create: (options: GuardOptions, services: GuardServices) => Awaitable<LoginGuard>
}

const NOTHING = () => []

const NO_ASSERTION: AssertionGuardOptions = { signed: null, unsigned: null }

const NO_MAIL_SERVER =
  'login guard "mail" needs a mail server: give the options mail-url (smtps://USER:PASSWORD@HOST) and mail-from (an address)'

/** A start that told `problems` never gets here without. */
function requireOptions<T>(options: T | null | undefined, problem: string): T {
  if (!options) throw new UsageError(problem)
  return options
}

export type LoginGuardName = 'assertion' | 'client' | 'local' | 'mail' | 'none' | 'open'

export const LOGIN_GUARDS: Readonly<Record<LoginGuardName, GuardRow>> = {
  local: {
    summary: 'the same user on this machine',
    guardsNetwork: false,
    warnings: () =>
      canAskForSocketOwners()
        ? []
        : [
            'login guard "local": this system does not tell whose program is at the other end of a connection, so only headers are checked: ' +
              'put no proxy and no port forwarding in front of this gateway',
          ],
    problems: NOTHING,
    fileProblems: NOTHING,
    create: (options) => createLocalGuard(options, openKernel()),
  },
  assertion: {
    summary: 'whom an identity proxy or provider vouches for',
    guardsNetwork: true,
    warnings: NOTHING,
    problems: ({ assertion = NO_ASSERTION }) => assertionGuardProblems(assertion),
    fileProblems: ({ assertion = NO_ASSERTION }) => assertionFileProblems(assertion),
    create: ({ assertion = NO_ASSERTION }, services) => openAssertionGuard(assertion, services),
  },
  client: {
    summary: 'whom a registered back end vouches for',
    guardsNetwork: true,
    warnings: NOTHING,
    problems: NOTHING,
    fileProblems: NOTHING,
    create: (_options, services) => createClientGuard(services),
  },
  mail: {
    summary: 'by a code that is mailed',
    guardsNetwork: true,
    warnings: NOTHING,
    problems: ({ mail }) => (mail ? [] : [NO_MAIL_SERVER]),
    fileProblems: NOTHING,
    create: ({ mail }, services) => openMailGuard(requireOptions(mail, NO_MAIL_SERVER), services),
  },
  none: {
    summary: 'nobody; open sessions go on',
    guardsNetwork: true,
    warnings: NOTHING,
    problems: NOTHING,
    fileProblems: NOTHING,
    create: createNoneGuard,
  },
  open: {
    summary: 'anyone, knowing only an email address',
    guardsNetwork: true,
    warnings: () => [
      'login guard "open": anyone who can reach this port can sign in as anyone, knowing nothing but an email address',
    ],
    problems: NOTHING,
    fileProblems: NOTHING,
    create: createOpenGuard,
  },
}

export const LOGIN_GUARD_NAMES = Object.keys(LOGIN_GUARDS) as LoginGuardName[]

function openKernel() {
  const userId = process.getuid?.()
  return userId === undefined || !canAskForSocketOwners() ? null : { socketOwner: createSocketOwner(), userId }
}

/** Makes the guard once the store is open. */
export type CreateGuard = (services: GuardServices) => Promise<LoginGuard>

/** The guards of these names, asked in this order. */
export function guardsOf(names: readonly LoginGuardName[], options: GuardOptions): CreateGuard {
  return async (services) =>
    createGuardList(await Promise.all(names.map((name) => LOGIN_GUARDS[name].create(options, services))))
}
