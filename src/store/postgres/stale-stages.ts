// Removes staged exports and replacements in PostgreSQL: the leftovers of dead imports in batches, everything staged
// for given emails at once.
import { DROPPED_AT, STALE_BYTES_PER_CALL, STALE_ROWS_PER_CALL } from '../workspace-edits.ts'
import { type Connection, statements } from './connection.ts'

/** Maximum number of exports, and of users, of which one call removes rows. */
const OWNERS_PER_CALL = 256

const SQL = statements({
  // The mark ends a replacement: an import that was only suspended cannot continue it.
  markStaleReplacements: `update workspace_gateway.replacement set touched_at = ${DROPPED_AT} where name in (
      select name from workspace_gateway.replacement
      where touched_at < $1 and touched_at > ${DROPPED_AT} order by name for update skip locked)`,
  markStaleExports: `update workspace_gateway.staged_export set staged_at = ${DROPPED_AT} where id in (
      select id from workspace_gateway.staged_export
      where owner is null and staged_at < $1 and staged_at > ${DROPPED_AT} order by id for update skip locked)`,
  exportsToDrop: `select id, user_id as "userId" from workspace_gateway.staged_export
    where owner is null and staged_at = ${DROPPED_AT} order by id limit ${OWNERS_PER_CALL} for update skip locked`,
  dropSomeElements: `delete from workspace_gateway.export_element where (user_id, export_id, position) in (
      select user_id, export_id, position from (
        select *, sum(bytes) over (order by export_id, position) - bytes as before from (
          select e.user_id, e.export_id, e.position, octet_length(e.text) as bytes
          from unnest($1::bigint[], $2::bigint[]) as asked (user_id, export_id)
          cross join lateral (
            select * from workspace_gateway.export_element
            where user_id = asked.user_id and export_id = asked.export_id offset 0) e
          limit ${STALE_ROWS_PER_CALL}) found) counted
      where before < ${STALE_BYTES_PER_CALL})`,
  dropEmptyExports: `delete from workspace_gateway.staged_export s where id = any($1::bigint[]) and not exists (
      select 1 from workspace_gateway.export_element e where (e.user_id, e.export_id) = (s.user_id, s.id))`,
  replacementToDrop: `select name from workspace_gateway.replacement
    where touched_at = ${DROPPED_AT} order by name limit 1 for update skip locked`,
  stagedUsersToDrop: `select id from workspace_gateway.staged_user where replacement = $1 order by email limit ${OWNERS_PER_CALL}`,
  exportsToDropOf: `select id, user_id as "userId" from workspace_gateway.staged_export
    where owner = any($1::bigint[]) order by id limit ${OWNERS_PER_CALL}`,
  dropStagedDocuments: `delete from workspace_gateway.staged_document where (owner, kind, position) in (
      select owner, kind, position from (
        select *, sum(bytes) over (order by owner, kind, position) - bytes as before from (
          select d.owner, d.kind, d.position, octet_length(d.text) as bytes
          from unnest($1::bigint[]) as asked (owner)
          cross join lateral (
            select * from workspace_gateway.staged_document where owner = asked.owner offset 0) d
          limit ${STALE_ROWS_PER_CALL}) found) counted
      where before < ${STALE_BYTES_PER_CALL})
    returning owner`,
  dropStagedUsers: 'delete from workspace_gateway.staged_user where id = any($1::bigint[])',
  dropReplacement: 'delete from workspace_gateway.replacement where name = $1',
  lockReplacementsOfUsers: `select name from workspace_gateway.replacement where name in (
      select replacement from workspace_gateway.staged_user where email = any($1::text[])) order by name for update`,
  endReplacementsOfUsers: `update workspace_gateway.replacement set touched_at = ${DROPPED_AT} where name = any($1::text[])`,
  removeStagedElements: `delete from workspace_gateway.export_element e
    using workspace_gateway.staged_export s join workspace_gateway.staged_user u on u.id = s.owner
    where u.email = any($1::text[]) and u.replacement = any($2::text[])
      and (e.user_id, e.export_id) = (s.user_id, s.id)`,
  removeStaged: `with gone as (
      delete from workspace_gateway.staged_user where email = any($1::text[]) and replacement = any($2::text[])
      returning id, email),
    exports as (delete from workspace_gateway.staged_export where owner in (select id from gone)),
    documents as (delete from workspace_gateway.staged_document where owner in (select id from gone))
    select distinct email from gone`,
})

interface StagedExport {
  readonly id: number
  readonly userId: number
}

/**
 * Removes one batch of what was not touched since `before` (milliseconds since the epoch). Runs in a transaction. True
 * when nothing is left.
 */
export async function dropSomeStale(connection: Connection, before: number): Promise<boolean> {
  await connection.query(SQL.markStaleExports, [before])
  await connection.query(SQL.markStaleReplacements, [before])
  const stale = await connection.query<StagedExport & object>(SQL.exportsToDrop)
  if (stale.length > 0) {
    await dropSomeOf(connection, stale)
    return false
  }
  const [replacement] = await connection.query<{ name: string }>(SQL.replacementToDrop)
  if (!replacement) return true
  await dropSomeOfReplacement(connection, replacement.name)
  return false
}

async function dropSomeOf(connection: Connection, exports: readonly StagedExport[]): Promise<void> {
  const ids = exports.map(({ id }) => id)
  await connection.query(SQL.dropSomeElements, [exports.map(({ userId }) => userId), ids])
  await connection.query(SQL.dropEmptyExports, [ids])
}

async function dropSomeOfReplacement(connection: Connection, replacement: string): Promise<void> {
  const users = (await connection.query<{ id: number }>(SQL.stagedUsersToDrop, [replacement])).map(({ id }) => id)
  const exports = await connection.query<StagedExport & object>(SQL.exportsToDropOf, [users])
  if (users.length === 0) await connection.query(SQL.dropReplacement, [replacement])
  else if (exports.length > 0) await dropSomeOf(connection, exports)
  else if ((await connection.query(SQL.dropStagedDocuments, [users])).length === 0)
    await connection.query(SQL.dropStagedUsers, [users])
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
  return (await connection.query<{ name: string }>(SQL.lockReplacementsOfUsers, [emails])).map(({ name }) => name)
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
  await connection.query(SQL.endReplacementsOfUsers, [replacements])
  await connection.query(SQL.removeStagedElements, [emails, replacements])
  const gone = await connection.query<{ email: string }>(SQL.removeStaged, [emails, replacements])
  return new Set(gone.map(({ email }) => email))
}
