// Removes and renames users and removes documents and exports in PostgreSQL, for import steps and for commands.
import type { Change, ChangeOf, ChangeOutcome, Removal } from '../contract.ts'
import { knownAddressKey } from '../sign-in/decide-code-requests.ts'
import {
  ANY_AGE,
  ELEMENTS_PER_PRUNE,
  EXPORTS_PER_PRUNE,
  type Holdings,
  NO_HOLDINGS,
  type PruneRule,
  REFS_PER_PRUNE,
  type WorkspaceEdits,
} from '../workspace-edits.ts'
import { hashInAudit } from './access/audit.ts'
import { type Connection, statements } from './connection.ts'
import { keyOf } from './engine/name-hash.ts'
import type { Pool } from './engine/pool.ts'
import { LOCK_USERS } from './engine/swap-user.ts'
import { lockReplacementsOf, removeStaged } from './stale-stages.ts'

const SQL = statements({
  holdings: `select asked.email, d.projects, d.templates, d."uiLibraries", e.exports, e."exportBytes", s.sessions
    from unnest($1::text[]) with ordinality as asked (email, n)
    left join workspace_gateway.user u on u.email = asked.email
    cross join lateral (
      select count(*) filter (where kind = 'project') as projects, count(*) filter (where kind = 'template') as templates,
        count(*) filter (where kind = 'uiLibrary') as "uiLibraries"
      from workspace_gateway.document where user_id = u.id) d
    cross join lateral (
      select count(*) as exports, coalesce(sum(byte_length), 0)::bigint as "exportBytes"
      from workspace_gateway.export where user_id = u.id) e
    cross join lateral (
      select count(*) as sessions from workspace_gateway.session where email = asked.email) s
    where u.id is not null or s.sessions > 0 order by asked.n`,
  removeUsers: 'delete from workspace_gateway.user where email = any($1::text[])',
  // All other tables with an `email` column, read from the catalog so that a table added later is covered too.
  tablesByEmail: `select quote_ident(c.relname) as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'email' and not a.attisdropped
    where c.relnamespace = 'workspace_gateway'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('user', 'staged_user')
    order by c.relname`,
  // The table has a hash in place of the email.
  removeKnownNetworks: 'delete from workspace_gateway.known_network where address_key = any($1::text[])',
  renameUser: `update workspace_gateway.user set email = $2 where email = $1
    and not exists (select 1 from workspace_gateway.user where email = $2) returning id`,
  isKnownUser: 'select id from workspace_gateway.user where email = $1',
  removeDocuments: `delete from workspace_gateway.document d
    using unnest($1::bigint[], $2::text[], $3::bytea[]) as asked (user_id, kind, id_key)
    where d.user_id = asked.user_id and d.kind = asked.kind and workspace_gateway.key_of(d.id) = asked.id_key
    returning d.user_id as "userId", d.kind, d.id`,
  removeExports: `delete from workspace_gateway.export where user_id = $1
      and ($2::bytea is null or workspace_gateway.key_of(ref) = $2) and ($3::text is null or instant = $3)
      and ($4::text is null or digest = $4)
    returning id`,
  // An import locks the user before it changes exports. Removing an export changes the user row too.
  lockUserToPrune: 'select id from workspace_gateway.user where id = $1 for no key update',
  // Both follow an index, so that they do not read the exports that stay.
  refsToPruneAfter: `with recursive refs (ref) as (
      (select ref from workspace_gateway.export where user_id = $1 and workspace_gateway.key_of(ref) > $2
        order by workspace_gateway.key_of(ref) limit 1)
      union all
      select (select e.ref from workspace_gateway.export e
        where e.user_id = $1 and workspace_gateway.key_of(e.ref) > workspace_gateway.key_of(refs.ref)
        order by workspace_gateway.key_of(e.ref) limit 1)
      from refs where refs.ref is not null)
    select ref from refs where ref is not null limit ${REFS_PER_PRUNE}`,
  prunableExports: `select e.id, e.byte_length as "byteLength", e.element_count as "elementCount"
    from unnest($4::bytea[]) as asked (key) cross join lateral (
      select id, byte_length, element_count from workspace_gateway.export
      where user_id = $1 and workspace_gateway.key_of(ref) = asked.key and instant < $3 collate "C" and (instant, id) <= (
        select instant, id from workspace_gateway.export
        where user_id = $1 and workspace_gateway.key_of(ref) = asked.key order by instant desc, id desc
        limit 1 offset $2)
      order by instant, id limit ${EXPORTS_PER_PRUNE + 1}) e
    limit ${EXPORTS_PER_PRUNE + 1}`,
  pruneExports: 'delete from workspace_gateway.export where user_id = $1 and id = any($2::bigint[])',
})

