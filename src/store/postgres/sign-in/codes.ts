// Stores and decides sign-ins by mailed code in PostgreSQL.
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
  type Decisions,
  decideRequests,
  knownAddressKey,
  knownNetworkKey,
  type PendingRow,
  type Quota,
  quotaKeysOf,
} from '../../sign-in/decide-code-requests.ts'
import { type Connection, columns, type Statement } from '../connection.ts'
import { requireActive } from '../engine/decide.ts'
import type { Pool } from '../engine/pool.ts'

type Verbs = Pick<CodeVerbs, 'addCodeRequests' | 'decideCodeRequests' | 'pendingSignIn' | 'tryCode'>
/** The driver returns booleans as text. */
type Stored<T, K extends keyof T> = Omit<T, K> & { readonly [P in K]: string }

/** Advisory lock that the deciding transaction holds until it ends. */
const DECISION_LOCK = 0x57_53_47_43

const ASK: Statement = {
  name: 'addCodeRequests',
  text: `insert into workspace_gateway.code_request (id, email, network, agent, kid, code_hash, is_eligible, asked_at)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::bigint[])`,
}
const IS_ASKED: Statement = { name: 'isCodeAsked', text: 'select 1 as one from workspace_gateway.code_request limit 1' }
const LOCK_DECISIONS: Statement = {
  name: 'lockDecisions',
  text: `select pg_advisory_xact_lock(${DECISION_LOCK})::text as locked`,
}
const TAKE: Statement = {
  name: 'takeCodeRequests',
  text: `delete from workspace_gateway.code_request where id in
      (select id from workspace_gateway.code_request order by id limit $1)
    returning id, email, network, agent, kid, code_hash as "codeHash", is_eligible as "isEligible", asked_at as "askedAt"`,
}
const PENDING_OF: Statement = {
  name: 'pendingOfRequests',
  text: `select p.id, p.email, p.network, p.kid, p.code_hash as "codeHash", p.is_mailed as "isMailed", p.tries,
      p.expires_at as "expiresAt"
    from (select distinct * from unnest($1::text[], $2::text[]) as a (email, network)) asked
    join workspace_gateway.pending_sign_in p on (p.email, p.network) = (asked.email, asked.network)`,
}
const QUOTAS: Statement = {
  name: 'mailQuotas',
  text: 'select key, used, ends_at as "endsAt" from workspace_gateway.mail_quota where key = any($1::text[])',
}
const KNOWN: Statement = {
  name: 'knownNetworks',
  text: 'select key from workspace_gateway.known_network where key = any($1::text[]) and seen_at > $2',
}
const USERS: Statement = {
  name: 'usersOfRequests',
  text: 'select email from workspace_gateway.user where email = any($1::text[])',
}
const KIDS: Statement = { name: 'kidsOfRequests', text: 'select kid from workspace_gateway.signing_key' }
const PUT_PENDING: Statement = {
  name: 'putPendingSignIns',
  text: `insert into workspace_gateway.pending_sign_in (id, email, network, kid, code_hash, is_mailed, tries, expires_at)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::int[], $8::bigint[])
    on conflict (email, network) do update set id = excluded.id, kid = excluded.kid, code_hash = excluded.code_hash,
      is_mailed = excluded.is_mailed, tries = excluded.tries, expires_at = excluded.expires_at`,
}
const PUT_QUOTAS: Statement = {
  name: 'putMailQuotas',
  text: `insert into workspace_gateway.mail_quota (key, used, ends_at)
    select * from unnest($1::text[], $2::bigint[], $3::bigint[])
    on conflict (key) do update set used = excluded.used, ends_at = excluded.ends_at`,
}
const PUT_MAILS: Statement = {
  name: 'putMails',
  text: `insert into workspace_gateway.outbox (id, email, network, agent, kid, asked_at, due_at, expires_at)
    select a.*, $8
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[]) as a`,
}
// Also purges rows that expire too far in the future: the clock was set back, and their code would become valid again
// later.
const PURGE_PENDING: Statement = {
  name: 'purgePendingSignIns',
  text: `delete from workspace_gateway.pending_sign_in where id in
    (select id from workspace_gateway.pending_sign_in where expires_at <= $1 or expires_at > $2
      limit ${PURGED_PER_DECISION} for update skip locked)`,
}
// Mails of such sign-ins. A mail of the present is due in a minute at most, so the index on due_at skips those.
const PURGE_MAILS: Statement = {
  name: 'purgeMails',
  text: `delete from workspace_gateway.outbox where id in
    (select id from workspace_gateway.outbox where due_at > $1 and expires_at > $2 limit ${PURGED_PER_DECISION} for update skip locked)`,
}
const PURGE_QUOTAS: Statement = {
  name: 'purgeMailQuotas',
  text: `delete from workspace_gateway.mail_quota where key in
    (select key from workspace_gateway.mail_quota where ends_at <= $1 limit ${PURGED_PER_DECISION})`,
}
// Skips a network that signs in at this moment: it is about to be known again.
const PURGE_KNOWN: Statement = {
  name: 'purgeKnownNetworks',
  text: `delete from workspace_gateway.known_network where key in
    (select key from workspace_gateway.known_network where seen_at <= $1 limit ${PURGED_PER_DECISION} for update skip locked)`,
}
const PENDING: Statement = {
  name: 'pendingSignIn',
  text: `select id, kid, ${MAX_CODE_TRIES} - tries as "triesLeft", expires_at as "expiresAt" from workspace_gateway.pending_sign_in
    where email = $1 and network = $2 and expires_at > $3`,
}
const COMPARE: Statement = {
  name: 'tryCode',
  text: `update workspace_gateway.pending_sign_in
    set tries = case when code_hash = $2 then ${MAX_CODE_TRIES} else tries + 1 end
    where id = $1 and tries < ${MAX_CODE_TRIES} and expires_at > $3
    returning code_hash = $2 as "isRight", email, network`,
}
const PUT_KNOWN: Statement = {
  name: 'putKnownNetwork',
  text: `insert into workspace_gateway.known_network (key, address_key, seen_at) values ($1, $2, $3)
    on conflict (key) do update set seen_at = excluded.seen_at`,
}
const FORGET_KNOWN: Statement = {
  name: 'forgetKnownNetworks',
  text: `delete from workspace_gateway.known_network where address_key = $1 and key not in
    (select key from workspace_gateway.known_network where address_key = $1 order by seen_at desc limit ${MAX_KNOWN_NETWORKS})`,
}

