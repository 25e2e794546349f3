// The steps of an import in SQLite.
import type { Database } from 'better-sqlite3'
import type { Change, ChangeOutcome, DocumentKind, Store } from '../store.ts'
import { sqliteCode } from './connection.ts'
import type { GroupCommit } from './group-commit.ts'
import {
  DOCUMENT_KEY,
  DOCUMENT_POSITION,
  ELEMENT_KEY,
  KIND_CODES,
  MAX_DOCUMENT_POSITION,
  MAX_ELEMENT_POSITION,
} from './keys.ts'
import type { TurnReader } from './turn-reader.ts'

/** Rows that one call of `dropStaleStages` removes at most, so that it holds the write lock only briefly. */
const STALE_ROWS_PER_CALL = 2_000
/** SQLite: a negative limit is no limit. */
const NO_LIMIT = -1

type ChangeVerbs = Pick<Store, 'applyChanges' | 'projectIdsByRef' | 'dropStaleStages'>
type ChangeOf<T extends Change['type']> = Extract<Change, { readonly type: T }>

interface StagedExport {
  readonly id: number
  readonly userId: number
  readonly ref: string
  readonly createdAt: string
  readonly instant: string
}

export function createChanges(reader: Database, turn: TurnReader, writer: Database, commits: GroupCommit): ChangeVerbs {
  const user = writer.prepare<[string], { readonly id: number }>('select id from user where email = ?')
  const addUser = writer.prepare<[string]>('insert into user (email) values (?)')
  const stored = writer.prepare<[number, string, string], { readonly ref: string | null; readonly text: string }>(
    'select ref, text from document where user_id = ? and kind = ? and id = ?',
  )
  const replace = writer.prepare<[string | null, string, number, string, string]>(
    'update or fail document set ref = ?, text = ? where user_id = ? and kind = ? and id = ?',
  )
  const lastPosition = writer.prepare<[number, number, number, number, number, number], { readonly position: number }>(
    `select ${DOCUMENT_POSITION} as position from document
     where key > ${DOCUMENT_KEY} and key <= ${DOCUMENT_KEY} order by key desc limit 1`,
  )
  // "or fail": without it every statement keeps a journal of its own, because its trigger might have to be undone.
  // A single row is inserted or not, and the trigger cannot fail, so there is nothing to undo.
  const add = writer.prepare<[number, number, number, number, string, string, string | null, string]>(
    `insert or fail into document (key, user_id, kind, id, ref, text) values (${DOCUMENT_KEY}, ?, ?, ?, ?, ?)`,
  )
  const projectId = reader.prepare<[string, string], { readonly id: string }>(
    'select id from document where user_id = (select id from user where email = ?) and ref = ?',
  )
  const stage = writer.prepare<[string, number, string, string, string, number]>(
    'insert into staged_export (stage, user_id, ref, created_at, instant, staged_at) values (?, ?, ?, ?, ?, ?)',
  )
  const staged = writer.prepare<[string], StagedExport>(
    'select id, user_id as userId, ref, created_at as createdAt, instant from staged_export where stage = ?',
  )
  const touch = writer.prepare<[number, number]>('update staged_export set staged_at = ? where id = ?')
  const unstage = writer.prepare<[number]>('delete from staged_export where id = ?')
  const addElement = writer.prepare<[number, number, string]>(
    `insert into export_element (key, text) values (${ELEMENT_KEY}, ?)`,
  )
  const dropElements = writer.prepare<[number, number, number, number, number]>(
    `delete from export_element where key > ${ELEMENT_KEY} and key <= ${ELEMENT_KEY} limit ?`,
  )
  const addExport = writer.prepare<[number, number, string, string, string, string, number, number]>(
    `insert or ignore into export (id, user_id, ref, created_at, instant, digest, byte_length, element_count)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const stale = writer.prepare<[number], { readonly id: number }>(
    'select id from staged_export where staged_at < ? limit 1',
  )

  /** What was looked up in this transaction: nobody else changes it meanwhile. */
  const userIds = new Map<string, number>()
  const positions = new Map<string, number>()

  function userId(email: string): number {
    const id = userIds.get(email) ?? user.get(email)?.id ?? Number(addUser.run(email).lastInsertRowid)
    userIds.set(email, id)
    return id
  }

  function requireStaged(name: string): StagedExport {
    const found = staged.get(name)
    if (!found) throw new Error('the staged export is gone: it was removed while it was being imported')
    return found
  }

  function nextPosition(owner: number, kind: DocumentKind): number {
    const list = `${owner} ${kind}`
    const code = KIND_CODES[kind]
    const last =
      positions.get(list) ?? lastPosition.get(owner, code, 0, owner, code, MAX_DOCUMENT_POSITION)?.position ?? 0
    const next = last + 1
    positions.set(list, next)
    return next
  }

  function putDocument(change: ChangeOf<'putDocument'>): ChangeOutcome {
    const owner = userId(change.email)
    try {
      const before = stored.get(owner, change.kind, change.id)
      if (!before) {
        const position = nextPosition(owner, change.kind)
        add.run(owner, KIND_CODES[change.kind], position, owner, change.kind, change.id, change.ref, change.text)
        return 'added'
      }
      if (before.text === change.text && before.ref === change.ref) return 'unchanged'
      replace.run(change.ref, change.text, owner, change.kind, change.id)
      return 'replaced'
    } catch (error) {
      if (sqliteCode(error) === 'SQLITE_CONSTRAINT_UNIQUE') return 'refTaken'
      throw error
    }
  }

  const APPLY: { readonly [T in Change['type']]: (change: ChangeOf<T>) => ChangeOutcome } = {
    putDocument,
    stageExport(change) {
      const owner = userId(change.email)
      stage.run(change.stage, owner, change.ref, change.createdAt, change.instant, change.now)
      return 'staged'
    },
    stageElements(change) {
      const { id } = requireStaged(change.stage)
      touch.run(change.now, id)
      change.texts.forEach((text, index) => {
        addElement.run(id, change.position + index, text)
      })
      return 'staged'
    },
    sealExport(change) {
      const { id, userId: owner, ref, createdAt, instant } = requireStaged(change.stage)
      const { digest, byteLength, elementCount } = change
      const { changes } = addExport.run(id, owner, ref, createdAt, instant, digest, byteLength, elementCount)
      if (changes === 0) dropElements.run(id, 0, id, MAX_ELEMENT_POSITION, NO_LIMIT)
      unstage.run(id)
      return changes === 0 ? 'unchanged' : 'added'
    },
  }

  function apply<T extends Change['type']>(change: ChangeOf<T> & { readonly type: T }): ChangeOutcome {
    return APPLY[change.type](change)
  }

  return {
    applyChanges: (changes) =>
      commits.write(() => {
        userIds.clear()
        positions.clear()
        return changes.map((change) => apply(change))
      }),
    projectIdsByRef(refs) {
      turn.refresh()
      return turn.read(() => refs.map(({ email, ref }) => projectId.get(email, ref)?.id ?? null))
    },
    dropStaleStages: (before) =>
      commits.write(() => {
        const next = stale.get(before)
        if (!next) return true
        const { id } = next
        if (dropElements.run(id, 0, id, MAX_ELEMENT_POSITION, STALE_ROWS_PER_CALL).changes === 0) unstage.run(id)
        return false
      }),
  }
}
