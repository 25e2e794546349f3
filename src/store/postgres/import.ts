// Applies the steps of an import in PostgreSQL.
//
// Adding steps of one type do not depend on those of another type, except for the order stage, fill, seal. So all steps
// of one type become one statement, however they alternate in the list. Removals divide the list, and so do projects
// that change their reference: the steps before the division are executed first.
import {
  type Change,
  type ChangeOutcome,
  requireElementPlaces,
  StagedExportGoneError,
  type Store,
} from '../contract.ts'
import { DROPPED_AT } from '../workspace-edits.ts'
import { hashInAudit } from './access/audit.ts'
import type { Connection, Statement } from './connection.ts'
import { keyOf } from './engine/name-hash.ts'
import type { Pool } from './engine/pool.ts'
import { divide } from './import-runs.ts'
import { applyRemovals, isRemoval, type Removal } from './removals.ts'
import { dropSomeStale, lockReplacementsOf } from './stale-stages.ts'
import { putDocuments } from './upsert-documents.ts'

type ChangeVerbs = Pick<Store, 'applyChanges' | 'projectIdsByRef' | 'dropStaleStages'>
type ChangeOf<T extends Change['type']> = Extract<Change, { readonly type: T }>

const ADD_USERS: Statement = {
  name: 'addUsers',
  text: `insert into workspace_gateway.user (email)
    select email from unnest($1::text[]) as asked (email)
    where not exists (select 1 from workspace_gateway.user u where u.email = asked.email)
    order by email on conflict (email) do nothing returning email`,
}
// Users are always locked in the order of their ids, so that two imports cannot deadlock. `lateral` with `offset 0`
// forces one index lookup per email: see upsert-documents.ts.
const LOCK_USERS: Statement = {
  name: 'lockUsers',
  text: `select u.id, u.email from (
      select named.id from unnest($1::text[]) as asked (email)
        cross join lateral (select id from workspace_gateway.user where email = asked.email offset 0) named
      union select user_id from workspace_gateway.staged_export where stage = any($2::text[])
      order by id) asked
    cross join lateral (
      select id, email from workspace_gateway.user where id = asked.id for no key update) u`,
}
const STAGE: Statement = {
  name: 'stageExports',
  text: `insert into workspace_gateway.staged_export (stage, user_id, ref, created_at, instant, staged_at)
    select stage, user_id, ref, created_at, instant, staged_at
    from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[])
      with ordinality as asked (stage, user_id, ref, created_at, instant, staged_at, n)
    order by n`,
}
const LOCK_STAGES: Statement = {
  name: 'lockStages',
  text: `select stage, id, user_id as "userId" from workspace_gateway.staged_export
    where stage = any($1::text[]) and staged_at > ${DROPPED_AT} order by id for update`,
}
const TOUCH: Statement = {
  name: 'touchStages',
  text: `update workspace_gateway.staged_export set staged_at = greatest(staged_at, $2) where stage = any($1::text[])`,
}
const ADD_ELEMENTS: Statement = {
  name: 'addElements',
  text: `insert into workspace_gateway.export_element (user_id, export_id, position, text)
    select * from unnest($1::bigint[], $2::bigint[], $3::int[], $4::text[])`,
}
const SEAL: Statement = {
  name: 'sealExports',
  text: `insert into workspace_gateway.export
      (user_id, id, ref, created_at, instant, digest, byte_length, element_count)
    select s.user_id, s.id, s.ref, s.created_at, s.instant, asked.digest, asked.byte_length, asked.element_count
    from unnest($1::text[], $2::text[], $3::bigint[], $4::int[])
      with ordinality as asked (stage, digest, byte_length, element_count, n)
    join workspace_gateway.staged_export s on s.stage = asked.stage
    order by asked.n
    on conflict do nothing returning id`,
}
const DROP_ELEMENTS: Statement = {
  name: 'dropElements',
  text: `delete from workspace_gateway.export_element e using unnest($1::bigint[], $2::bigint[]) as asked (user_id, export_id)
    where (e.user_id, e.export_id) = (asked.user_id, asked.export_id)`,
}
const UNSTAGE: Statement = {
  name: 'unstage',
  text: 'delete from workspace_gateway.staged_export where id = any($1::bigint[])',
}
const PROJECT_IDS: Statement = {
  name: 'projectIdsByRef',
  text: `select asked.n, d.id from unnest($1::text[], $2::bytea[]) with ordinality as asked (email, ref_key, n)
    join workspace_gateway.user u on u.email = asked.email
    cross join lateral (
      select id from workspace_gateway.document
      where user_id = u.id and workspace_gateway.key_of(ref) = asked.ref_key and ref is not null offset 0) d`,
}
interface Stage {
  readonly stage: string
  readonly id: number
  readonly userId: number
}

