// The part of the store contract that covers the audit log: entries are added and, once they are old, removed. The only
// change to an entry is that the email of a removed or renamed user becomes its hash.
import type { Awaitable } from './awaitable.ts'
import { dayOf } from './rest-call-contract.ts'

export interface NewAuditEntry {
  /** Milliseconds since the epoch; the time of the first event if `count` is more than 1. */
  readonly at: number
  readonly kind: string
  readonly result: string
  /** An email or its hash; empty if the person is not known. */
  readonly who: string
  /** Empty for actions of the operator. */
  readonly network: string
  readonly detail: string
  /** How many times the same event happened in a row. */
  readonly count: number
}

export interface StoredAuditEntry extends NewAuditEntry {
  /** Ascends in the order of writing. */
  readonly id: number
}

/** Entries to add. The writer's name and its growing sequence number identify a batch, so a retry adds it only once. */
export interface AuditBatch {
  readonly writer: string
  readonly sequence: number
  readonly entries: readonly NewAuditEntry[]
}

/** Prefix of the names of audit writers: they share a table with the writers of the REST-call ledger. */
export const AUDIT_WRITER = 'audit '

/** The UTC day of the newest entry, such as `2026-01-31`. */
export function dayOfBatch({ entries }: AuditBatch): string {
  return dayOf(entries.reduce((newest, { at }) => Math.max(newest, at), 0))
}

/** An entry must match every field that is not null. */
export interface AuditFilter {
  readonly from: number | null
  /** Exclusive. */
  readonly to: number | null
  readonly kind: string | null
  /** An entry matches if it names one of these. */
  readonly who: readonly string[] | null
}

/**
 * How long the database remembers who was removed, in milliseconds. By then every process has written the entries that
 * it had buffered about that person.
 */
export const REMOVED_NAME_MS = 86_400_000

export interface AuditVerbs {
  /**
   * Random salt, created with the database. Emails are hashed with it, so nobody can guess them without the database.
   */
  readonly auditSalt: () => Awaitable<string>
  /** At most `limit` matching entries that follow the id `after` (0: from the start), in the order of writing. */
  readonly auditEntries: (filter: AuditFilter, after: number, limit: number) => Awaitable<readonly StoredAuditEntry[]>
  /**
   * Adds a batch. An email that was removed or renamed within the last `REMOVED_NAME_MS`, by the clock of the database,
   * is stored as its hash. Idempotent: a batch that is not newer than its writer's last one changes nothing.
   */
  readonly addAuditEntries: (batch: AuditBatch) => Awaitable<void>
  /**
   * Removes the entries from before `before` (milliseconds since the epoch) and the writers that have written nothing
   * since that day, at most `limit` of each. Returns the number of removed entries.
   */
  readonly removeAuditEntries: (before: number, limit: number) => Awaitable<number>
}
