// Applies the copies of a move to the target database in PostgreSQL: all copies of one type become one statement.
import { requireDocumentPlaces, requireElementPlaces } from '../../contract.ts'
import type { CarriedTableName } from '../../cutover/carried-tables.ts'
import { byCopyType, type Copy, type CopyOf, DETOUR, type MigratableStore } from '../../cutover/contract.ts'
import { restCallColumns } from '../access/rest-calls.ts'
import { SESSION_VALUES, sessionColumns } from '../access/sessions.ts'
import { type Connection, columns, type Query, statements } from '../connection.ts'
import { hasLongTexts, type Pool } from '../engine/pool.ts'
import { dropQueries, putQueries } from './carried-rows.ts'

type CopyVerbs = Pick<MigratableStore, 'reserveTarget' | 'applyCopies' | 'raiseIds' | 'completeTarget' | 'promote'>

/** Deletes the rows whose column has one of the values. */
function dropBy(table: string, column: string, type: 'bigint' | 'text'): string {
  return `delete from workspace_gateway.${table} where ${column} = any($1::${type}[])`
}

const SQL = statements({
  reserveTarget: `update workspace_gateway.move set phase = 'filling', move_id = $1, other = $2
    where (phase in ('filling', 'filled') and other = $2) or (phase = 'live'
      and not exists (select 1 from workspace_gateway.user) and not exists (select 1 from workspace_gateway.session)
      and not exists (select 1 from workspace_gateway.signing_key)
      and not exists (select 1 from workspace_gateway.staged_export)
      and not exists (select 1 from workspace_gateway.client) and not exists (select 1 from workspace_gateway.audit_entry))
    returning 1`,
  // The row lock is held until the copies are committed: no other move and no gateway can claim the database in between.
  lockMyMove: `select 1 from workspace_gateway.move where phase = 'filling' and move_id = $1 for share`,
  completeTarget: `update workspace_gateway.move set phase = 'filled' where phase = 'filling' and move_id = $1 returning 1`,
  promote: `update workspace_gateway.move set phase = 'live' where phase in ('filling', 'filled') and other = $1`,
  raiseIds: `select setval(sequence, greatest(wanted, coalesce(pg_sequence_last_value(sequence), 1)))
    from (values (pg_get_serial_sequence('workspace_gateway.user', 'id')::regclass, $1::bigint),
      (pg_get_serial_sequence('workspace_gateway.staged_export', 'id')::regclass, $2::bigint),
      (pg_get_serial_sequence('workspace_gateway.audit_entry', 'id')::regclass, $3::bigint)) as asked (sequence, wanted)
    where wanted > 0`,
  dropUsers: dropBy('user', 'id', 'bigint'),
  moveUsersAside: `update workspace_gateway.user u set email = '${DETOUR}' || u.id
    from unnest($1::bigint[], $2::text[]) as asked (id, email)
    where u.email = asked.email and u.id <> asked.id`,
  putUsers: `insert into workspace_gateway.user as u (id, email) overriding system value
    select * from unnest($1::bigint[], $2::text[])
    on conflict (id) do update set email = excluded.email where u.email <> excluded.email`,
  dropDocuments: `delete from workspace_gateway.document d
    using unnest($1::bigint[], $2::text[], $3::int[]) as asked (user_id, kind, position)
    where (d.user_id, d.kind, d.position) = (asked.user_id, asked.kind, asked.position)`,
  copyDocuments: `insert into workspace_gateway.document (user_id, kind, position, id, ref, text)
    select * from unnest($1::bigint[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[])`,
  dropExports: `delete from workspace_gateway.export e using unnest($1::bigint[], $2::bigint[]) as asked (user_id, id)
    where (e.user_id, e.id) = (asked.user_id, asked.id)`,
  // Removes the leftovers of a move that was interrupted in the middle of an export.
  dropHalfExports: `with elements as (
      delete from workspace_gateway.export_element e using unnest($1::bigint[], $2::bigint[]) as asked (user_id, id)
      where (e.user_id, e.export_id) = (asked.user_id, asked.id))
    delete from workspace_gateway.staged_export where id = any($2::bigint[])`,
  beginExports: `insert into workspace_gateway.staged_export (user_id, id, stage, ref, created_at, instant, staged_at)
    overriding system value
    select user_id, id, 'move:' || id, ref, created_at, instant, 0
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
      as asked (user_id, id, ref, created_at, instant)`,
  copyElements: `insert into workspace_gateway.export_element (user_id, export_id, position, text)
    select * from unnest($1::bigint[], $2::bigint[], $3::int[], $4::text[])`,
  copyExports: `with unstaged as (delete from workspace_gateway.staged_export where id = any($2::bigint[]))
    insert into workspace_gateway.export (user_id, id, ref, created_at, instant, digest, byte_length, element_count)
    select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::int[])`,
  dropSessions: dropBy('session', 'id', 'text'),
  putSessions: `insert into workspace_gateway.session ${SESSION_VALUES}
    on conflict (id) do update set email = excluded.email, refresh_hash = excluded.refresh_hash,
      created_at = excluded.created_at, last_used_at = excluded.last_used_at, idle_expires_at = excluded.idle_expires_at,
      expires_at = excluded.expires_at, user_agent = excluded.user_agent, network = excluded.network,
      client = excluded.client`,
  dropKeys: dropBy('signing_key', 'kid', 'text'),
  putKeys: `insert into workspace_gateway.signing_key (kid, private_jwk, created_at)
    select * from unnest($1::text[], $2::text[], $3::bigint[])
    on conflict (kid) do update set private_jwk = excluded.private_jwk, created_at = excluded.created_at`,
  dropRestCalls: dropBy('rest_call', 'day', 'text'),
  putRestCalls: `insert into workspace_gateway.rest_call (day, route, client, count, last_seen)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])
    on conflict (day, route, client) do update set count = excluded.count, last_seen = excluded.last_seen`,
})