export function createChanges(pool: Pool): ChangeVerbs {
  return {
    applyChanges(changes) {
      const run = (connection: Connection) => apply(connection, changes)
      return changes.some(mayTakeLong) ? pool.unboundedTransaction(run) : pool.transaction(run)
    },
    projectIdsByRef: (refs) =>
      pool.repeatable(async (connection) => {
        const found = await connection.query<{ n: number; id: string }>(PROJECT_IDS, [
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
  const emails = changes.flatMap((change) => ('email' in change ? change.email : []))
  const stages = changes.flatMap((change) => ('stage' in change ? change.stage : []))
  // The insert of no users fires the move triggers: a move refuses the write before this transaction holds a row lock.
  await connection.query(ADD_USERS, [[]])
  const removed = ofType(changes, 'removeUser').map(({ email }) => email)
  const replacements = removed.length > 0 ? await lockReplacementsOf(connection, removed) : []
  // All existing users are locked at once, so that two imports that name users in different orders cannot deadlock.
  const userIds = await lockUsers(connection, emails, stages)
  const outcomes: ChangeOutcome[] = []
  for (const run of await divide(connection, changes, userIds)) {
    outcomes.push(...(await (isAllRemovals(run) ? removeAll(connection, run, replacements) : addAll(connection, run))))
  }
  if (removed.length > 0) await hashInAudit(connection, removed)
  return outcomes
}

async function lockUsers(connection: Connection, emails: readonly string[], stages: readonly string[]) {
  const users = await connection.query<{ id: number; email: string }>(LOCK_USERS, [
    [...new Set(emails)],
    [...new Set(stages)],
  ])
  return new Map(users.map(({ id, email }) => [email, id]))
}

async function removeAll(
  connection: Connection,
  changes: readonly Removal[],
  replacements: readonly string[],
): Promise<readonly ChangeOutcome[]> {
  const emails = changes.map(({ email }) => email)
  const userIds = await lockUsers(connection, emails, [])
  return applyRemovals(connection, changes, { replacements, userIds })
}

/** Adds missing users and locks all of them. Repeats when a concurrent transaction has removed one in between. */
async function requireUsers(connection: Connection, emails: readonly string[], stages: readonly string[]) {
  const added = new Set<string>()
  for (;;) {
    for (const { email } of await connection.query<{ email: string }>(ADD_USERS, [emails])) added.add(email)
    const userIds = await lockUsers(connection, emails, stages)
    if (emails.every((email) => userIds.has(email))) return { userIds, added }
  }
}

async function addAll(connection: Connection, changes: readonly Change[]): Promise<readonly ChangeOutcome[]> {
  const staging = ofType(changes, 'stageExport')
  const filling = ofType(changes, 'stageElements')
  const sealing = ofType(changes, 'sealExport')
  const putting = ofType(changes, 'putDocument')
  const emails = [...new Set(changes.flatMap((change) => ('email' in change ? change.email : [])))]
  const stageNames = [...new Set([...filling, ...sealing].map(({ stage }) => stage))]
  const { userIds, added } = await requireUsers(connection, emails, stageNames)

  const outcomes = new Map<Change, ChangeOutcome>()
  // An `addUser` step added the user only when no earlier step of this list names the same email.
  const named = new Set<string>()
  for (const change of changes) {
    if (!('email' in change)) continue
    if (change.type === 'addUser') {
      outcomes.set(change, added.has(change.email) && !named.has(change.email) ? 'added' : 'unchanged')
    }
    named.add(change.email)
  }
  if (staging.length > 0) await stageExports(connection, staging, userIds)
  const stages = stageNames.length > 0 ? await lockStages(connection, stageNames) : new Map<string, Stage>()
  if (filling.length > 0) await stageElements(connection, filling, stages)
  if (sealing.length > 0) setAll(outcomes, sealing, await sealExports(connection, sealing, stages))
  if (putting.length > 0) setAll(outcomes, putting, await putDocuments(connection, putting, userIds))
  return changes.map((change) => outcomes.get(change) ?? 'staged')
}

function isAllRemovals(run: readonly Change[]): run is readonly Removal[] {
  return run.every(isRemoval)
}

function stageExports(
  connection: Connection,
  staging: readonly ChangeOf<'stageExport'>[],
  userIds: ReadonlyMap<string, number>,
) {
  return connection.query(STAGE, [
    staging.map(({ stage }) => stage),
    staging.map(({ email }) => userIds.get(email)),
    staging.map(({ ref }) => ref),
    staging.map(({ createdAt }) => createdAt),
    staging.map(({ instant }) => instant),
    staging.map(({ now }) => now),
  ])
}

async function lockStages(connection: Connection, names: readonly string[]): Promise<ReadonlyMap<string, Stage>> {
  const found = await connection.query<Stage & object>(LOCK_STAGES, [names])
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
  await connection.query(TOUCH, [filling.map(({ stage }) => stage), Math.max(...filling.map(({ now }) => now))])
  await connection.query(ADD_ELEMENTS, [
    rows.map(({ userId }) => userId),
    rows.map(({ id }) => id),
    rows.map(({ position }) => position),
    rows.map(({ text }) => text),
  ])
}

async function sealExports(
  connection: Connection,
  sealing: readonly ChangeOf<'sealExport'>[],
  stages: ReadonlyMap<string, Stage>,
): Promise<readonly ChangeOutcome[]> {
  const rows = await connection.query<{ id: number }>(SEAL, [
    sealing.map(({ stage }) => stage),
    sealing.map(({ digest }) => digest),
    sealing.map(({ byteLength }) => byteLength),
    sealing.map(({ elementCount }) => elementCount),
  ])
  const sealed = new Set(rows.map(({ id }) => id))
  const all = sealing.map(({ stage }) => requireStage(stages, stage))
  const unchanged = all.filter(({ id }) => !sealed.has(id))
  if (unchanged.length > 0) {
    await connection.query(DROP_ELEMENTS, [unchanged.map(({ userId }) => userId), unchanged.map(({ id }) => id)])
  }
  await connection.query(UNSTAGE, [all.map(({ id }) => id)])
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
