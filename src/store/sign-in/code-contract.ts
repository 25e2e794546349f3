// The part of the store contract that covers sign-in by mailed code: requests, pending sign-ins, quotas, known networks
// and the outbox.

/** Maximum number of codes that one pending sign-in compares. Further codes are refused without a comparison. */
export const MAX_CODE_TRIES = 5
/** Maximum number of known networks stored per address: the newest ones. */
export const MAX_KNOWN_NETWORKS = 20
/** Maximum number of expired rows of each kind that one call of `decideCodeRequests` also removes. */
export const PURGED_PER_DECISION = 1_000

/**
 * A request for a code. It is stored before the HTTP response is sent and decided on afterwards, so that the response
 * takes the same time for every address.
 */
export interface CodeRequest {
  /** A UUIDv7, so that order of id is order of time. */
  readonly id: string
  /** In canonical form. */
  readonly email: string
  /** The network that the request came from, such as `192.0.2.1` or `2001:db8::/64`. */
  readonly network: string
  /** The requesting program, as the mail names it. */
  readonly agent: string
  /** The signing key that the code is derived from. */
  readonly kid: string
  readonly codeHash: string
  /** False for an address that must never get a mail. */
  readonly isEligible: boolean
  readonly askedAt: number
}

/** The limits for mails within `windowMs`, per address, per network and in total. Durations are in milliseconds. */
export interface CodeRules {
  readonly windowMs: number
  readonly codeTtlMs: number
  /** A network counts as known to an address if it signed in as that address within this time. */
  readonly knownNetworkTtlMs: number
  readonly isForKnownUsersOnly: boolean
  /** Per address and network, known or not. */
  readonly maxPerAddressAndNetwork: number
  /** Per address, from networks that are not known to it. Addresses that differ only after a `+` share it. */
  readonly maxPerAddress: number
  /** Per network, for addresses that do not know it. */
  readonly maxPerNetwork: number
  /** In total, from networks that are not known to the address. */
  readonly maxTotal: number
}

/** `joined`: the mail of an earlier request serves this one too. `refused`: no mail, because of a rule or a limit. */
export type CodeOutcome = 'mailed' | 'joined' | 'refused'

export interface DecidedRequest extends CodeRequest {
  readonly outcome: CodeOutcome
}

/** A sign-in that waits for its code: one per address and network, so that strangers cannot use up its tries. */
export interface PendingSignIn {
  readonly id: string
  readonly kid: string
  readonly triesLeft: number
  readonly expiresAt: number
}

/** `spent`: the sign-in is expired, used, or out of tries; the code was not compared. */
export type CodeComparison = 'right' | 'wrong' | 'spent'

export interface CodeGuess {
  /** Id of the pending sign-in. */
  readonly id: string
  readonly codeHash: string
}

/** A mail to send. It does not contain the code, which is derived when the mail is composed. */
export interface OutboxMail {
  /** Id of the pending sign-in. */
  readonly id: string
  readonly email: string
  readonly network: string
  readonly agent: string
  readonly kid: string
  readonly askedAt: number
  /** When the code expires; the mail is useless after that. */
  readonly expiresAt: number
  /** Number of attempts to send it, the current one included. */
  readonly attempts: number
}

export interface MailLease {
  readonly owner: string
  readonly leaseMs: number
  readonly limit: number
}

/** The result for a leased mail: to retry at `dueAt`, or done with (null). */
export interface SettledMail {
  readonly id: string
  readonly dueAt: number | null
  /** Whether the mail was given up: no request joins it any more, so the next one may get another mail. */
  readonly isGivenUp: boolean
}

/** Times are milliseconds since the epoch. */
export interface CodeVerbs {
  readonly addCodeRequests: (requests: readonly CodeRequest[]) => Promise<void>
  /**
   * Decides on the oldest requests, at most `limit`, and removes them. Returns fewer than `limit` only when none are
   * left. Calls of all gateways are serialized, so that no quota is exceeded. A request joins no sign-in whose signing
   * key was removed, and gets no mail if its own was.
   */
  readonly decideCodeRequests: (rules: CodeRules, now: number, limit: number) => Promise<readonly DecidedRequest[]>
  /** Null if none is pending or it has expired. The returned one may be out of tries. */
  readonly pendingSignIn: (email: string, network: string, now: number) => Promise<PendingSignIn | null>
  /**
   * Compares a code, and counts a wrong one or consumes a right one in the same statement. However many run
   * concurrently, at most `MAX_CODE_TRIES` codes are compared and one is accepted. A right code makes the network known
   * to the address.
   */
  readonly tryCode: (guess: CodeGuess, now: number) => Promise<CodeComparison>
  /** Leases due mails: no other owner gets them until the lease ends. Removes expired mails. */
  readonly leaseMails: (lease: MailLease, now: number) => Promise<readonly OutboxMail[]>
  /** Settles the mails whose lease this owner still holds and ignores the others. Idempotent. */
  readonly settleMails: (owner: string, settled: readonly SettledMail[]) => Promise<void>
}
