// Applies the steps of an import in SQLite.
import type { Database } from 'better-sqlite3'
import {
  type Change,
  type ChangeOf,
  type ChangeOutcome,
  requireElementPlaces,
  StagedExportGoneError,
  type Store,
} from '../contract.ts'
import { DROPPED_AT } from '../workspace-edits.ts'
import { prepareRowInsert } from './engine/bulk-insert.ts'
import type { GroupCommit } from './engine/group-commit.ts'
import type { ReadTransaction } from './engine/read-transaction.ts'
import { ELEMENT_KEY } from './engine/row-ids.ts'
import { createRemovalSteps } from './removals.ts'
import { createStaleStages } from './stale-stages.ts'
import { createDocumentPuts } from './upsert-documents.ts'

type ChangeVerbs = Pick<Store, 'applyChanges' | 'projectIdsByRef' | 'dropStaleStages'>

interface StagedExport {
  readonly id: number
  readonly userId: number
  readonly ref: string
  readonly createdAt: string
  readonly instant: string
}

export function createChanges(
  reader: Database,
  turn: ReadTransaction,
  writer: Database,
  commits: GroupCommit,
  staging: GroupCommit,
): ChangeVerbs {
  const user = writer.prepare<[string], { readonly id: number }>('select id from user where email = ?')
  const addUser = writer.prepare<[string]>('insert into user (email) values (?)')
  const readUser = reader.prepare<[string], number>('select id from user where email = ?').pluck()
  const projectId = reader
    .prepare<[number, string], string>('select id from document where user_id = ? and ref = ?')
    .pluck()
  const stage = writer.prepare<[string, number, string, string, string, number]>(
    'insert into staged_export (stage, user_id, ref, created_at, instant, staged_at) values (?, ?, ?, ?, ?, ?)',
  )
  const staged = writer.prepare<[string], StagedExport>(
    `select id, user_id as userId, ref, created_at as createdAt, instant from staged_export
     where stage = ? and staged_at > ${DROPPED_AT}`,
  )
  const touch = writer.prepare<[number, number]>('update staged_export set staged_at = ? where id = ?')
  const unstage = writer.prepare<[number]>('delete from staged_export where id = ?')
  const addElements = prepareRowInsert(writer, 'export_element (key, text)', `(${ELEMENT_KEY}, ?)`)
  const addExport = writer.prepare<[number, number, string, string, string, string, number, number]>(
    `insert or ignore into export (id, user_id, ref, created_at, instant, digest, byte_length, element_count)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const dropStaleStages = createStaleStages(writer)
  const removals = createRemovalSteps(writer)

  /** User ids that this transaction has looked up. No other connection can change them meanwhile. */
  const userIds = new Map<string, number>()

  function userIdOf(email: string): number {
    const id = userIds.get(email) ?? user.get(email)?.id ?? Number(addUser.run(email).lastInsertRowid)
    userIds.set(email, id)
    return id
  }

  const documents = createDocumentPuts(writer, userIdOf)

  /** Clears the lookups. Call it whenever the rows may have changed since. */
  function clearLookups(): void {
    userIds.clear()
    documents.begin()
  }

  function addUserOnce({ email }: ChangeOf<'addUser'>): ChangeOutcome {
    if (userIds.has(email) || user.get(email)) return 'unchanged'
    userIdOf(email)
    return 'added'
  }

  function requireStaged(name: string): StagedExport {
    const found = staged.get(name)
    if (!found) throw new StagedExportGoneError()
    return found
  }

  function stageExport(change: ChangeOf<'stageExport'>): ChangeOutcome {
    const owner = userIdOf(change.email)
    stage.run(change.stage, owner, change.ref, change.createdAt, change.instant, change.now)
    return 'staged'
  }

  function stageElements(changes: readonly ChangeOf<'stageElements'>[]): readonly ChangeOutcome[] {
    const exports = new Map<string, StagedExport>()
    const elements = changes.flatMap((change) => {
      const found = exports.get(change.stage) ?? requireStaged(change.stage)
      if (!exports.has(change.stage)) touch.run(change.now, found.id)
      exports.set(change.stage, found)
      return change.texts.map((text, index) => ({ id: found.id, position: change.position + index, text }))
    })
    requireElementPlaces(elements)
    addElements(elements.map(({ id, position, text }) => [id, position, text]))
    return changes.map(() => 'staged')
  }

  function sealExport({ stage, digest, byteLength, elementCount }: ChangeOf<'sealExport'>): ChangeOutcome {
    const { id, userId, ref, createdAt, instant } = requireStaged(stage)
    const { changes } = addExport.run(id, userId, ref, createdAt, instant, digest, byteLength, elementCount)
    // If the export was stored already, a trigger removes the staged elements.
    unstage.run(id)
    return changes === 0 ? 'unchanged' : 'added'
  }

  const APPLY: {
    readonly [T in Change['type']]: (changes: readonly ChangeOf<T>[]) => readonly ChangeOutcome[]
  } = {
    addUser: (changes) => changes.map(addUserOnce),
    ...removals,
    putDocument: documents.put,
    stageExport: (changes) => changes.map(stageExport),
    stageElements,
    sealExport: (changes) => changes.map(sealExport),
  }

  function apply<T extends Change['type']>(type: T, changes: readonly Change[]): readonly ChangeOutcome[] {
    const outcomes = APPLY[type](changes as readonly ChangeOf<T>[])
    if (type in removals) clearLookups()
    return outcomes
  }

  return {
    applyChanges: (changes) =>
      commits.write(() => {
        clearLookups()
        return runsOfOneType(changes).flatMap(([type, run]) => apply(type, run))
      }),
    projectIdsByRef(refs) {
      return turn.readNow(() => {
        const owners = new Map<string, number | null>()
        return refs.map(({ email, ref }) => {
          const known = owners.get(email)
          const owner = known === undefined ? (readUser.get(email) ?? null) : known
          owners.set(email, owner)
          return owner === null ? null : (projectId.get(owner, ref) ?? null)
        })
      })
    },
    dropStaleStages: (before) => staging.write(() => dropStaleStages(before)),
  }
}

function runsOfOneType(changes: readonly Change[]): readonly (readonly [Change['type'], Change[]])[] {
  const runs: [Change['type'], Change[]][] = []
  for (const change of changes) {
    const last = runs.at(-1)
    if (last?.[0] === change.type) last[1].push(change)
    else runs.push([change.type, [change]])
  }
  return runs
}
