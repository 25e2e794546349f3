// Stages replacement workspaces in PostgreSQL and swaps them in, user by user.
import { type DocumentKind, requireDocumentPlaces, requireElementPlaces } from '../contract.ts'
import {
  DROPPED_AT,
  MAX_USERS_PER_SWAP,
  ReplacementGoneError,
  type ReplacementStep,
  type StepOf,
  type Swapped,
  type WorkspaceEdits,
} from '../workspace-edits.ts'
import { type Connection, columns, type Statement, statements } from './connection.ts'
import { keyOf } from './engine/name-hash.ts'
import { hasLongTexts, type Pool } from './engine/pool.ts'
import { LOCK_USERS, swapUser } from './engine/swap-user.ts'

const SQL = statements({
  beginReplacement: 'insert into workspace_gateway.replacement (name, touched_at) values ($1, $2)',
  touchReplacement: `update workspace_gateway.replacement set touched_at = greatest(touched_at, $2)
    where name = $1 and touched_at > ${DROPPED_AT} returning 1`,
  endReplacement: 'update workspace_gateway.replacement set touched_at = $2 where name = $1',
  addStagedUsers: `insert into workspace_gateway.staged_user (replacement, email, user_id)
    select $1, asked.email, coalesce((select id from workspace_gateway.user u where u.email = asked.email),
      nextval(pg_get_serial_sequence('workspace_gateway.user', 'id')::regclass))
    from unnest($2::text[]) as asked (email)
    where not exists (
      select 1 from workspace_gateway.staged_user s where (s.replacement, s.email) = ($1, asked.email))`,
  stagedUsers: `select id, email, user_id as "userId" from workspace_gateway.staged_user
    where replacement = $1 and email = any($2::text[])`,
  lastStagedPositions: `select asked.owner, asked.kind, last.position
    from (select distinct * from unnest($1::bigint[], $2::text[]) as a (owner, kind)) asked
    cross join lateral (
      select position from workspace_gateway.staged_document
      where owner = asked.owner and kind = asked.kind order by position desc limit 1) last`,
  stagedDocumentPositions: `select d.owner, d.kind, d.id, d.position
    from (select distinct * from unnest($1::bigint[], $2::text[], $3::bytea[]) as a (owner, kind, id_key)) asked
    cross join lateral (
      select * from workspace_gateway.staged_document
      where owner = asked.owner and kind = asked.kind and workspace_gateway.key_of(id) = asked.id_key offset 0) d`,
  stageDocuments: `insert into workspace_gateway.staged_document (owner, kind, position, id, ref, text)
    select * from unnest($1::bigint[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[])
    on conflict (owner, kind, position) do update set ref = excluded.ref, text = excluded.text`,
  stageReplacementExports: `insert into workspace_gateway.staged_export (stage, user_id, owner, ref, created_at, instant, staged_at)
    select stage, user_id, owner, ref, created_at, instant, 0
    from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[])
      with ordinality as asked (stage, user_id, owner, ref, created_at, instant, n)
    order by n`,
  stageReplacementElements: `insert into workspace_gateway.export_element (user_id, export_id, position, text)
    select s.user_id, s.id, asked.position, asked.text
    from unnest($1::text[], $2::int[], $3::text[]) as asked (stage, position, text)
    join workspace_gateway.staged_export s on s.stage = asked.stage
    returning position`,
  sealReplacementExports: `update workspace_gateway.staged_export s
    set digest = asked.digest, byte_length = asked.byte_length, element_count = asked.element_count
    from unnest($1::text[], $2::text[], $3::bigint[], $4::int[]) as asked (stage, digest, byte_length, element_count)
    where s.stage = asked.stage returning 1`,
  // One user after the other, so that the documents of those who wait are not counted each time.
  nextStagedUsers: `with recursive fitting (n, id, email, "userId", documents) as (
      select 0, 0::bigint, $2::text collate "C", 0::bigint, 0::bigint
      union all
      select n + 1, s.id, s.email, s.user_id, documents + d.count from fitting
      cross join lateral (
        select * from workspace_gateway.staged_user
        where replacement = $1 and email > fitting.email order by email limit 1) s
      cross join lateral (
        select count(*) from (
          select 1 from workspace_gateway.staged_document where owner = s.id
          limit 1 + greatest($4 - documents, 0)) counted) d
      where n < $3 and (n = 0 or documents + d.count <= $4))
    select id, email, "userId" from fitting where n > 0 order by n`,
})

type ReplacementVerbs = Pick<
  WorkspaceEdits,
  'beginReplacement' | 'stageReplacement' | 'swapReplacement' | 'endReplacement'
>

export interface StagedUser {
  readonly id: number
  readonly email: string
  readonly userId: number
}

