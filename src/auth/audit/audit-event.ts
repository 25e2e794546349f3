// What the audit log knows of: each kind of event, and what is told of one.

/** Every kind of event, and what it means; the `audit` command filters by these names. */
export const AUDIT_KINDS = {
  login: 'somebody signed in, or was refused',
  codeRequest: 'a sign-in code was asked for: a mail is on its way, or the request was refused',
  code: 'a sign-in code was sent, or could not be, or a wrong one was entered',
  refresh: 'a refresh token was refused (one that is accepted is no event)',
  logout: 'a session was ended with its refresh token',
  sessionsRevoked: 'sessions were ended by their user or by the operator',
  sessionsCapped: 'the sessions of a user that were used longest ago made room for a new one',
  keyAdded: 'a signing key was made',
  keyRetired: 'a signing key was removed',
  keysEncrypted: 'the stored private keys were encrypted',
  clientAdded: 'a client was registered',
  clientRemoved: 'a client was removed',
  import: 'workspaces were imported',
  restore: 'a backup was restored: the entries before this one are those of the backup',
  removal:
    'something stored was removed; with the detail `renamed`, a user was given another email, and `who` is the old one',
  dropped: 'events that came faster than they could be written: only their number is known',
} as const

export type AuditKind = keyof typeof AUDIT_KINDS

/** `failed` is ours: the database was away, the mail server said no. */
export type AuditResult = 'done' | 'refused' | 'failed'

/** What happened. The time and the hash of the email are added by the log itself. */
export interface AuditEvent {
  readonly kind: AuditKind
  readonly result: AuditResult
  /** Canonical; stored as a hash unless the operator wants it in clear. Absent when nobody is known. */
  readonly email?: string | undefined
  /** The database has nothing of this email any more: it is stored as a hash, whatever the operator wants. Absent: false. */
  readonly isGone?: boolean | undefined
  /** The client's IP address; only its network (/24, /64) is kept. Absent for what the operator does. */
  readonly address?: string | undefined
  /** A few fixed words: why, how many, which kid. Never a token, a code or an email; at most 200 characters are kept. */
  readonly detail?: string | undefined
}

export interface Audit {
  /** Never throws and never waits: the event is written with the next batch. */
  readonly record: (event: AuditEvent) => void
}

/** For where nothing is to be kept. */
export const NO_AUDIT: Audit = { record() {} }
