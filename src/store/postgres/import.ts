// Applies the steps of an import in PostgreSQL.
//
// Adding steps of one type do not depend on those of another type, except for the order stage, fill, seal. So all steps
// of one type become one statement, however they alternate in the list. Removals divide the list, and so do projects
// that change their reference: the steps before the division are executed first.
import {
  type Change,
  type ChangeOf,
  type ChangeOutcome,
  type Removal,
  requireElementPlaces,
  StagedExportGoneError,
  type Store,
} from '../contract.ts'
import { DROPPED_AT } from '../workspace-edits.ts'
import { hashInAudit } from './access/audit.ts'
import { type Connection, columns, statements } from './connection.ts'
import { ADD_USERS, addMissing, type HeldUsers, lockUsers } from './engine/held-users.ts'
import { keyOf } from './engine/name-hash.ts'
import { hasLongTexts, type Pool } from './engine/pool.ts'
import { divide } from './import-runs.ts'
import { applyRemovals, isRemoval } from './removals.ts'
import { dropSomeStale, lockReplacementsOf } from './stale-stages.ts'
import { putDocuments } from './upsert-documents.ts'

type ChangeVerbs = Pick<Store, 'applyChanges' | 'projectIdsByRef' | 'dropStaleStages'>

const SQL = statements({
  stageExports: `insert into workspace_gateway.staged_export (stage, user_id, ref, created_at, instant, staged_at)
    select stage, user_id, ref, created_at, instant, staged_at
    from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[])
      with ordinality as asked (stage, user_id, ref, created_at, instant, staged_at, n)
    order by n`,
  lockStages: `select stage, id, user_id as "userId" from workspace_gateway.staged_export
    where stage = any($1::text[]) and staged_at > ${DROPPED_AT} order by id for update`,
  touchStages: `update workspace_gateway.staged_export set staged_at = greatest(staged_at, $2) where stage = any($1::text[])`,
  addElements: `insert into workspace_gateway.export_element (user_id, export_id, position, text)
    select * from unnest($1::bigint[], $2::bigint[], $3::int[], $4::text[])`,
  sealExports: `insert into workspace_gateway.export
      (user_id, id, ref, created_at, instant, digest, byte_length, element_count)
    select s.user_id, s.id, s.ref, s.created_at, s.instant, asked.digest, asked.byte_length, asked.element_count
    from unnest($1::text[], $2::text[], $3::bigint[], $4::int[])
      with ordinality as asked (stage, digest, byte_length, element_count, n)
    join workspace_gateway.staged_export s on s.stage = asked.stage
    order by asked.n
    on conflict do nothing returning id`,
  dropElements: `delete from workspace_gateway.export_element e using unnest($1::bigint[], $2::bigint[]) as asked (user_id, export_id)
    where (e.user_id, e.export_id) = (asked.user_id, asked.export_id)`,
  unstage: 'delete from workspace_gateway.staged_export where id = any($1::bigint[])',
  projectIdsByRef: `select asked.n, d.id from unnest($1::text[], $2::bytea[]) with ordinality as asked (email, ref_key, n)
    join workspace_gateway.user u on u.email = asked.email
    cross join lateral (
      select id from workspace_gateway.document
      where user_id = u.id and workspace_gateway.key_of(ref) = asked.ref_key and ref is not null offset 0) d`,
})
interface Stage {
  readonly stage: string
  readonly id: number
  readonly userId: number
}

export function createChanges(pool: Pool): ChangeVerbs {
  return {
    applyChanges(changes) {
      const run = (connection: Connection) => apply(connection, changes)
      if (hasLongTexts(changes)) return pool.longTransaction(run, true)
      return changes.some(mayTakeLong) ? pool.unboundedTransaction(run) : pool.transaction(run)
    },
    projectIdsByRef: (refs) =>
      pool.repeatable(async (connection) => {
        const found = await connection.query<{ n: number; id: string }>(SQL.projectIdsByRef, [
          refs.map(({ email }) => email),
          refs.map(({ ref }) => keyOf(ref)),
        ])
        const ids = new Map(found.map(({ n, id }) => [n, id]))
        return refs.map((_, index) => ids.get(index + 1) ?? null)
      }),
    dropStaleStages: (before) => pool.transaction((connection) => dropSomeStale(connection, before)),
  }
}

/** An export that is stored already is sealed by removing all of its staged elements. */
function mayTakeLong(change: Change): boolean {
  return isRemoval(change) || change.type === 'sealExport'
}

async function apply(connection: Connection, changes: readonly Change[]): Promise<readonly ChangeOutcome[]> {
  const stages = changes.flatMap((change) => ('stage' in change ? change.stage : []))
  // The insert of no users fires the move triggers: a move refuses the write before this transaction holds a row lock.
  await connection.query(ADD_USERS, [[]])
  const removed = ofType(changes, 'removeUser').map(({ email }) => email)
  const replacements = removed.length > 0 ? await lockReplacementsOf(connection, removed) : []
  // All existing users are locked at once, so that two imports that name users in different orders cannot deadlock. For
  // the same reason all missing ones are added at once, except those whose removal must not find them.
  const users: HeldUsers = { ids: await lockUsers(connection, emailsOf(changes), stages), fresh: new Set() }
  const adding = emailsOf(changes.filter((change) => !isRemoval(change)))
  for (const email of removed) adding.delete(email)
  await addMissing(connection, adding, users)
  const outcomes: ChangeOutcome[] = []
  for (const run of await divide(connection, changes, users.ids)) {
    outcomes.push(
      ...(await (isAllRemovals(run)
        ? removeAll(connection, run, users, replacements)
        : addAll(connection, run, users))),
    )
  }
  if (removed.length > 0) await hashInAudit(connection, removed)
  return outcomes
}

