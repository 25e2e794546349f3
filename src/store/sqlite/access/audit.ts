// Stores the audit log in SQLite.
import type { Database } from 'better-sqlite3'
import {
  AUDIT_WRITER,
  type AuditVerbs,
  dayOfBatch,
  REMOVED_NAME_MS,
  type StoredAuditEntry,
} from '../../audit-contract.ts'
import { hashedEmail, IS_CLEAR_EMAIL, isClearEmail } from '../../hashed-email.ts'
import { dayOf } from '../../rest-call-contract.ts'
import { NOW } from '../engine/change-log-triggers.ts'
import type { GroupCommit } from '../engine/group-commit.ts'
import type { ReadTransaction } from '../engine/read-transaction.ts'
import { createAdvanceWriter } from './batch-writers.ts'

interface Question {
  readonly after: number
  readonly from: number | null
  readonly to: number | null
  readonly kind: string | null
  /** A JSON array of names. */
  readonly who: string | null
  readonly limit: number
}

const SALT = 'select salt from audit_salt'

/**
 * Run it within a transaction of the writer. Replaces the clear emails in the audit log by their hashes, and remembers
 * the hashes, so that entries written later get them too.
 */
export function createAuditHashing(writer: Database): (emails: readonly string[]) => void {
  const salt = writer.prepare<[], string>(SALT).pluck()
  // The table refuses updates, so the entry is deleted and inserted again under the same id.
  const take = writer.prepare<[string], StoredAuditEntry>(
    `delete from audit_entry where who in (select value from json_each(?)) and ${IS_CLEAR_EMAIL}
     returning id, at, kind, result, who, network, detail, count`,
  )
  const putBack = writer.prepare<[StoredAuditEntry]>(
    `insert into audit_entry (id, at, kind, result, who, network, detail, count)
     values (:id, :at, :kind, :result, :who, :network, :detail, :count)`,
  )
  const forget = writer.prepare(`delete from removed_name where removed_at < ${NOW} - ${REMOVED_NAME_MS}`)
  const remember = writer.prepare<[string]>(`insert or replace into removed_name (who, removed_at) values (?, ${NOW})`)
  return (emails) => {
    const key = salt.get() ?? ''
    forget.run()
    for (const email of emails) remember.run(hashedEmail(email, key))
    for (const entry of take.all(JSON.stringify(emails))) {
      putBack.run({ ...entry, who: hashedEmail(entry.who, key) })
    }
  }
}

export function createAuditLog(
  reader: Database,
  turn: ReadTransaction,
  writer: Database,
  commits: GroupCommit,
): AuditVerbs {
  const salt = reader.prepare<[], string>(SALT).pluck()
  const entries = reader.prepare<[Question], StoredAuditEntry>(
    `select id, at, kind, result, who, network, detail, count from audit_entry
     where id > :after and (:from is null or at >= :from) and (:to is null or at < :to)
       and (:kind is null or kind = :kind) and (:who is null or who in (select value from json_each(:who)))
     order by id limit :limit`,
  )
  const add = writer.prepare<[number, string, string, string, string, string, number]>(
    'insert into audit_entry (at, kind, result, who, network, detail, count) values (?, ?, ?, ?, ?, ?, ?)',
  )
  const advance = createAdvanceWriter(writer)
  const saltForWriting = writer.prepare<[], string>(SALT).pluck()
  const isRemoved = writer
    .prepare<[string], 1>(`select 1 from removed_name where who = ? and removed_at >= ${NOW} - ${REMOVED_NAME_MS}`)
    .pluck()
  const remove = writer.prepare<[number, number]>(
    'delete from audit_entry where id in (select id from audit_entry where at < ? order by at limit ?)',
  )

  const removeWriters = writer.prepare<[string, number]>(
    `delete from rest_call_writer where writer in (
       select writer from rest_call_writer where day < ? and substr(writer, 1, ${AUDIT_WRITER.length}) = '${AUDIT_WRITER}' limit ?)`,
  )

  /** Returns the hash for an email that was removed while the entry was buffered, else `who` as it is. */
  function nameOf(who: string): string {
    if (!isClearEmail(who)) return who
    const hash = hashedEmail(who, saltForWriting.get() ?? '')
    return isRemoved.get(hash) === 1 ? hash : who
  }

  return {
    auditSalt() {
      return turn.readNow(() => salt.get() ?? '')
    },
    auditEntries(filter, after, limit) {
      return turn.readNow(() =>
        entries.all({ ...filter, who: filter.who === null ? null : JSON.stringify(filter.who), after, limit }),
      )
    },
    addAuditEntries: (batch) =>
      commits.add(() => {
        if (!advance(AUDIT_WRITER + batch.writer, batch.sequence, dayOfBatch(batch))) return
        for (const { at, kind, result, who, network, detail, count } of batch.entries) {
          add.run(at, kind, result, nameOf(who), network, detail, count)
        }
      }),
    removeAuditEntries: (before, limit) =>
      commits.add(() => {
        removeWriters.run(dayOf(before), limit)
        return remove.run(before, limit).changes
      }),
  }
}
