// Applies the steps of a move into an SQLite database.
import type { Database } from 'better-sqlite3'
import { requireDocumentPlaces, requireElementPlaces } from '../../contract.ts'
import { byCopyType, type Copy, type CopyOf, DETOUR, type MigratableStore } from '../../cutover/contract.ts'
import { MAX_ELEMENTS } from '../../reads-contract.ts'
import { SESSION_VALUES, type SessionValues, sessionValues } from '../access/sessions.ts'
import type { GroupCommit } from '../engine/group-commit.ts'
import { DOCUMENT_KEY, ELEMENT_KEY, KIND_CODES } from '../engine/row-ids.ts'
import { createCarriedWrites } from './carried-rows.ts'

type CopyVerbs = Pick<MigratableStore, 'reserveTarget' | 'applyCopies' | 'raiseIds' | 'completeTarget' | 'promote'>

export function createCopies(writer: Database, commits: GroupCommit): CopyVerbs {
  const claim = writer.prepare<[string, string, string]>(
    `update move set phase = 'filling', move_id = ?, other = ?
     where (phase in ('filling', 'filled') and other = ?) or (phase = 'live'
       and not exists (select 1 from user) and not exists (select 1 from session)
       and not exists (select 1 from signing_key) and not exists (select 1 from staged_export)
       and not exists (select 1 from client) and not exists (select 1 from audit_entry))`,
  )
  const isMine = writer.prepare<[string], 1>(`select 1 from move where phase = 'filling' and move_id = ?`).pluck()
  const complete = writer.prepare<[string]>(`update move set phase = 'filled' where phase = 'filling' and move_id = ?`)
  const promote = writer.prepare<[string]>(
    `update move set phase = 'live' where phase in ('filling', 'filled') and other = ?`,
  )
  const raise = writer.prepare<[number, string]>('update sqlite_sequence set seq = max(seq, ?) where name = ?')
  const startAt = writer.prepare<[string, number]>('insert into sqlite_sequence (name, seq) values (?, ?)')

  const moveAside = writer.prepare<[string, number]>(
    `update user set email = '${DETOUR}' || id where email = ? and id <> ?`,
  )
  const putUser = writer.prepare<[number, string]>(
    `insert into user (id, email) values (?, ?)
     on conflict (id) do update set email = excluded.email where email <> excluded.email`,
  )
  const dropUser = writer.prepare<[number]>('delete from user where id = ?')
  const addDocument = writer.prepare<[number, number, number, number, string, string, string | null, string]>(
    `insert or fail into document (key, user_id, kind, id, ref, text) values (${DOCUMENT_KEY}, ?, ?, ?, ?, ?)`,
  )
  const dropDocument = writer.prepare<[number, number, number]>(`delete from document where key = ${DOCUMENT_KEY}`)
  const dropElements = writer.prepare<[number, number, number, number]>(
    `delete from export_element where key > ${ELEMENT_KEY} and key <= ${ELEMENT_KEY}`,
  )
  const unstage = writer.prepare<[number]>('delete from staged_export where id = ?')
  const stage = writer.prepare<[number, string, number, string, string, string]>(
    `insert into staged_export (id, stage, user_id, ref, created_at, instant, staged_at) values (?, ?, ?, ?, ?, ?, 0)`,
  )
  const addElement = writer.prepare<[number, number, string]>(
    `insert into export_element (key, text) values (${ELEMENT_KEY}, ?)`,
  )
  const seal = writer.prepare<[number, number, string, string, string, string, number, number]>(
    `insert into export (id, user_id, ref, created_at, instant, digest, byte_length, element_count)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const dropExport = writer.prepare<[number, number]>('delete from export where user_id = ? and id = ?')
  const putSession = writer.prepare<SessionValues>(`insert or replace into session ${SESSION_VALUES}`)
  const dropSession = writer.prepare<[string]>('delete from session where id = ?')
  const putKey = writer.prepare<[string, string, number]>(
    'insert or replace into signing_key (kid, private_jwk, created_at) values (?, ?, ?)',
  )
  const dropKey = writer.prepare<[string]>('delete from signing_key where kid = ?')

  const dropRestCalls = writer.prepare<[string]>('delete from rest_call where day = ?')
  const putRestCalls = writer.prepare<[string, string, string, number, number]>(
    'insert or replace into rest_call (day, route, client, count, last_seen) values (?, ?, ?, ?, ?)',
  )

  const rows = createCarriedWrites(writer)

  const APPLY: { readonly [T in Copy['type']]: (copy: CopyOf<T>) => void } = {
    putUser({ id, email }) {
      moveAside.run(email, id)
      putUser.run(id, email)
    },
    dropUser: ({ id }) => dropUser.run(id),
    addDocument({ userId, kind, position, id, ref, text }) {
      requireDocumentPlaces([{ position }])
      addDocument.run(userId, KIND_CODES[kind], position, userId, kind, id, ref, text)
    },
    dropDocument: ({ userId, kind, position }) => dropDocument.run(userId, KIND_CODES[kind], position),
    beginExport({ export: { id, userId, ref, createdAt, instant } }) {
      dropElements.run(id, 0, id, MAX_ELEMENTS)
      unstage.run(id)
      stage.run(id, `move:${id}`, userId, ref, createdAt, instant)
    },
    addElement({ exportId, position, text }) {
      requireElementPlaces([{ position }])
      addElement.run(exportId, position, text)
    },
    sealExport({ export: { id, userId, ref, createdAt, instant, digest, byteLength, elementCount } }) {
      seal.run(id, userId, ref, createdAt, instant, digest, byteLength, elementCount)
      unstage.run(id)
    },
    dropExport: ({ userId, id }) => dropExport.run(userId, id),
    putSession: ({ session }) => putSession.run(...sessionValues(session)),
    dropSession: ({ id }) => dropSession.run(id),
    putKey: ({ key: { kid, privateJwk, createdAt } }) => putKey.run(kid, privateJwk, createdAt),
    dropKey: ({ kid }) => dropKey.run(kid),
    dropRow: ({ table, key }) => rows.drop(table, key),
    putRow: ({ table, row }) => rows.put(table, row),
    dropRestCalls: ({ day }) => dropRestCalls.run(day),
    putRestCalls: ({ calls: { day, route, client, count, lastSeen } }) =>
      putRestCalls.run(day, route, client, count, lastSeen),
  }

  function apply<T extends Copy['type']>(copy: CopyOf<T> & { readonly type: T }): void {
    APPLY[copy.type](copy)
  }

  function raiseTo(table: string, id: number): void {
    if (raise.run(id, table).changes === 0) startAt.run(table, id)
  }

  return {
    reserveTarget: ({ id, other }) => commits.write(() => claim.run(id, other, other).changes > 0),
    applyCopies: (moveId, copies) =>
      commits.write(() => {
        if (isMine.get(moveId) !== 1) return false
        for (const [, some] of byCopyType(copies)) for (const copy of some) apply(copy)
        return true
      }),
    raiseIds: (moveId, ids) =>
      commits.write(() => {
        if (isMine.get(moveId) !== 1) return false
        raiseTo('user', ids.user)
        raiseTo('staged_export', ids.export)
        raiseTo('audit_entry', ids.auditEntry)
        return true
      }),
    completeTarget: (moveId) => commits.write(() => complete.run(moveId).changes > 0),
    promote: (from) =>
      commits.write(() => {
        promote.run(from)
      }),
  }
}
