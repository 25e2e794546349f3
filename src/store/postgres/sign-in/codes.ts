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
import { type Connection, columns, statements } from '../connection.ts'
import { requireActive } from '../engine/decide.ts'
import type { Pool } from '../engine/pool.ts'

type Verbs = Pick<CodeVerbs, 'addCodeRequests' | 'decideCodeRequests' | 'pendingSignIn' | 'tryCode'>
/** The driver returns booleans as text. */
type Stored<T, K extends keyof T> = Omit<T, K> & { readonly [P in K]: string }

/** Advisory lock that the deciding transaction holds until it ends. */
const DECISION_LOCK = 0x57_53_47_43

const SQL = statements({
  addCodeRequests: `insert into workspace_gateway.code_request (id, email, network, agent, kid, code_hash, is_eligible, asked_at)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::bigint[])`,
  isCodeAsked: 'select 1 as one from workspace_gateway.code_request limit 1',
  lockDecisions: `select pg_advisory_xact_lock(${DECISION_LOCK})::text as locked`,
  takeCodeRequests: `delete from workspace_gateway.code_request where id in
      (select id from workspace_gateway.code_request order by id limit $1)
    returning id, email, network, agent, kid, code_hash as "codeHash", is_eligible as "isEligible", asked_at as "askedAt"`,
  pendingOfRequests: `select p.id, p.email, p.network, p.kid, p.code_hash as "codeHash", p.is_mailed as "isMailed", p.tries,
      p.expires_at as "expiresAt"
    from (select distinct * from unnest($1::text[], $2::text[]) as a (email, network)) asked
    join workspace_gateway.pending_sign_in p on (p.email, p.network) = (asked.email, asked.network)`,
  mailQuotas: 'select key, used, ends_at as "endsAt" from workspace_gateway.mail_quota where key = any($1::text[])',
  knownNetworks: 'select key from workspace_gateway.known_network where key = any($1::text[]) and seen_at > $2',
  usersOfRequests: 'select email from workspace_gateway.user where email = any($1::text[])',
  kidsOfRequests: 'select kid from workspace_gateway.signing_key',
  putPendingSignIns: `insert into workspace_gateway.pending_sign_in (id, email, network, kid, code_hash, is_mailed, tries, expires_at)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::int[], $8::bigint[])
    on conflict (email, network) do update set id = excluded.id, kid = excluded.kid, code_hash = excluded.code_hash,
      is_mailed = excluded.is_mailed, tries = excluded.tries, expires_at = excluded.expires_at`,
  putMailQuotas: `insert into workspace_gateway.mail_quota (key, used, ends_at)
    select * from unnest($1::text[], $2::bigint[], $3::bigint[])
    on conflict (key) do update set used = excluded.used, ends_at = excluded.ends_at`,
  putMails: `insert into workspace_gateway.outbox (id, email, network, agent, kid, asked_at, due_at, expires_at)
    select a.*, $8
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[]) as a`,
  // Also purges rows that expire too far in the future: the clock was set back, and their code would become valid again
  // later.
  purgePendingSignIns: `delete from workspace_gateway.pending_sign_in where id in
    (select id from workspace_gateway.pending_sign_in where expires_at <= $1 or expires_at > $2
      limit ${PURGED_PER_DECISION} for update skip locked)`,
  // Mails of such sign-ins. A mail of the present is due in a minute at most, so the index on due_at skips those.
  purgeMails: `delete from workspace_gateway.outbox where id in
    (select id from workspace_gateway.outbox where due_at > $1 and expires_at > $2 limit ${PURGED_PER_DECISION} for update skip locked)`,
  purgeMailQuotas: `delete from workspace_gateway.mail_quota where key in
    (select key from workspace_gateway.mail_quota where ends_at <= $1 limit ${PURGED_PER_DECISION})`,
  // Skips a network that signs in at this moment: it is about to be known again.
  purgeKnownNetworks: `delete from workspace_gateway.known_network where key in
    (select key from workspace_gateway.known_network where seen_at <= $1 limit ${PURGED_PER_DECISION} for update skip locked)`,
  pendingSignIn: `select id, kid, ${MAX_CODE_TRIES} - tries as "triesLeft", expires_at as "expiresAt" from workspace_gateway.pending_sign_in
    where email = $1 and network = $2 and expires_at > $3`,
  tryCode: `update workspace_gateway.pending_sign_in
    set tries = case when code_hash = $2 then ${MAX_CODE_TRIES} else tries + 1 end
    where id = $1 and tries < ${MAX_CODE_TRIES} and expires_at > $3
    returning code_hash = $2 as "isRight", email, network`,
  putKnownNetwork: `insert into workspace_gateway.known_network (key, address_key, seen_at) values ($1, $2, $3)
    on conflict (key) do update set seen_at = excluded.seen_at`,
  forgetKnownNetworks: `delete from workspace_gateway.known_network where address_key = $1 and key not in
    (select key from workspace_gateway.known_network where address_key = $1 order by seen_at desc limit ${MAX_KNOWN_NETWORKS})`,
})

