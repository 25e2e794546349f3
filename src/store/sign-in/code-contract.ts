// Sign-in by mailed code, as the store keeps it: requests, pending sign-ins, quotas, known networks and the outbox.

/** Wrong codes that one pending sign-in takes; the next is not compared any more. */
export const MAX_CODE_TRIES = 5
/** Networks that are remembered of one address, the newest ones. */
export const MAX_KNOWN_NETWORKS = 20

/** Somebody asked for a code. Kept before it is answered, and decided on after: the answer takes the same time for every address. */
export interface CodeRequest {
  /** UUIDv7, so that order of id is order of time. */
  readonly id: string
  /** Canonical. */
  readonly email: string
  /** The asking network, such as `192.0.2.1` or `2001:db8::/64`. */
  readonly network: string
  /** What program asked, as the mail tells it. */
  readonly agent: string
  /** The signing key that the code is derived from. */
  readonly kid: string
  readonly codeHash: string
  /** False for an address that never gets a mail. */
  readonly isEligible: boolean
  readonly askedAt: number
}

/** How many mails may be sent within `windowMs`, to one address and in all. */
export interface CodeRules {
  readonly windowMs: number
  readonly codeTtlMs: number
  /** Networks that signed in as an address longer ago than this are strangers to it. */
  readonly knownNetworkTtlMs: number
  readonly isForKnownUsersOnly: boolean
  /** For one address from one network, known or not. */
  readonly maxPerAddressAndNetwork: number
  /** For one address from networks it never signed in from. */
  readonly maxPerAddress: number
  /** From one network, for addresses that never signed in from it. */
  readonly maxPerNetwork: number
  /** In all, for addresses from networks they never signed in from. */
  readonly maxTotal: number
}

/** `joined`: an earlier request's mail stands for this one. `refused`: no mail, by a rule or a limit. */
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

/** `spent`: expired, used up or used; the code was not compared. */
export type CodeComparison = 'right' | 'wrong' | 'spent'

export interface CodeGuess {
  /** Of the pending sign-in. */
  readonly id: string
  readonly codeHash: string
}

/** A mail that is to be sent. The code is not in it: it is derived when the mail is made. */
export interface OutboxMail {
  /** Of the pending sign-in. */
  readonly id: string
  readonly email: string
  readonly network: string
  readonly agent: string
  readonly kid: string
  readonly askedAt: number
  /** Of the code; nobody needs the mail after that. */
  readonly expiresAt: number
  /** With this one. */
  readonly attempts: number
}

export interface MailLease {
  readonly owner: string
  readonly leaseMs: number
  readonly limit: number
}

/** What became of a leased mail: sent or given up (null), or to be tried again at `dueAt`. */
export interface SettledMail {
  readonly id: string
  readonly dueAt: number | null
}

/** Times are milliseconds since the epoch. */
export interface CodeVerbs {
  readonly addCodeRequests: (requests: readonly CodeRequest[]) => Promise<void>
  /**
   * Decides on the oldest requests, at most `limit`, and forgets them; fewer than `limit` when none are left. One caller at
   * a time over all gateways: no quota is overrun.
   */
  readonly decideCodeRequests: (rules: CodeRules, now: number, limit: number) => Promise<readonly DecidedRequest[]>
  /** Null when none is pending, or its time is over. It may be used up. */
  readonly pendingSignIn: (email: string, network: string, now: number) => Promise<PendingSignIn | null>
  /**
   * Compares, counts a wrong code and uses up a right one in one statement: of any number at once, at most
   * `MAX_CODE_TRIES` are compared and one is right. A right one makes the network known to the address.
   */
  readonly tryCode: (guess: CodeGuess, now: number) => Promise<CodeComparison>
  /** Mails that are due, for nobody else until the lease is over. Drops those that nobody needs any more. */
  readonly leaseMails: (lease: MailLease, now: number) => Promise<readonly OutboxMail[]>
  /** Of mails whose lease this owner still has; others are left alone. Idempotent. */
  readonly settleMails: (owner: string, settled: readonly SettledMail[]) => Promise<void>
}
