// Upserts documents in PostgreSQL: compares a list of documents with the stored rows, then writes the differences at
// once.
import type { Change, ChangeOutcome, DocumentKind } from '../contract.ts'
import { LAST_DOCUMENT_POSITION } from '../reads-contract.ts'
import { type Connection, columns, type Statement, statements } from './connection.ts'
import { digestOf, keyOf } from './engine/name-hash.ts'

export type PutDocument = Extract<Change, { readonly type: 'putDocument' }>

const SQL = statements({
  // PostgreSQL keeps the plan of a prepared statement, even one that was made while the table was empty. With a plain
  // join, such a plan would scan the whole table ever after. `lateral` with `offset 0` leaves one plan only: one index
  // lookup per row. The user's row must be locked before: then no other transaction changes these rows meanwhile.
  storedDocuments: `select d.user_id as "userId", d.kind, d.position, d.id, d.ref,
      encode(sha256(convert_to(d.text, 'UTF8')), 'hex') as digest
    from (select distinct * from unnest($1::bigint[], $2::text[], $3::bytea[]) as a (user_id, kind, id_key)) asked
    cross join lateral (
      select * from workspace_gateway.document
      where user_id = asked.user_id and kind = asked.kind and workspace_gateway.key_of(id) = asked.id_key offset 0) d`,
  projectRefOwners: `select d.user_id as "userId", d.id, d.ref
    from (select distinct * from unnest($1::bigint[], $2::bytea[]) as a (user_id, ref_key)) asked
    cross join lateral (
      select * from workspace_gateway.document
      where user_id = asked.user_id and workspace_gateway.key_of(ref) = asked.ref_key and ref is not null offset 0) d`,
  lastPositions: `select asked.user_id as "userId", asked.kind, coalesce(last.position, 0) as position
    from (select distinct * from unnest($1::bigint[], $2::text[]) as a (user_id, kind)) asked
    left join lateral (
      select position from workspace_gateway.document
      where user_id = asked.user_id and kind = asked.kind order by position desc limit 1) last on true`,
  changeRef: 'update workspace_gateway.document set ref = $4 where user_id = $1 and kind = $2 and position = $3',
  replaceDocuments: `update workspace_gateway.document d set text = asked.text
    from unnest($1::bigint[], $2::text[], $3::int[], $4::text[]) as asked (user_id, kind, position, text)
    where d.user_id = asked.user_id and d.kind = asked.kind and d.position = asked.position`,
  addDocuments: `insert into workspace_gateway.document (user_id, kind, position, id, ref, text)
    select * from unnest($1::bigint[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[])`,
})

interface Row {
  readonly userId: number
  readonly kind: DocumentKind
  readonly position: number
  readonly id: string
  readonly isNew: boolean
  ref: string | null
  digest: string
  /** Null while the stored text is unchanged. */
  text: string | null
}

/** Returns one outcome per document, as if they were stored one after the other. */
export async function putDocuments(
  connection: Connection,
  changes: readonly PutDocument[],
  userIds: ReadonlyMap<string, number>,
): Promise<readonly ChangeOutcome[]> {
  const owner = (change: PutDocument): number => userIds.get(change.email) ?? Number.NaN
  const rows = await storedRows(connection, changes, owner)
  const owners = await refOwners(connection, changes, owner)
  const positions = await lastPositions(connection, changes, owner, rows)
  const refChanges: Row[] = []

  function put(change: PutDocument): ChangeOutcome {
    const { kind, id, ref, text } = change
    const userId = owner(change)
    const key = documentKey(userId, kind, id)
    const row = rows.get(key)
    const last = positions.get(listKey(userId, kind)) ?? 0
    if (!row && last >= LAST_DOCUMENT_POSITION) return 'listFull'
    const takenBy = ref === null ? undefined : owners.get(refKey(userId, ref))
    if (takenBy !== undefined && takenBy !== id) return 'refTaken'
    const digest = digestOf(text).toString('hex')
    if (!row) {
      const position = last + 1
      positions.set(listKey(userId, kind), position)
      rows.set(key, { userId, kind, position, id, isNew: true, ref, digest, text })
      if (ref !== null) owners.set(refKey(userId, ref), id)
      return 'added'
    }
    if (row.digest === digest && row.ref === ref) return 'unchanged'
    if (row.ref !== ref) {
      if (row.ref !== null) owners.delete(refKey(userId, row.ref))
      if (ref !== null) owners.set(refKey(userId, ref), id)
      row.ref = ref
      if (!row.isNew) refChanges.push({ ...row })
    }
    row.digest = digest
    row.text = text
    return 'replaced'
  }

  const outcomes = changes.map(put)
  // One by one and in order, so that a reference is free before another project takes it.
  for (const { userId, kind, position, ref } of refChanges) {
    await connection.query(SQL.changeRef, [userId, kind, position, ref])
  }
  const written = [...rows.values()].filter(({ text }) => text !== null)
  await write(
    connection,
    SQL.replaceDocuments,
    written.filter(({ isNew }) => !isNew),
    ['userId', 'kind', 'position', 'text'],
  )
  await write(
    connection,
    SQL.addDocuments,
    written.filter(({ isNew }) => isNew),
    ['userId', 'kind', 'position', 'id', 'ref', 'text'],
  )
  return outcomes
}

async function write(
  connection: Connection,
  statement: Statement,
  rows: readonly Row[],
  names: readonly (keyof Row)[],
): Promise<void> {
  if (rows.length > 0) await connection.query(statement, columns(rows, names))
}

type Owner = (change: PutDocument) => number

async function storedRows(connection: Connection, changes: readonly PutDocument[], owner: Owner) {
  const found = await connection.query<Omit<Row, 'isNew' | 'text'>>(SQL.storedDocuments, [
    changes.map(owner),
    changes.map(({ kind }) => kind),
    changes.map(({ id }) => keyOf(id)),
  ])
  return new Map(
    found.map((row): [string, Row] => [
      documentKey(row.userId, row.kind, row.id),
      { ...row, isNew: false, text: null },
    ]),
  )
}

/** Maps each requested reference to the id of the document that has it. */
async function refOwners(connection: Connection, changes: readonly PutDocument[], owner: Owner) {
  const asking = changes.flatMap((change) => (change.ref === null ? [] : [{ userId: owner(change), ref: change.ref }]))
  if (asking.length === 0) return new Map<string, string>()
  const found = await connection.query<{ userId: number; id: string; ref: string }>(SQL.projectRefOwners, [
    asking.map(({ userId }) => userId),
    asking.map(({ ref }) => keyOf(ref)),
  ])
  return new Map(found.map(({ userId, id, ref }) => [refKey(userId, ref), id]))
}

async function lastPositions(
  connection: Connection,
  changes: readonly PutDocument[],
  owner: Owner,
  rows: ReadonlyMap<string, Row>,
) {
  const adding = changes.filter((change) => !rows.has(documentKey(owner(change), change.kind, change.id)))
  if (adding.length === 0) return new Map<string, number>()
  const found = await connection.query<{ userId: number; kind: DocumentKind; position: number }>(SQL.lastPositions, [
    adding.map(owner),
    adding.map(({ kind }) => kind),
  ])
  return new Map(found.map(({ userId, kind, position }) => [listKey(userId, kind), position]))
}

function documentKey(userId: number, kind: DocumentKind, id: string): string {
  return `${userId} ${kind} ${id}`
}

function listKey(userId: number, kind: DocumentKind): string {
  return `${userId} ${kind}`
}

function refKey(userId: number, ref: string): string {
  return `${userId} ${ref}`
}
