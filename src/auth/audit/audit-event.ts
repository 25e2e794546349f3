// The kinds of events in the audit log, and the data of an event.

/** Every kind of event, and what it means; the `audit` command filters by these names. */
export const AUDIT_KINDS = {
  login: 'somebody signed in, or was refused',
  codeRequest: 'a sign-in code was requested: a mail is on its way, or the request was refused',
  code: 'a sign-in code was sent, or could not be, or a wrong one was entered',
  refresh: 'a refresh token was refused (accepted ones are not recorded)',
  logout: 'a session was ended with its refresh token',
  sessionsRevoked: 'sessions were ended by their user or by the operator',
  sessionsCapped: 'the least recently used sessions of a user were ended to make room for a new one',
  keyAdded: 'a signing key was made',
  keyRetired: 'a signing key was removed',
  keysEncrypted: 'the stored private keys were encrypted',
  clientAdded: 'a client was registered',
  clientRemoved: 'a client was removed',
  import: 'workspaces were imported',
  restore: 'a backup was restored: the entries before this one are those of the backup',
  removal:
    'stored data was removed; with the detail `renamed`, the email of a user was changed, and `who` is the old email',
  dropped: 'events came faster than they could be written: only their number is recorded',
} as const

export type AuditKind = keyof typeof AUDIT_KINDS

/** `failed` is a failure on our side: the database was unreachable, the mail server refused. */
export type AuditResult = 'done' | 'refused' | 'failed'

/** An event. The log adds the time and hashes the email. */
export interface AuditEvent {
  readonly kind: AuditKind
  readonly result: AuditResult
  /** Canonical email, stored as a hash unless the operator wants it in clear. Absent if it is unknown. */
  readonly email?: string | undefined
  /** Whether the database holds nothing more of this email: then it is always stored as a hash. False if absent. */
  readonly isGone?: boolean | undefined
  /** The client's IP address, of which only the network (/24 or /64) is stored. Absent for actions of the operator. */
  readonly address?: string | undefined
  /** A few fixed words: why, how many, which kid. Never a token, a code or an email. Only 200 characters are stored. */
  readonly detail?: string | undefined
}

export interface Audit {
  /** Never throws and never blocks: the event is written with the next batch. */
  readonly record: (event: AuditEvent) => void
}