export function createReplacements(pool: Pool): ReplacementVerbs {
  return {
    beginReplacement: (replacement, now) =>
      pool.write(async (connection) => {
        await connection.query(SQL.beginReplacement, [replacement, now])
      }),
    stageReplacement(replacement, steps, now) {
      const run = async (connection: Connection) => {
        await requireTouched(connection, replacement, now)
        await stage(connection, replacement, steps)
      }
      return hasLongTexts(steps) ? pool.longTransaction(run, true) : pool.transaction(run)
    },
    async swapReplacement({ replacement, after, maxDocuments, now, ...options }) {
      const asked = [replacement, after, MAX_USERS_PER_SWAP, maxDocuments]
      const fitting = await pool.repeatable((connection) =>
        connection.query<StagedUser & object>(SQL.nextStagedUsers, asked),
      )
      return pool.unboundedTransaction(async (connection): Promise<readonly Swapped[]> => {
        await requireTouched(connection, replacement, now)
        await connection.query(LOCK_USERS, [fitting.map(({ email }) => email)])
        const swapped = []
        for (const user of fitting) swapped.push(await swapUser(connection, user, options))
        return swapped
      })
    },
    endReplacement: (replacement) =>
      pool.write(async (connection) => {
        await connection.query(SQL.endReplacement, [replacement, DROPPED_AT])
      }),
  }
}

async function requireTouched(connection: Connection, replacement: string, now: number): Promise<void> {
  if ((await connection.query(SQL.touchReplacement, [replacement, now])).length === 0) {
    throw new ReplacementGoneError()
  }
}

/** Runs all steps of one type as one statement. The types depend on each other only in the order stage, fill, seal. */
async function stage(connection: Connection, replacement: string, steps: readonly ReplacementStep[]): Promise<void> {
  const documents = ofType(steps, 'stageDocument')
  const exports = ofType(steps, 'stageExport')
  const emails = [...new Set([...ofType(steps, 'stageUser'), ...documents, ...exports].map(({ email }) => email))]
  const owners = await ownersOf(connection, replacement, emails)
  const ownerOf = (email: string) => owners.get(email) ?? { id: Number.NaN, userId: Number.NaN }
  if (documents.length > 0) await stageDocuments(connection, documents, (email) => ownerOf(email).id)
  if (exports.length > 0) {
    const rows = exports.map((step) => ({ ...ownerOf(step.email), ...step }))
    const values = columns(rows, ['stage', 'userId', 'id', 'ref', 'createdAt', 'instant'])
    await connection.query(SQL.stageReplacementExports, values)
  }
  const elements = ofType(steps, 'stageElements').flatMap(({ stage, position, texts }) =>
    texts.map((text, index) => ({ stage, position: position + index, text })),
  )
  requireElementPlaces(elements)
  const added = await askAll(connection, SQL.stageReplacementElements, elements, ['stage', 'position', 'text'])
  const sealing = ofType(steps, 'sealExport')
  const sealed = await askAll(connection, SQL.sealReplacementExports, sealing, [
    'stage',
    'digest',
    'byteLength',
    'elementCount',
  ])
  if (added < elements.length || sealed < sealing.length) throw new Error('the staged export is gone')
}

async function ownersOf(connection: Connection, replacement: string, emails: readonly string[]) {
  if (emails.length === 0) return new Map<string, StagedUser>()
  await connection.query(SQL.addStagedUsers, [replacement, emails])
  const found = await connection.query<StagedUser & object>(SQL.stagedUsers, [replacement, emails])
  return new Map(found.map((owner) => [owner.email, owner]))
}

/** Same result as one step after the other: a document that occurs again keeps its position. */
async function stageDocuments(
  connection: Connection,
  steps: readonly StepOf<'stageDocument'>[],
  ownerOf: (email: string) => number,
): Promise<void> {
  const listOf = (owner: number, kind: DocumentKind) => `${owner} ${kind}`
  const asked = steps.map(({ email, kind, id }) => ({ owner: ownerOf(email), kind, key: keyOf(id) }))
  const stored = await connection.query<{ owner: number; kind: DocumentKind; id: string; position: number }>(
    SQL.stagedDocumentPositions,
    columns(asked, ['owner', 'kind', 'key']),
  )
  const last = await connection.query<{ owner: number; kind: DocumentKind; position: number }>(
    SQL.lastStagedPositions,
    columns(asked, ['owner', 'kind']),
  )
  const lastPositions = new Map(last.map(({ owner, kind, position }) => [listOf(owner, kind), position]))
  const positions = new Map(stored.map(({ owner, kind, id, position }) => [`${listOf(owner, kind)} ${id}`, position]))
  const rows = new Map<string, { owner: number; position: number } & StepOf<'stageDocument'>>()
  for (const step of steps) {
    const owner = ownerOf(step.email)
    const list = listOf(owner, step.kind)
    const name = `${list} ${step.id}`
    const position = positions.get(name) ?? (lastPositions.get(list) ?? 0) + 1
    if (!positions.has(name)) lastPositions.set(list, position)
    positions.set(name, position)
    rows.set(name, { ...step, owner, position })
  }
  requireDocumentPlaces([...rows.values()])
  await askAll(connection, SQL.stageDocuments, [...rows.values()], ['owner', 'kind', 'position', 'id', 'ref', 'text'])
}

/** Runs the statement with one array per column, unless there are no rows. Resolves to the number of returned rows. */
async function askAll<R>(
  connection: Connection,
  statement: Statement,
  rows: readonly R[],
  names: readonly (keyof R)[],
): Promise<number> {
  if (rows.length === 0) return 0
  return (await connection.query(statement, columns(rows, names))).length
}

function ofType<T extends ReplacementStep['type']>(steps: readonly ReplacementStep[], type: T): readonly StepOf<T>[] {
  return steps.filter((step): step is StepOf<T> => step.type === type)
}
