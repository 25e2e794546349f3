// The store's part about the audit log: entries are added and, when they are old, removed, and never changed but for the email of somebody who is removed.
import type { Awaitable } from './awaitable.ts'
import { dayOf } from './rest-call-contract.ts'

export interface NewAuditEntry {
  /** Milliseconds since the epoch: of the first, when `count` is more than 1. */
  readonly at: number
  readonly kind: string
  readonly result: string
  /** An email or its hash; empty when nobody is known. */
  readonly who: string
  /** Empty for what the operator did. */
  readonly network: string
  readonly detail: string
  /** How many times the same happened in a row. */
  readonly count: number
}

export interface StoredAuditEntry extends NewAuditEntry {
  /** Grows. */
  readonly id: number
}

/** Entries to be added: the same batch, named by who adds it and by a number that grows, is added once. */
export interface AuditBatch {
  readonly writer: string
  readonly sequence: number
  readonly entries: readonly NewAuditEntry[]
}

/** In front of the names of writers, which stand in one table with those of the ledger. */
export const AUDIT_WRITER = 'audit '

/** Of the newest entry. */
export function dayOfBatch({ entries }: AuditBatch): string {
  return dayOf(entries.reduce((newest, { at }) => Math.max(newest, at), 0))
}

/** Null: whatever it is. */
export interface AuditFilter {
  readonly from: number | null
  /** Exclusive. */
  readonly to: number | null
  readonly kind: string | null
  /** Any of these. */
  readonly who: readonly string[] | null
}

/** How long it is known who was removed: until then, what processes have waiting of them is written. */
export const REMOVED_NAME_MS = 86_400_000

export interface AuditVerbs {
  /** Random, made with the database: emails are hashed with it, so that nobody without the database can guess them. */
  readonly auditSalt: () => Awaitable<string>
  /** Those after `after` (0: from the start) in the order they were written, at most `limit`. */
  readonly auditEntries: (filter: AuditFilter, after: number, limit: number) => Awaitable<readonly StoredAuditEntry[]>
  /**
   * Who was removed or renamed within `REMOVED_NAME_MS`, by the clock of the database, is written as the hash. Idempotent: a batch
   * that is not newer than its writer's last one changes nothing.
   */
  readonly addAuditEntries: (batch: AuditBatch) => Awaitable<void>
  /** Removes entries of before `before`, and the writers that wrote nothing since the day of that, at most `limit` of each; answers how many entries. */
  readonly removeAuditEntries: (before: number, limit: number) => Awaitable<number>
}
