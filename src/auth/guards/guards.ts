// The table of login guards by name. To add a guard, add a row.
import { UsageError } from '../../errors.ts'
import type { Awaitable } from '../../store/contract.ts'
import {
  type AssertionGuardOptions,
  assertionFileProblems,
  assertionGuardProblems,
  openAssertionGuard,
} from './assertion/open-assertion-guard.ts'
import { createClientGuard } from './client/client.ts'
import { admit, type LoginGuard, refuse } from './guard.ts'
import { createGuardList } from './guard-list.ts'
import type { GuardServices } from './guard-services.ts'
import { createLocalGuard } from './local.ts'
import { type MailGuardOptions, openMailGuard } from './mail/open-mail-guard.ts'
import { ambiguousUserId, canAskForSocketOwners, createSocketOwner } from './socket-owner.ts'

/** The operator's options for guards. Each guard reads its own. */
export interface GuardOptions {
  /** Pages of these origins may sign in like the gateway's own pages. */
  readonly trustedOrigins: readonly string[]
  /** Options of the guard `mail`; null without a mail server. */
  readonly mail?: MailGuardOptions | null
  readonly assertion?: AssertionGuardOptions
}

interface GuardRow {
  /** A short description of who may sign in. */
  readonly summary: string
  /** Whether a gateway with this guard may listen on an address that other machines can reach. */
  readonly guardsNetwork: boolean
  /** Sentences that each start of the gateway prints, about whom this guard lets in. */
  readonly warnings?: () => readonly string[]
  /** The problems with the options, each with its fix; empty if there are none. A problem prevents the start. */
  readonly problems?: (options: GuardOptions) => readonly string[]
  /** The problems in the files that the options name, each with its option. A problem prevents the start. */
  readonly fileProblems?: (options: GuardOptions) => Awaitable<readonly string[]>
  readonly create: (options: GuardOptions, services: GuardServices) => Awaitable<LoginGuard>
}

const NO_ASSERTION: AssertionGuardOptions = { signed: null, unsigned: null }

const NO_MAIL_SERVER =
  'login guard "mail" needs a mail server: give the options mail-url (smtps://USER:PASSWORD@HOST) and mail-from (an address)'

function localWarnings(): readonly string[] {
  if (!canAskForSocketOwners()) {
    return [
      'login guard "local": this system cannot tell which user owns the other end of a connection, so only headers are checked: ' +
        'do not put a proxy or port forwarding in front of this gateway',
    ]
  }
  const userId = process.getuid?.()
  return userId !== undefined && userId === ambiguousUserId()
    ? [
        `login guard "local": nobody can sign in, since this user namespace shows other users under the id of this one, ${userId}: run the gateway as another user, or choose another login-guard`,
      ]
    : []
}

export type LoginGuardName = 'assertion' | 'client' | 'local' | 'mail' | 'none' | 'open'

export const LOGIN_GUARDS: Readonly<Record<LoginGuardName, GuardRow>> = {
  local: {
    summary: 'the same user on this machine',
    guardsNetwork: false,
    warnings: localWarnings,
    create: (options) => createLocalGuard(options, openKernel()),
  },
  assertion: {
    summary: 'users that an identity proxy or provider vouches for',
    guardsNetwork: true,
    problems: ({ assertion = NO_ASSERTION }) => assertionGuardProblems(assertion),
    fileProblems: ({ assertion = NO_ASSERTION }) => assertionFileProblems(assertion),
    create: ({ assertion = NO_ASSERTION }, services) => openAssertionGuard(assertion, services),
  },
  client: {
    summary: 'users that a registered back end vouches for',
    guardsNetwork: true,
    create: (_options, services) => createClientGuard(services),
  },
  mail: {
    summary: 'users who enter a code from a mail',
    guardsNetwork: true,
    problems: ({ mail }) => (mail ? [] : [NO_MAIL_SERVER]),
    create({ mail }, services) {
      // Cannot happen if the start checked `problems` first.
      if (!mail) throw new UsageError(NO_MAIL_SERVER)
      return openMailGuard(mail, services)
    },
  },
  none: {
    summary: 'nobody; open sessions continue',
    guardsNetwork: true,
    create: () => ({
      name: 'none',
      decide: () => refuse('this gateway opens no new sessions', 'start it with another login-guard'),
    }),
  },
  open: {
    summary: 'anyone, knowing only an email address',
    guardsNetwork: true,
    warnings: () => [
      'login guard "open": anyone who can reach this port can sign in as anyone, knowing nothing but an email address',
    ],
    create: () => ({ name: 'open', decide: ({ email }) => admit(email) }),
  },
}

export const LOGIN_GUARD_NAMES = Object.keys(LOGIN_GUARDS) as LoginGuardName[]

function openKernel() {
  const userId = process.getuid?.()
  return userId === undefined || !canAskForSocketOwners() ? null : { socketOwner: createSocketOwner(), userId }
}

/** Creates the guard, once the store is open. */
export type CreateGuard = (services: GuardServices) => Promise<LoginGuard>

/** The guard of a read-only gateway, which cannot store sessions. */
export const createReadOnlyGuard: CreateGuard = async () => ({
  // The web pages treat this guard like `none`: there is no sign-in.
  name: 'none',
  decide: () => refuse('This gateway is read-only', 'sign in at a gateway that accepts writes', 'READ_ONLY'),
})

/** The guards of these names, called in this order. */
export function guardsOf(names: readonly LoginGuardName[], options: GuardOptions): CreateGuard {
  return async (services) =>
    createGuardList(await Promise.all(names.map((name) => LOGIN_GUARDS[name].create(options, services))))
}
