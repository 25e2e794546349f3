// Stores the outbox of mails in SQLite.
import type { Database } from 'better-sqlite3'
import type { CodeVerbs, OutboxMail } from '../../sign-in/code-contract.ts'
import type { FaultLatch } from '../engine/faults/fault-latch.ts'
import type { GroupCommit } from '../engine/group-commit.ts'

type Verbs = Pick<CodeVerbs, 'leaseMails' | 'settleMails'>

export function createOutbox(writer: Database, commits: GroupCommit, faults: FaultLatch): Verbs {
  const isDue = writer.prepare<[number, number]>('select 1 from outbox where due_at <= ? or expires_at <= ? limit 1')
  const expire = writer.prepare<[number]>('delete from outbox where expires_at <= ?')
  const lease = writer.prepare<[string, number, number, number], OutboxMail>(
    `update outbox set leased_by = ?, due_at = ?, attempts = attempts + 1
     where id in (select id from outbox where due_at <= ? order by due_at, id limit ?)
     returning id, email, network, agent, kid, asked_at as askedAt, expires_at as expiresAt, attempts`,
  )
  const remove = writer.prepare<[string, string]>('delete from outbox where id = ? and leased_by = ?')
  const unmail = writer.prepare<[string]>('update pending_sign_in set is_mailed = 0 where id = ?')
  const retry = writer.prepare<[number, string, string]>('update outbox set due_at = ? where id = ? and leased_by = ?')

  return {
    async leaseMails({ owner, leaseMs, limit }, now) {
      // Check first: this read is cheap, while an empty write transaction would block other writers.
      if (!faults.guard(() => isDue.get(now, now))) return []
      return commits.add(() => {
        expire.run(now)
        return lease.all(owner, now + leaseMs, now, limit)
      })
    },
    settleMails: (owner, settled) =>
      commits.add(() => {
        for (const { id, dueAt, isGivenUp } of settled) {
          const { changes } = dueAt === null ? remove.run(id, owner) : retry.run(dueAt, id, owner)
          if (isGivenUp && changes > 0) unmail.run(id)
        }
      }),
  }
}
