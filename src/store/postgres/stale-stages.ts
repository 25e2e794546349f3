// Removes staged exports and replacements in PostgreSQL: the leftovers of dead imports in batches, everything staged
// for given emails at once.
import { DROPPED_AT, STALE_BYTES_PER_CALL, STALE_ROWS_PER_CALL } from '../workspace-edits.ts'
import type { Connection, Statement } from './connection.ts'

/** Maximum number of exports, and of users, of which one call removes rows. */
const OWNERS_PER_CALL = 256

// The mark ends a replacement: an import that was only suspended cannot continue it.
const MARK_REPLACEMENTS: Statement = {
  name: 'markStaleReplacements',
  text: `update workspace_gateway.replacement set touched_at = ${DROPPED_AT} where name in (
      select name from workspace_gateway.replacement
      where touched_at < $1 and touched_at > ${DROPPED_AT} order by name for update skip locked)`,
}
const MARK_EXPORTS: Statement = {
  name: 'markStaleExports',
  text: `update workspace_gateway.staged_export set staged_at = ${DROPPED_AT} where id in (
      select id from workspace_gateway.staged_export
      where owner is null and staged_at < $1 and staged_at > ${DROPPED_AT} order by id for update skip locked)`,
}
const STALE_EXPORTS: Statement = {
  name: 'exportsToDrop',
  text: `select id, user_id as "userId" from workspace_gateway.staged_export
    where owner is null and staged_at = ${DROPPED_AT} order by id limit ${OWNERS_PER_CALL} for update skip locked`,
}
const DROP_ELEMENTS: Statement = {
  name: 'dropSomeElements',
  text: `delete from workspace_gateway.export_element where (user_id, export_id, position) in (
      select user_id, export_id, position from (
        select *, sum(bytes) over (order by export_id, position) - bytes as before from (
          select e.user_id, e.export_id, e.position, octet_length(e.text) as bytes
          from unnest($1::bigint[], $2::bigint[]) as asked (user_id, export_id)
          cross join lateral (
            select * from workspace_gateway.export_element
            where user_id = asked.user_id and export_id = asked.export_id offset 0) e
          limit ${STALE_ROWS_PER_CALL}) found) counted
      where before < ${STALE_BYTES_PER_CALL})`,
}
const DROP_EMPTY_EXPORTS: Statement = {
  name: 'dropEmptyExports',
  text: `delete from workspace_gateway.staged_export s where id = any($1::bigint[]) and not exists (
      select 1 from workspace_gateway.export_element e where (e.user_id, e.export_id) = (s.user_id, s.id))`,
}
const REPLACEMENT: Statement = {
  name: 'replacementToDrop',
  text: `select name from workspace_gateway.replacement
    where touched_at = ${DROPPED_AT} order by name limit 1 for update skip locked`,
}
const USERS: Statement = {
  name: 'stagedUsersToDrop',
  text: `select id from workspace_gateway.staged_user where replacement = $1 order by email limit ${OWNERS_PER_CALL}`,
}
const EXPORTS_OF: Statement = {
  name: 'exportsToDropOf',
  text: `select id, user_id as "userId" from workspace_gateway.staged_export
    where owner = any($1::bigint[]) order by id limit ${OWNERS_PER_CALL}`,
}
const DROP_DOCUMENTS: Statement = {
  name: 'dropStagedDocuments',
  text: `delete from workspace_gateway.staged_document where (owner, kind, position) in (
      select owner, kind, position from (
        select *, sum(bytes) over (order by owner, kind, position) - bytes as before from (
          select d.owner, d.kind, d.position, octet_length(d.text) as bytes
          from unnest($1::bigint[]) as asked (owner)
          cross join lateral (
            select * from workspace_gateway.staged_document where owner = asked.owner offset 0) d
          limit ${STALE_ROWS_PER_CALL}) found) counted
      where before < ${STALE_BYTES_PER_CALL})
    returning owner`,
}
const DROP_USERS: Statement = {
  name: 'dropStagedUsers',
  text: 'delete from workspace_gateway.staged_user where id = any($1::bigint[])',
}
const DROP_REPLACEMENT: Statement = {
  name: 'dropReplacement',
  text: 'delete from workspace_gateway.replacement where name = $1',
}

