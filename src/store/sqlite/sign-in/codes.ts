// Stores sign-in by mailed code in SQLite: requests, pending sign-ins, quotas and known networks.
import type { Database } from 'better-sqlite3'
import { CLOCKS_DIFFER_MS } from '../../session-contract.ts'
import {
  type CodeRequest,
  type CodeVerbs,
  MAX_CODE_TRIES,
  MAX_KNOWN_NETWORKS,
  type PendingSignIn,
  PURGED_PER_DECISION,
} from '../../sign-in/code-contract.ts'
import {
  type DecisionState,
  decideRequests,
  knownAddressKey,
  knownNetworkKey,
  type PendingRow,
  type Quota,
  quotaKeysOf,
} from '../../sign-in/decide-code-requests.ts'
import type { FaultLatch } from '../engine/faults/fault-latch.ts'
import type { GroupCommit } from '../engine/group-commit.ts'
import type { ReadTransaction } from '../engine/read-transaction.ts'

type Verbs = Pick<CodeVerbs, 'addCodeRequests' | 'decideCodeRequests' | 'pendingSignIn' | 'tryCode'>
/** A row with its boolean columns as numbers: SQLite has no booleans. */
type Stored<T, K extends keyof T> = Omit<T, K> & { readonly [P in K]: number }

const PENDING = `id, email, network, kid, code_hash as codeHash, is_mailed as isMailed, tries, expires_at as expiresAt`