type RemovalVerbs = Pick<WorkspaceEdits, 'holdingsOf' | 'removeUsers' | 'renameUser' | 'pruneExports'>

export function isRemoval(change: Change): change is Removal {
  return change.type in REMOVE
}

/**
 * Removes the users and everything else stored under the emails. Runs in a transaction that has locked first their
 * `replacements` and then the users, and that hashes the emails in the audit log at its end. The result is null for an
 * email with nothing stored.
 */
async function removeUsers(
  connection: Connection,
  emails: readonly string[],
  replacements: readonly string[],
): Promise<readonly (Holdings | null)[]> {
  const held = await holdingsOf(connection, emails)
  const staged = await removeStaged(connection, emails, replacements)
  await connection.query(SQL.removeUsers, [emails])
  await removeByEmail(connection, emails)
  // When an email occurs twice, nothing is left for the second occurrence.
  const first = new Set<string>()
  return emails.map((email, index) => {
    if (first.has(email)) return null
    first.add(email)
    return held[index] ?? (staged.has(email) ? { email, ...NO_HOLDINGS } : null)
  })
}

/** Removes everything that is stored under the emails outside the workspace: sessions, pending sign-ins and the like. */
async function removeByEmail(connection: Connection, emails: readonly string[]): Promise<void> {
  for (const { name } of await connection.query<{ name: string }>(SQL.tablesByEmail)) {
    const text = `delete from workspace_gateway.${name} where email = any($1::text[])`
    await connection.query({ name: `remove ${name} by email`, text }, [emails])
  }
  // Last: a sign-in that was under way holds its pending row, and has made its network known once that row is free.
  await connection.query(SQL.removeKnownNetworks, [emails.map(knownAddressKey)])
}

async function holdingsOf(connection: Connection, emails: readonly string[]): Promise<readonly (Holdings | null)[]> {
  const found = await connection.query<Holdings & object>(SQL.holdings, [[...new Set(emails)]])
  const byEmail = new Map(found.map((one) => [one.email, one]))
  return emails.map((email) => byEmail.get(email) ?? null)
}

/** What the transaction of an import has locked. */
export interface LockedForRemovals {
  /** Replacements that have staged anything for users who are to be removed. */
  readonly replacements: readonly string[]
  /** The existing users, by email. */
  readonly userIds: ReadonlyMap<string, number>
}

/** Applies removals of one type in the transaction of an import. */
export async function applyRemovals(
  connection: Connection,
  changes: readonly Removal[],
  locked: LockedForRemovals,
): Promise<readonly ChangeOutcome[]> {
  const [first] = changes
  if (!first) return []
  return REMOVE[first.type](connection, changes as readonly never[], locked)
}

