// The move state of an SQLite database, and the steps of a move away from it.
import type { Database, Statement } from 'better-sqlite3'
import { type NewSession, StoreUnavailableError } from '../contract.ts'
import {
  CLOSED_MESSAGE,
  MOVED_MESSAGE,
  type MoveState,
  type MoveVerbs,
  StoreClosedError,
  StoreMovedError,
} from '../cutover/contract.ts'
import { type NotedChange, toChanged } from '../cutover/watched-tables.ts'
import { SESSION } from './access/sessions.ts'
import { ADD_TRIGGERS, DROP_TRIGGERS, IS_CLOSED, NOW } from './engine/change-log-triggers.ts'
import type { GroupCommit } from './engine/group-commit.ts'
import type { ReadTransaction } from './engine/read-transaction.ts'

// A closing that has timed out counts as `copying`, although the row says `closed` until the next write.
const STATE = `select identity, case when phase = 'closed' and not ${IS_CLOSED} then 'copying' else phase end as phase,
  move_id as moveId, other from move`

const TAKE_INTO_USE = `update move set phase = 'live' where phase = 'filled'`

/** Returns a check that throws `StoreMovedError` once another database has taken over. */
export function createActiveCheck(reader: Database): () => void {
  const isRetired = reader.prepare<[], 0 | 1>(`select phase = 'moved' from move`).pluck()
  return () => {
    if (isRetired.get() === 1) throw new StoreMovedError(MOVED_MESSAGE)
  }
}

export interface OpenCommits {
  readonly openCommits: GroupCommit
  /** For writes that stay invisible until another write publishes them: they do not turn `filled` into `live`. */
  readonly stagingCommits: GroupCommit
}

/**
 * Wraps the group commit so that every write first checks the move state, within its own transaction. Writes are
 * refused while the database is closed, moved or being filled. The triggers alone do not suffice: they do not fire for
 * a write that finds no row to change, whose result would come from an outdated state. The first change to a `filled`
 * database makes it `live`; otherwise a repeated move would remove that change.
 */
export function whileOpen(writer: Database, commits: GroupCommit): OpenCommits {
  const state = writer
    .prepare<[], 'moved' | 'closed' | 'filling' | 'filled' | 'open'>(
      `select case when phase in ('moved', 'filling', 'filled') then phase when ${IS_CLOSED} then 'closed' else 'open' end
       from move`,
    )
    .pluck()
  const takeIntoUse = writer.prepare(TAKE_INTO_USE)
  const changes = writer.prepare<[], number>('select total_changes()').pluck()
  const writeWhileOpen = <T>(write: () => T, isStaging: boolean): T => {
    const found = state.get()
    if (found === 'moved') throw new StoreMovedError(MOVED_MESSAGE)
    if (found === 'closed') throw new StoreClosedError(CLOSED_MESSAGE)
    if (found === 'filling') throw new StoreUnavailableError('the database is being filled by a move or a restore')
    if (found !== 'filled' || isStaging) return write()
    const before = changes.get()
    const written = write()
    if (changes.get() !== before) takeIntoUse.run()
    return written
  }
  const guarded = (isStaging: boolean): GroupCommit => ({
    ...commits,
    write: (write) => commits.write(() => writeWhileOpen(write, isStaging)),
    add: (write) => commits.add(() => writeWhileOpen(write, isStaging)),
    addUnsynced: (write) => commits.addUnsynced(() => writeWhileOpen(write, isStaging)),
  })
  return { openCommits: guarded(false), stagingCommits: guarded(true) }
}

export function createMoves(
  reader: Database,
  turn: ReadTransaction,
  writer: Database,
  commits: GroupCommit,
): MoveVerbs {
  const state = reader.prepare<[], MoveState>(STATE)
  const stateForWriting = writer.prepare<[], MoveState>(STATE)
  const activate = writer.prepare(TAKE_INTO_USE)
  const begin = writer.prepare<[string, string]>(
    `update move set phase = 'copying', move_id = ?, other = ?
     where phase in ('live', 'filled', 'copying', 'closed')`,
  )
  const changes = writer.prepare<[], NotedChange>('select kind, key from move_change')
  const forget = writer.prepare('delete from move_change')
  const close = writer.prepare<[number, string]>(
    `update move set phase = 'closed', closed_until = ${NOW} + ? where phase in ('copying', 'closed') and move_id = ?`,
  )
  const open = writer.prepare<[string]>(`update move set phase = 'copying' where phase = 'closed' and move_id = ?`)
  const finish = writer.prepare<[string]>(`update move set phase = 'moved' where phase = 'closed' and move_id = ?`)
  const cancel = writer.prepare<[string | null]>(
    `update move set phase = 'live' where phase in ('copying', 'closed') and move_id = coalesce(?, move_id)`,
  )
  const lastId = reader
    .prepare<[string], number>('select coalesce((select seq from sqlite_sequence where name = ?), 0)')
    .pluck()
  const session = reader.prepare<[string], NewSession>(`select ${SESSION} from session where id = ?`)

  function stateBy(statement: Statement<[], MoveState>): MoveState {
    const found = statement.get()
    if (!found) throw new Error('the database has no row in its table move, which says whether it has moved')
    return found
  }

  return {
    moveState() {
      return turn.readNow(() => stateBy(state))
    },
    activate: () =>
      commits.write(() => {
        activate.run()
        return stateBy(stateForWriting)
      }),
    beginMove: ({ id, other }) =>
      commits.write(() => {
        if (begin.run(id, other).changes === 0) return false
        writer.exec(ADD_TRIGGERS)
        forget.run()
        return true
      }),
    drainChangeLog: (moveId) =>
      commits.write(() => {
        const { phase, moveId: current } = stateBy(stateForWriting)
        if (current !== moveId || (phase !== 'copying' && phase !== 'closed')) return null
        const found = changes.all()
        forget.run()
        return toChanged(found)
      }),
    fenceWrites: (moveId, milliseconds) => commits.write(() => close.run(milliseconds, moveId).changes > 0),
    unfenceWrites: (moveId) =>
      commits.write(() => {
        open.run(moveId)
      }),
    finishMove: (moveId) => commits.write(() => finish.run(moveId).changes > 0),
    cancelMove: (moveId) =>
      commits.write(() => {
        if (cancel.run(moveId).changes === 0) return
        writer.exec(DROP_TRIGGERS)
        forget.run()
      }),
    async lastIds() {
      return turn.readNow(() => ({
        user: lastId.get('user') ?? 0,
        export: lastId.get('staged_export') ?? 0,
        auditEntry: lastId.get('audit_entry') ?? 0,
      }))
    },
    sessionsById(ids) {
      return turn.readNow(() => ids.flatMap((id) => session.get(id) ?? []))
    },
  }
}