const LOCK_REPLACEMENTS: Statement = {
  name: 'lockReplacementsOfUsers',
  text: `select name from workspace_gateway.replacement where name in (
      select replacement from workspace_gateway.staged_user where email = any($1::text[])) order by name for update`,
}
const END_REPLACEMENTS: Statement = {
  name: 'endReplacementsOfUsers',
  text: `update workspace_gateway.replacement set touched_at = ${DROPPED_AT} where name = any($1::text[])`,
}
const REMOVE_ELEMENTS: Statement = {
  name: 'removeStagedElements',
  text: `delete from workspace_gateway.export_element e
    using workspace_gateway.staged_export s join workspace_gateway.staged_user u on u.id = s.owner
    where u.email = any($1::text[]) and u.replacement = any($2::text[])
      and (e.user_id, e.export_id) = (s.user_id, s.id)`,
}
const REMOVE_STAGED: Statement = {
  name: 'removeStaged',
  text: `with gone as (
      delete from workspace_gateway.staged_user where email = any($1::text[]) and replacement = any($2::text[])
      returning id, email),
    exports as (delete from workspace_gateway.staged_export where owner in (select id from gone)),
    documents as (delete from workspace_gateway.staged_document where owner in (select id from gone))
    select distinct email from gone`,
}

interface StagedExport {
  readonly id: number
  readonly userId: number
}

/**
 * Removes one batch of what was not touched since `before` (milliseconds since the epoch). Runs in a transaction. True
 * when nothing is left.
 */
export async function dropSomeStale(connection: Connection, before: number): Promise<boolean> {
  await connection.query(MARK_EXPORTS, [before])
  await connection.query(MARK_REPLACEMENTS, [before])
  const stale = await connection.query<StagedExport & object>(STALE_EXPORTS)
  if (stale.length > 0) {
    await dropSomeOf(connection, stale)
    return false
  }
  const [replacement] = await connection.query<{ name: string }>(REPLACEMENT)
  if (!replacement) return true
  await dropSomeOfReplacement(connection, replacement.name)
  return false
}

async function dropSomeOf(connection: Connection, exports: readonly StagedExport[]): Promise<void> {
  const ids = exports.map(({ id }) => id)
  await connection.query(DROP_ELEMENTS, [exports.map(({ userId }) => userId), ids])
  await connection.query(DROP_EMPTY_EXPORTS, [ids])
}

async function dropSomeOfReplacement(connection: Connection, replacement: string): Promise<void> {
  const users = (await connection.query<{ id: number }>(USERS, [replacement])).map(({ id }) => id)
  const exports = await connection.query<StagedExport & object>(EXPORTS_OF, [users])
  if (users.length === 0) await connection.query(DROP_REPLACEMENT, [replacement])
  else if (exports.length > 0) await dropSomeOf(connection, exports)
  else if ((await connection.query(DROP_DOCUMENTS, [users])).length === 0) await connection.query(DROP_USERS, [users])
}

/**
 * Locks the replacements that have staged anything for the emails, and returns their names. While the lock is held, they
 * can take no step. Must be called before users are locked, in the same order as a swap locks them, so that the two
 * cannot deadlock.
 */
export async function lockReplacementsOf(
  connection: Connection,
  emails: readonly string[],
): Promise<readonly string[]> {
  return (await connection.query<{ name: string }>(LOCK_REPLACEMENTS, [emails])).map(({ name }) => name)
}

/**
 * Removes everything that the replacements have staged for the emails, and returns the emails that had something staged.
 * `replacements` are those that `lockReplacementsOf` has locked in this transaction. It also ends them: otherwise their
 * remaining steps would be swapped in as if they were complete. A replacement that has begun to stage for the emails
 * since then is not locked and may be in a step. All of that is kept, as if it had begun after the removal.
 */
export async function removeStaged(
  connection: Connection,
  emails: readonly string[],
  replacements: readonly string[],
): Promise<ReadonlySet<string>> {
  if (replacements.length === 0) return new Set()
  await connection.query(END_REPLACEMENTS, [replacements])
  await connection.query(REMOVE_ELEMENTS, [emails, replacements])
  const gone = await connection.query<{ email: string }>(REMOVE_STAGED, [emails, replacements])
  return new Set(gone.map(({ email }) => email))
}