/** `pendingSignIn` checks that the database is active. Writes need not: the database refuses them itself. */
export function createCodes(pool: Pool): Verbs {
  return {
    addCodeRequests: (requests) =>
      pool.write(async (connection) => {
        await connection.query(ASK, [
          ...columns(requests, ['id', 'email', 'network', 'agent', 'kid', 'codeHash', 'isEligible', 'askedAt']),
        ])
      }),
    async decideCodeRequests(rules, now, limit) {
      // This check costs less than the lock, which only one gateway holds.
      if ((await pool.repeatable((connection) => connection.query(IS_ASKED))).length === 0) return []
      return pool.transaction(async (connection) => {
        await connection.query(LOCK_DECISIONS)
        const rows = await connection.query<Stored<CodeRequest, 'isEligible'>>(TAKE, [limit])
        const requests = rows
          .map((row) => ({ ...row, isEligible: row.isEligible === 't' }))
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        if (requests.length === 0) return []
        const knownSince = now - rules.knownNetworkTtlMs
        const state = await stateOf(connection, requests, knownSince)
        const decisions = decideRequests(requests, state, rules, now)
        await write(connection, decisions, now, now + rules.codeTtlMs)
        await connection.query(PURGE_KNOWN, [knownSince])
        return decisions.decided
      })
    },
    pendingSignIn: (email, network, now) =>
      pool.repeatable(async (connection) => {
        await requireActive(connection)
        const [found] = await connection.query<PendingSignIn & object>(PENDING, [email, network, now])
        return found ?? null
      }),
    tryCode: ({ id, codeHash }, now) =>
      pool.transaction(async (connection) => {
        const [compared] = await connection.query<{ isRight: string; email: string; network: string }>(COMPARE, [
          id,
          codeHash,
          now,
        ])
        if (!compared) return 'spent'
        if (compared.isRight !== 't') return 'wrong'
        const addressKey = knownAddressKey(compared.email)
        await connection.query(PUT_KNOWN, [knownNetworkKey(compared), addressKey, now])
        await connection.query(FORGET_KNOWN, [addressKey])
        return 'right'
      }),
  }
}

async function stateOf(
  connection: Connection,
  requests: readonly CodeRequest[],
  knownSince: number,
): Promise<DecisionState> {
  const [emails = [], networks = []] = columns(requests, ['email', 'network'])
  const pending = await connection.query<Stored<PendingRow, 'isMailed'>>(PENDING_OF, [emails, networks])
  const keys = new Set(requests.flatMap(quotaKeysOf))
  const known = await connection.query<{ key: string }>(KNOWN, [requests.map(knownNetworkKey), knownSince])
  const users = await connection.query<{ email: string }>(USERS, [emails])
  const kids = await connection.query<{ kid: string }>(KIDS)
  return {
    pending: pending.map((row) => ({ ...row, isMailed: row.isMailed === 't' })),
    quotas: await connection.query<Quota & object>(QUOTAS, [[...keys]]),
    knownNetworks: new Set(known.map(({ key }) => key)),
    users: new Set(users.map(({ email }) => email)),
    kids: new Set(kids.map(({ kid }) => kid)),
  }
}

async function write(connection: Connection, decisions: Decisions, now: number, expiresAt: number): Promise<void> {
  await connection.query(
    PUT_PENDING,
    columns(decisions.pending, ['id', 'email', 'network', 'kid', 'codeHash', 'isMailed', 'tries', 'expiresAt']),
  )
  await connection.query(PUT_QUOTAS, columns(decisions.quotas, ['key', 'used', 'endsAt']))
  await connection.query(PUT_MAILS, [
    ...columns(decisions.mailed, ['id', 'email', 'network', 'agent', 'kid', 'askedAt', 'dueAt']),
    expiresAt,
  ])
  const latest = expiresAt + CLOCKS_DIFFER_MS
  await connection.query(PURGE_PENDING, [now, latest])
  await connection.query(PURGE_MAILS, [now + CLOCKS_DIFFER_MS, latest])
  await connection.query(PURGE_QUOTAS, [now])
}
