// What imports that died have left behind in PostgreSQL, removed in pieces.
import type { Connection, Statement } from './connection.ts'

/** Rows of one call, so that it holds its locks only briefly. */
const ROWS_PER_CALL = 2_000

const STALE_EXPORT: Statement = {
  name: 'staleStage',
  text: `select id, user_id as "userId" from workspace_gateway.staged_export
    where owner is null and staged_at < $1 order by id limit 1 for update skip locked`,
}
const DROP_ELEMENTS: Statement = {
  name: 'dropSomeElements',
  text: `delete from workspace_gateway.export_element where user_id = $1 and export_id = $2 and position in (
      select position from workspace_gateway.export_element where user_id = $1 and export_id = $2 limit $3)
    returning position`,
}
const DROP_EXPORT: Statement = {
  name: 'dropStaleExport',
  text: 'delete from workspace_gateway.staged_export where id = $1',
}
const STALE_REPLACEMENT: Statement = {
  name: 'staleReplacement',
  text: `select name from workspace_gateway.replacement where touched_at < $1 order by name limit 1 for update skip locked`,
}
const STAGED_USER: Statement = {
  name: 'staleStagedUser',
  text: 'select id from workspace_gateway.staged_user where replacement = $1 limit 1',
}
const DROP_DOCUMENTS: Statement = {
  name: 'dropStagedDocuments',
  text: `delete from workspace_gateway.staged_document where (owner, kind, position) in (
      select owner, kind, position from workspace_gateway.staged_document where owner = $1 limit $2) returning owner`,
}
const DISOWN: Statement = {
  name: 'disownStagedExports',
  text: `with dropped as (delete from workspace_gateway.staged_user where id = $1)
    update workspace_gateway.staged_export set owner = null, staged_at = -1 where owner = $1`,
}
const DROP_REPLACEMENT: Statement = {
  name: 'dropReplacement',
  text: 'delete from workspace_gateway.replacement where name = $1',
}

/** Within a transaction: removes some of what was not touched since `before`; true when nothing is left. */
export async function dropSomeStale(connection: Connection, before: number): Promise<boolean> {
  const [one] = await connection.query<{ id: number; userId: number }>(STALE_EXPORT, [before])
  if (one) {
    const dropped = await connection.query(DROP_ELEMENTS, [one.userId, one.id, ROWS_PER_CALL])
    if (dropped.length === 0) await connection.query(DROP_EXPORT, [one.id])
    return false
  }
  const [stale] = await connection.query<{ name: string }>(STALE_REPLACEMENT, [before])
  if (!stale) return true
  const [user] = await connection.query<{ id: number }>(STAGED_USER, [stale.name])
  if (!user) await connection.query(DROP_REPLACEMENT, [stale.name])
  else if ((await connection.query(DROP_DOCUMENTS, [user.id, ROWS_PER_CALL])).length === 0) {
    await connection.query(DISOWN, [user.id])
  }
  return false
}
