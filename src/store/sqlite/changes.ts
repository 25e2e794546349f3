// The steps of an import in SQLite.
import type { Database } from 'better-sqlite3'
import type { Change, ChangeOutcome, Store } from '../store.ts'
import { sqliteCode } from './connection.ts'
import type { GroupCommit } from './group-commit.ts'

/** Rows that one call of `dropStaleStages` removes at most, so that it holds the write lock only briefly. */
const STALE_ROWS_PER_CALL = 2_000

type ChangeVerbs = Pick<Store, 'applyChanges' | 'projectIdsByRef' | 'dropStaleStages'>
type ChangeOf<T extends Change['type']> = Extract<Change, { readonly type: T }>

interface StagedExport {
  readonly id: number
  readonly userId: number
  readonly ref: string
  readonly instant: string
}

export function createChanges(writer: Database, commits: GroupCommit): ChangeVerbs {
  const user = writer.prepare<[string], { readonly id: number }>('select id from user where email = ?')
  const addUser = writer.prepare<[string]>('insert into user (email) values (?)')
  const stored = writer.prepare<
    [number, string, string],
    { readonly position: number; readonly ref: string | null; readonly text: string }
  >('select position, ref, text from document where user_id = ? and kind = ? and id = ?')
  const replace = writer.prepare<[string | null, string, number, string, number]>(
    'update document set ref = ?, text = ? where user_id = ? and kind = ? and position = ?',
  )
  const add = writer.prepare<[number, string, number, string, string, string | null, string]>(
    `insert into document (user_id, kind, position, id, ref, text) values (?, ?,
       (select coalesce(max(position), 0) + 1 from document where user_id = ? and kind = ?), ?, ?, ?)`,
  )
  const projectId = writer.prepare<[string, string], { readonly id: string }>(
    'select d.id from user u join document d on d.user_id = u.id where u.email = ? and d.ref = ?',
  )
  const stage = writer.prepare<[number, string, string, string, string, number]>(
    'insert into export (user_id, ref, created_at, instant, stage, staged_at) values (?, ?, ?, ?, ?, ?)',
  )
  const staged = writer.prepare<[string], StagedExport>(
    'select id, user_id as userId, ref, instant from export where stage = ?',
  )
  const touch = writer.prepare<[number, number]>('update export set staged_at = ? where id = ?')
  const addElement = writer.prepare<[number, number, number, string]>(
    'insert into export_element (user_id, export_id, position, text) values (?, ?, ?, ?)',
  )
  const same = writer.prepare<[number, string, string, string]>(
    'select 1 from export where user_id = ? and ref = ? and instant = ? and digest = ? and stage is null',
  )
  const seal = writer.prepare<[string, number, number, number]>(
    'update export set digest = ?, byte_length = ?, element_count = ?, stage = null, staged_at = null where id = ?',
  )
  const dropExport = writer.prepare<[number]>('delete from export where id = ?')
  const stale = writer.prepare<[number], { readonly id: number; readonly userId: number }>(
    'select id, user_id as userId from export where stage is not null and staged_at < ? limit 1',
  )
  const dropElements = writer.prepare<[number, number, number]>(
    'delete from export_element where user_id = ? and export_id = ? limit ?',
  )

  function userId(email: string): number {
    return user.get(email)?.id ?? Number(addUser.run(email).lastInsertRowid)
  }

  function requireStaged(name: string): StagedExport {
    const found = staged.get(name)
    if (!found) throw new Error('the staged export is gone: it was removed while it was being imported')
    return found
  }

  function putDocument(change: ChangeOf<'putDocument'>): ChangeOutcome {
    const owner = userId(change.email)
    try {
      const before = stored.get(owner, change.kind, change.id)
      if (!before) {
        add.run(owner, change.kind, owner, change.kind, change.id, change.ref, change.text)
        return 'added'
      }
      if (before.text === change.text && before.ref === change.ref) return 'unchanged'
      replace.run(change.ref, change.text, owner, change.kind, before.position)
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
      stage.run(owner, change.ref, change.createdAt, change.instant, change.stage, change.now)
      return 'staged'
    },
    stageElements(change) {
      const { id, userId: owner } = requireStaged(change.stage)
      touch.run(change.now, id)
      change.texts.forEach((text, index) => {
        addElement.run(owner, id, change.position + index, text)
      })
      return 'staged'
    },
    sealExport(change) {
      const { id, userId: owner, ref, instant } = requireStaged(change.stage)
      if (same.get(owner, ref, instant, change.digest)) {
        dropExport.run(id)
        return 'unchanged'
      }
      seal.run(change.digest, change.byteLength, change.elementCount, id)
      return 'added'
    },
  }

  function apply<T extends Change['type']>(change: ChangeOf<T> & { readonly type: T }): ChangeOutcome {
    return APPLY[change.type](change)
  }

  return {
    applyChanges: (changes) => commits.write(() => changes.map((change) => apply(change))),
    projectIdsByRef: (refs) => refs.map(({ email, ref }) => projectId.get(email, ref)?.id ?? null),
    dropStaleStages: (before) =>
      commits.write(() => {
        const next = stale.get(before)
        if (!next) return true
        if (dropElements.run(next.userId, next.id, STALE_ROWS_PER_CALL).changes === 0) dropExport.run(next.id)
        return false
      }),
  }
}