/** `pendingSignIn` checks that the database is active. Writes need not: the database refuses them itself. */
export function createCodes(pool: Pool): Verbs {
  return {
    addCodeRequests: (requests) =>
      pool.write(async (connection) => {
        await connection.query(SQL.addCodeRequests, [
          ...columns(requests, ['id', 'email', 'network', 'agent', 'kid', 'codeHash', 'isEligible', 'askedAt']),
        ])
      }),
    async decideCodeRequests(rules, now, limit) {
      // This check costs less than the lock, which only one gateway holds.
      if ((await pool.repeatable((connection) => connection.query(SQL.isCodeAsked))).length === 0) return []
      return pool.transaction(async (connection) => {
        await connection.query(SQL.lockDecisions)
        const rows = await connection.query<Stored<CodeRequest, 'isEligible'>>(SQL.takeCodeRequests, [limit])
        const requests = rows
          .map((row) => ({ ...row, isEligible: row.isEligible === 't' }))
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        if (requests.length === 0) return []
        const knownSince = now - rules.knownNetworkTtlMs
        const state = await stateOf(connection, requests, knownSince)
        const decisions = decideRequests(requests, state, rules, now)
        await write(connection, decisions, now, now + rules.codeTtlMs)
        await connection.query(SQL.purgeKnownNetworks, [knownSince])
        return decisions.decided
      })
    },
    pendingSignIn: (email, network, now) =>
      pool.repeatable(async (connection) => {
        await requireActive(connection)
        const [found] = await connection.query<PendingSignIn & object>(SQL.pendingSignIn, [email, network, now])
        return found ?? null
      }),
    tryCode: ({ id, codeHash }, now) =>
      pool.transaction(async (connection) => {
        const [compared] = await connection.query<{ isRight: string; email: string; network: string }>(SQL.tryCode, [
          id,
          codeHash,
          now,
        ])
        if (!compared) return 'spent'
        if (compared.isRight !== 't') return 'wrong'
        const addressKey = knownAddressKey(compared.email)
        await connection.query(SQL.putKnownNetwork, [knownNetworkKey(compared), addressKey, now])
        await connection.query(SQL.forgetKnownNetworks, [addressKey])
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
  const pending = await connection.query<Stored<PendingRow, 'isMailed'>>(SQL.pendingOfRequests, [emails, networks])
  const keys = new Set(requests.flatMap(quotaKeysOf))
  const known = await connection.query<{ key: string }>(SQL.knownNetworks, [requests.map(knownNetworkKey), knownSince])
  const users = await connection.query<{ email: string }>(SQL.usersOfRequests, [emails])
  const kids = await connection.query<{ kid: string }>(SQL.kidsOfRequests)
  return {
    pending: pending.map((row) => ({ ...row, isMailed: row.isMailed === 't' })),
    quotas: await connection.query<Quota & object>(SQL.mailQuotas, [[...keys]]),
    knownNetworks: new Set(known.map(({ key }) => key)),
    users: new Set(users.map(({ email }) => email)),
    kids: new Set(kids.map(({ kid }) => kid)),
  }
}

async function write(connection: Connection, decisions: Decisions, now: number, expiresAt: number): Promise<void> {
  await connection.query(
    SQL.putPendingSignIns,
    columns(decisions.pending, ['id', 'email', 'network', 'kid', 'codeHash', 'isMailed', 'tries', 'expiresAt']),
  )
  await connection.query(SQL.putMailQuotas, columns(decisions.quotas, ['key', 'used', 'endsAt']))
  await connection.query(SQL.putMails, [
    ...columns(decisions.mailed, ['id', 'email', 'network', 'agent', 'kid', 'askedAt', 'dueAt']),
    expiresAt,
  ])
  const latest = expiresAt + CLOCKS_DIFFER_MS
  await connection.query(SQL.purgePendingSignIns, [now, latest])
  await connection.query(SQL.purgeMails, [now + CLOCKS_DIFFER_MS, latest])
  await connection.query(SQL.purgeMailQuotas, [now])
}