const REMOVE: {
  readonly [T in Removal['type']]: (
    connection: Connection,
    changes: readonly ChangeOf<T>[],
    locked: LockedForRemovals,
  ) => Promise<readonly ChangeOutcome[]>
} = {
  async removeUser(connection, changes, { replacements }) {
    const emails = changes.map(({ email }) => email)
    const removed = await removeUsers(connection, emails, replacements)
    return removed.map((held) => (held ? 'removed' : 'unchanged'))
  },
  async removeDocument(connection, changes, { userIds }) {
    const nameOf = (userId: number | undefined, kind: string, id: string) => `${userId} ${kind} ${id}`
    const rows = await connection.query<{ userId: number; kind: string; id: string }>(SQL.removeDocuments, [
      changes.map(({ email }) => userIds.get(email) ?? null),
      changes.map(({ kind }) => kind),
      changes.map(({ id }) => keyOf(id)),
    ])
    const removed = new Set(rows.map(({ userId, kind, id }) => nameOf(userId, kind, id)))
    return changes.map(({ email, kind, id }) =>
      removed.delete(nameOf(userIds.get(email), kind, id)) ? 'removed' : 'unchanged',
    )
  },
  async removeExports(connection, changes, { userIds }) {
    const outcomes: ChangeOutcome[] = []
    for (const { email, ref, instant, digest } of changes) {
      const asked = [userIds.get(email) ?? null, ref === null ? null : keyOf(ref), instant, digest]
      const removed = await connection.query(SQL.removeExports, asked)
      outcomes.push(removed.length > 0 ? 'removed' : 'unchanged')
    }
    return outcomes
  },
}

/** `next` is where the next call continues if all of `found` are removed. */
async function findPrunable(connection: Connection, { userId, keep, before, after }: PruneRule) {
  const start = after === '' ? Buffer.alloc(0) : keyOf(after)
  const refs = (await connection.query<{ ref: string }>(SQL.refsToPruneAfter, [userId, start])).map(({ ref }) => ref)
  const found = await connection.query<{ id: number; byteLength: number; elementCount: number }>(SQL.prunableExports, [
    userId,
    keep,
    before ?? ANY_AGE,
    refs.map(keyOf),
  ])
  return { found, next: refs[REFS_PER_PRUNE - 1] ?? null }
}

export function createRemovals(pool: Pool): RemovalVerbs {
  return {
    holdingsOf: (emails) => pool.repeatable((connection) => holdingsOf(connection, emails)),
    removeUsers: (emails) =>
      pool.unboundedTransaction(async (connection) => {
        const replacements = await lockReplacementsOf(connection, emails)
        await connection.query(LOCK_USERS, [emails])
        const removed = await removeUsers(connection, emails, replacements)
        await hashInAudit(connection, emails)
        return removed
      }),
    renameUser: (email, to) =>
      pool.unboundedTransaction(async (connection) => {
        const replacements = await lockReplacementsOf(connection, [email])
        const renamed = await connection.query(SQL.renameUser, [email, to])
        if (renamed.length === 0)
          return (await connection.query(SQL.isKnownUser, [email])).length > 0 ? 'taken' : 'unknown'
        await removeByEmail(connection, [email])
        await removeStaged(connection, [email], replacements)
        await hashInAudit(connection, [email])
        return 'renamed'
      }),
    pruneExports: (rule) =>
      pool.unboundedTransaction(async (connection) => {
        const { userId, after } = rule
        // Deleting nothing fires the move triggers: a move refuses the write before this transaction holds a row lock.
        await connection.query(SQL.pruneExports, [userId, []])
        // Most users have nothing to prune. A lock writes their row, and the commit waits for the disk and for standbys.
        const unlocked = await findPrunable(connection, rule)
        if (unlocked.found.length === 0) return { exports: 0, byteLength: 0, next: unlocked.next }
        await connection.query(SQL.lockUserToPrune, [userId])
        const { found, next } = await findPrunable(connection, rule)
        let [byteLength, elements] = [0, 0]
        const ids: number[] = []
        for (const one of found) {
          const isFull = ids.length === EXPORTS_PER_PRUNE || elements + one.elementCount > ELEMENTS_PER_PRUNE
          if (ids.length > 0 && isFull) break
          ids.push(one.id)
          byteLength += one.byteLength
          elements += one.elementCount
        }
        if (ids.length > 0) await connection.query(SQL.pruneExports, [userId, ids])
        return { exports: ids.length, byteLength, next: ids.length < found.length ? after : next }
      }),
  }
}