async function removeAll(
  connection: Connection,
  changes: readonly Removal[],
  { ids }: HeldUsers,
  replacements: readonly string[],
): Promise<readonly ChangeOutcome[]> {
  const userIds = await lockUsers(connection, emailsOf(changes), [])
  for (const { type, email } of changes) if (type === 'removeUser') ids.delete(email)
  return applyRemovals(connection, changes, { replacements, userIds })
}

async function addAll(
  connection: Connection,
  changes: readonly Change[],
  users: HeldUsers,
): Promise<readonly ChangeOutcome[]> {
  const staging = ofType(changes, 'stageExport')
  const filling = ofType(changes, 'stageElements')
  const sealing = ofType(changes, 'sealExport')
  const putting = ofType(changes, 'putDocument')
  const stageNames = [...new Set([...filling, ...sealing].map(({ stage }) => stage))]
  // Those whom an earlier step of the list has removed.
  await addMissing(connection, emailsOf(changes), users)

  const outcomes = new Map<Change, ChangeOutcome>()
  for (const change of changes) {
    if (!('email' in change)) continue
    // An `addUser` step added the user only when no earlier step names the same email.
    const isAdded = users.fresh.delete(change.email)
    if (change.type === 'addUser') outcomes.set(change, isAdded ? 'added' : 'unchanged')
  }
  if (staging.length > 0) await stageExports(connection, staging, users.ids)
  const stages = stageNames.length > 0 ? await lockStages(connection, stageNames) : new Map<string, Stage>()
  if (filling.length > 0) await stageElements(connection, filling, stages)
  if (sealing.length > 0) setAll(outcomes, sealing, await sealExports(connection, sealing, stages))
  if (putting.length > 0) setAll(outcomes, putting, await putDocuments(connection, putting, users.ids))
  return changes.map((change) => outcomes.get(change) ?? 'staged')
}

function emailsOf(changes: readonly Change[]): Set<string> {
  return new Set(changes.flatMap((change) => ('email' in change ? change.email : [])))
}

function isAllRemovals(run: readonly Change[]): run is readonly Removal[] {
  return run.every(isRemoval)
}

function stageExports(
  connection: Connection,
  staging: readonly ChangeOf<'stageExport'>[],
  userIds: ReadonlyMap<string, number>,
) {
  const rows = staging.map((step) => ({ ...step, userId: userIds.get(step.email) }))
  return connection.query(SQL.stageExports, columns(rows, ['stage', 'userId', 'ref', 'createdAt', 'instant', 'now']))
}

async function lockStages(connection: Connection, names: readonly string[]): Promise<ReadonlyMap<string, Stage>> {
  const found = await connection.query<Stage & object>(SQL.lockStages, [names])
  return new Map(found.map((stage) => [stage.stage, stage]))
}

function requireStage(stages: ReadonlyMap<string, Stage>, name: string): Stage {
  const stage = stages.get(name)
  if (!stage) throw new StagedExportGoneError()
  return stage
}

async function stageElements(
  connection: Connection,
  filling: readonly ChangeOf<'stageElements'>[],
  stages: ReadonlyMap<string, Stage>,
): Promise<void> {
  const rows = filling.flatMap(({ stage, position, texts }) => {
    const { id, userId } = requireStage(stages, stage)
    return texts.map((text, index) => ({ userId, id, position: position + index, text }))
  })
  requireElementPlaces(rows)
  await connection.query(SQL.touchStages, [
    filling.map(({ stage }) => stage),
    Math.max(...filling.map(({ now }) => now)),
  ])
  await connection.query(SQL.addElements, columns(rows, ['userId', 'id', 'position', 'text']))
}

async function sealExports(
  connection: Connection,
  sealing: readonly ChangeOf<'sealExport'>[],
  stages: ReadonlyMap<string, Stage>,
): Promise<readonly ChangeOutcome[]> {
  const values = columns(sealing, ['stage', 'digest', 'byteLength', 'elementCount'])
  const rows = await connection.query<{ id: number }>(SQL.sealExports, values)
  const sealed = new Set(rows.map(({ id }) => id))
  const all = sealing.map(({ stage }) => requireStage(stages, stage))
  const unchanged = all.filter(({ id }) => !sealed.has(id))
  if (unchanged.length > 0) await connection.query(SQL.dropElements, columns(unchanged, ['userId', 'id']))
  await connection.query(SQL.unstage, [all.map(({ id }) => id)])
  return all.map(({ id }) => (sealed.has(id) ? 'added' : 'unchanged'))
}

function ofType<T extends Change['type']>(changes: readonly Change[], type: T): readonly ChangeOf<T>[] {
  return changes.filter((change): change is ChangeOf<T> => change.type === type)
}

function setAll(outcomes: Map<Change, ChangeOutcome>, changes: readonly Change[], answers: readonly ChangeOutcome[]) {
  changes.forEach((change, index) => {
    outcomes.set(change, answers[index] ?? 'staged')
  })
}