export function createCodes(
  reader: Database,
  turn: ReadTransaction,
  writer: Database,
  commits: GroupCommit,
  faults: FaultLatch,
): Verbs {
  const ask = writer.prepare<[string, string, string, string, string, string, number, number]>(
    `insert into code_request (id, email, network, agent, kid, code_hash, is_eligible, asked_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const isAsked = writer.prepare('select 1 from code_request limit 1')
  const take = writer.prepare<[number], Stored<CodeRequest, 'isEligible'>>(
    `delete from code_request where id in (select id from code_request order by id limit ?)
     returning id, email, network, agent, kid, code_hash as codeHash, is_eligible as isEligible, asked_at as askedAt`,
  )
  const pendingOf = writer.prepare<[string, string], Stored<PendingRow, 'isMailed'>>(
    `select ${PENDING} from pending_sign_in where email = ? and network = ?`,
  )
  const quota = writer.prepare<[string], Quota>('select key, used, ends_at as endsAt from mail_quota where key = ?')
  const known = writer.prepare<[string, number]>('select 1 from known_network where key = ? and seen_at > ?')
  const user = writer.prepare<[string]>('select 1 from user where email = ?')
  const kids = writer.prepare<[], string>('select kid from signing_key').pluck()
  const putPending = writer.prepare<[string, string, string, string, string, number, number, number]>(
    `insert or replace into pending_sign_in (id, email, network, kid, code_hash, is_mailed, tries, expires_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const putQuota = writer.prepare<[string, number, number]>(
    'insert or replace into mail_quota (key, used, ends_at) values (?, ?, ?)',
  )
  const putMail = writer.prepare<[string, string, string, string, string, number, number, number]>(
    `insert into outbox (id, email, network, agent, kid, asked_at, expires_at, due_at) values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  // Also purges rows that expire too far in the future: the clock was set back since, and their codes would become
  // valid again.
  const purgePending = writer.prepare<[now: number, latest: number]>(
    `delete from pending_sign_in where id in
       (select id from pending_sign_in where expires_at <= ? or expires_at > ? limit ${PURGED_PER_DECISION})`,
  )
  // Mails of such sign-ins. A mail of the present is due in a minute at most, so the index on due_at skips those.
  const purgeMails = writer.prepare<[dueAfter: number, latest: number]>(
    `delete from outbox where id in
       (select id from outbox where due_at > ? and expires_at > ? limit ${PURGED_PER_DECISION})`,
  )
  const purgeQuotas = writer.prepare<[now: number]>(
    `delete from mail_quota where key in (select key from mail_quota where ends_at <= ? limit ${PURGED_PER_DECISION})`,
  )
  const purgeKnown = writer.prepare<[knownSince: number]>(
    `delete from known_network where key in (select key from known_network where seen_at <= ? limit ${PURGED_PER_DECISION})`,
  )
  const pending = reader.prepare<[string, string, number], PendingSignIn>(
    `select id, kid, ${MAX_CODE_TRIES} - tries as triesLeft, expires_at as expiresAt from pending_sign_in
     where email = ? and network = ? and expires_at > ?`,
  )
  const compare = writer.prepare<
    { id: string; codeHash: string; now: number },
    { readonly isRight: number; readonly email: string; readonly network: string }
  >(
    `update pending_sign_in set tries = case when code_hash = @codeHash then ${MAX_CODE_TRIES} else tries + 1 end
     where id = @id and tries < ${MAX_CODE_TRIES} and expires_at > @now
     returning code_hash = @codeHash as isRight, email, network`,
  )
  const putKnown = writer.prepare<[string, string, number]>(
    'insert or replace into known_network (key, address_key, seen_at) values (?, ?, ?)',
  )
  const forgetKnown = writer.prepare<[string, string]>(
    `delete from known_network where address_key = ? and key not in
       (select key from known_network where address_key = ? order by seen_at desc limit ${MAX_KNOWN_NETWORKS})`,
  )

  function stateOf(requests: readonly CodeRequest[], knownSince: number): DecisionState {
    const keys = new Set(requests.flatMap(quotaKeysOf))
    return {
      pending: requests.flatMap(({ email, network }) => {
        const row = pendingOf.get(email, network)
        return row ? { ...row, isMailed: row.isMailed === 1 } : []
      }),
      quotas: [...keys].flatMap((key) => quota.get(key) ?? []),
      knownNetworks: new Set(requests.map(knownNetworkKey).filter((key) => known.get(key, knownSince))),
      users: new Set(requests.map(({ email }) => email).filter((email) => user.get(email))),
      kids: new Set(kids.all()),
    }
  }

  return {
    addCodeRequests: (requests) =>
      commits.add(() => {
        for (const { id, email, network, agent, kid, codeHash, isEligible, askedAt } of requests)
          ask.run(id, email, network, agent, kid, codeHash, Number(isEligible), askedAt)
      }),
    async decideCodeRequests(rules, now, limit) {
      // Check first: this read is cheap, while an empty write transaction would block other writers.
      if (!faults.guard(() => isAsked.get())) return []
      return commits.add(() => {
        const requests = take
          .all(limit)
          .map((row) => ({ ...row, isEligible: row.isEligible === 1 }))
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        if (requests.length === 0) return []
        const knownSince = now - rules.knownNetworkTtlMs
        const decisions = decideRequests(requests, stateOf(requests, knownSince), rules, now)
        for (const row of decisions.pending) {
          const { id, email, network, kid, codeHash, isMailed, tries, expiresAt } = row
          putPending.run(id, email, network, kid, codeHash, Number(isMailed), tries, expiresAt)
        }
        for (const { key, used, endsAt } of decisions.quotas) putQuota.run(key, used, endsAt)
        for (const { id, email, network, agent, kid, askedAt, dueAt } of decisions.mailed)
          putMail.run(id, email, network, agent, kid, askedAt, now + rules.codeTtlMs, dueAt)
        const latest = now + rules.codeTtlMs + CLOCKS_DIFFER_MS
        purgePending.run(now, latest)
        purgeMails.run(now + CLOCKS_DIFFER_MS, latest)
        purgeQuotas.run(now)
        purgeKnown.run(knownSince)
        return decisions.decided
      })
    },
    async pendingSignIn(email, network, now) {
      return turn.decide(() => pending.get(email, network, now) ?? null)
    },
    tryCode: ({ id, codeHash }, now) =>
      commits.add(() => {
        const compared = compare.get({ id, codeHash, now })
        if (!compared) return 'spent'
        if (compared.isRight !== 1) return 'wrong'
        const addressKey = knownAddressKey(compared.email)
        putKnown.run(knownNetworkKey(compared), addressKey, now)
        forgetKnown.run(addressKey, addressKey)
        return 'right'
      }),
  }
}