/** One of these may delete everything of a user or an export, so it runs without a statement timeout. */
const UNTIMED_COPY_TYPES = new Set<Copy['type']>(['dropUser', 'dropExport'])

/** The statements that apply copies of one type. */
const QUERIES: { readonly [T in Copy['type']]: (copies: readonly CopyOf<T>[]) => readonly Query[] } = {
  dropUser: (copies) => [[SQL.dropUsers, columns(copies, ['id'])]],
  putUser(copies) {
    const values = columns(copies, ['id', 'email'])
    return [
      [SQL.moveUsersAside, values],
      [SQL.putUsers, values],
    ]
  },
  dropDocument: (copies) => [[SQL.dropDocuments, columns(copies, ['userId', 'kind', 'position'])]],
  dropExport: (copies) => [[SQL.dropExports, columns(copies, ['userId', 'id'])]],
  addDocument(copies) {
    requireDocumentPlaces(copies)
    return [[SQL.copyDocuments, columns(copies, ['userId', 'kind', 'position', 'id', 'ref', 'text'])]]
  },
  beginExport(copies) {
    const exports = copies.map((copy) => copy.export)
    return [
      [SQL.dropHalfExports, columns(exports, ['userId', 'id'])],
      [SQL.beginExports, columns(exports, ['userId', 'id', 'ref', 'createdAt', 'instant'])],
    ]
  },
  addElement(copies) {
    requireElementPlaces(copies)
    return [[SQL.copyElements, columns(copies, ['userId', 'exportId', 'position', 'text'])]]
  },
  sealExport(copies) {
    const exports = copies.map((copy) => copy.export)
    const names = ['userId', 'id', 'ref', 'createdAt', 'instant', 'digest', 'byteLength', 'elementCount'] as const
    return [[SQL.copyExports, columns(exports, names)]]
  },
  dropSession: (copies) => [[SQL.dropSessions, columns(copies, ['id'])]],
  putSession: (copies) => [[SQL.putSessions, sessionColumns(copies.map(({ session }) => session))]],
  dropKey: (copies) => [[SQL.dropKeys, columns(copies, ['kid'])]],
  putKey(copies) {
    const keys = copies.map(({ key }) => key)
    return [[SQL.putKeys, columns(keys, ['kid', 'privateJwk', 'createdAt'])]]
  },
  dropRow: (copies) => perTable(copies, ({ key }) => key, dropQueries),
  putRow: (copies) => perTable(copies, ({ row }) => row, putQueries),
  dropRestCalls: (copies) => [[SQL.dropRestCalls, columns(copies, ['day'])]],
  putRestCalls: (copies) => [[SQL.putRestCalls, restCallColumns(copies.map(({ calls }) => calls))]],
}

/** Groups the copies by table and builds the queries of each table from the selected part of its copies. */
function perTable<C extends CopyOf<'dropRow' | 'putRow'>, V>(
  copies: readonly C[],
  partOf: (copy: C) => V,
  queriesFor: (table: CarriedTableName, values: readonly V[]) => readonly Query[],
): readonly Query[] {
  const tables = Map.groupBy(copies, ({ table }) => table)
  return [...tables].flatMap(([table, some]) => queriesFor(table, some.map(partOf)))
}

function queriesOf<T extends Copy['type']>(type: T, copies: readonly CopyOf<T>[]): readonly Query[] {
  return copies.length === 0 ? [] : QUERIES[type](copies)
}

export function createCopies(pool: Pool): CopyVerbs {
  /** Runs in one transaction while the database is reserved for this move. False when it is not. */
  async function whileReserved(
    moveId: string,
    run: (connection: Connection) => Promise<unknown>,
    isLong = false,
  ): Promise<boolean> {
    const inTransaction = isLong ? pool.longTransaction : pool.transaction
    return inTransaction(async (connection) => {
      if ((await connection.query(SQL.lockMyMove, [moveId])).length === 0) return false
      await run(connection)
      return true
    })
  }

  return {
    reserveTarget: ({ id, other }) => pool.affects(SQL.reserveTarget, [id, other]),
    applyCopies: (moveId, copies) =>
      whileReserved(
        moveId,
        async (connection) => {
          for (const [type, some] of byCopyType(copies)) {
            for (const [statement, values] of queriesOf(type, some)) await connection.query(statement, values)
          }
        },
        copies.some(({ type }) => UNTIMED_COPY_TYPES.has(type)) || hasLongTexts(copies),
      ),
    raiseIds: (moveId, ids) =>
      whileReserved(moveId, (connection) => connection.query(SQL.raiseIds, [ids.user, ids.export, ids.auditEntry])),
    completeTarget: (moveId) => pool.affects(SQL.completeTarget, [moveId]),
    async promote(from) {
      await pool.affects(SQL.promote, [from])
    },
  }
}
