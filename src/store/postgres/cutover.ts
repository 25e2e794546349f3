// Reads and changes the move state of a PostgreSQL database: begin, note changes, fence, finish, cancel.

import { setTimeout as delay } from 'node:timers/promises'
import { type LastIds, StoreFaultError, StoreUnavailableError } from '../contract.ts'
import { MAX_CLOSED_MS, type MoveState, type MoveVerbs } from '../cutover/contract.ts'
import { GUARDED_TABLES, NOTED_TABLES, type NotedChange, toChanged } from '../cutover/watched-tables.ts'
import { SESSION, type SessionRow, toSession } from './access/sessions.ts'
import { type Connection, statements } from './connection.ts'
import { ConnectionLostError, isLockRefused } from './engine/faults/pg-errors.ts'
import type { Pool } from './engine/pool.ts'
import { MOVE_LOCK } from './migrations/2-move.ts'

/**
 * How to wait for a lock. Later writes queue behind a session that waits for a lock, so each attempt waits briefly and
 * is retried.
 */
interface LockAttempts {
  readonly timeoutMs: number
  readonly attempts: number
  /** Pause before the next attempt. The writes that have queued are served in it. */
  readonly pauseMs: number
  /** What keeps the lock, for the operator who can end it. */
  readonly refusal: string
}

const FENCE: LockAttempts = {
  timeoutMs: 500,
  attempts: 20,
  pauseMs: 0,
  refusal: 'writes cannot be stopped while a transaction that has written stays open: run this again when it has ended',
}
const TRIGGERS: LockAttempts = {
  // Longer than `deadlock_timeout` (1 s by default), after which an autovacuum gives way.
  timeoutMs: 1_500,
  attempts: 8,
  pauseMs: 500,
  refusal:
    'another transaction, for example of a dump, a removal or a shell, keeps a table locked: run this again when it has ended',
}

// Each table has a transaction of its own: no transaction holds two locks that a write may want in the opposite order.
// Each transaction locks the move row and checks the phase again, because of two moves one may begin while the other is
// being cancelled.
const PREPARE_SOURCE = [
  // The log has no primary key, and a publication of all tables refuses removals from such a table otherwise.
  'alter table workspace_gateway.move_change replica identity full',
  ...GUARDED_TABLES.map(
    (table) => `drop trigger if exists move_guards on workspace_gateway.${table};
      create trigger move_guards before insert or update or delete or truncate on workspace_gateway.${table}
      for each statement execute function workspace_gateway.guard_move()`,
  ),
  ...NOTED_TABLES.map(
    ({ table, key }) => `drop trigger if exists move_notes on workspace_gateway.${table};
      create trigger move_notes after insert or update or delete on workspace_gateway.${table}
      for each row execute function workspace_gateway.note_move_change(${key})`,
  ),
]
const DROP_TRIGGERS = [
  ...GUARDED_TABLES.map((table) => `drop trigger if exists move_guards on workspace_gateway.${table}`),
  ...NOTED_TABLES.map(({ table }) => `drop trigger if exists move_notes on workspace_gateway.${table}`),
]
const SQL = statements({
  // A fence whose time is over no longer counts, although the row says `closed` until the next write.
  moveState: `select identity, move_id as "moveId", other, case when phase = 'closed'
      and not closed_until between now.ms and now.ms + ${MAX_CLOSED_MS} then 'copying' else phase end as phase
    from workspace_gateway.move, (select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms) now`,
  activate: `update workspace_gateway.move set phase = 'live' where phase = 'filled'`,
  // A role with all privileges may add triggers, but only an owner may drop them, which a cancellation does.
  tablesOfOthers: `select relname as name from pg_class
    where relnamespace = 'workspace_gateway'::regnamespace and relname = any($1::text[]) and not pg_has_role(relowner, 'usage')
    order by relname limit 1`,
  beginMove: `update workspace_gateway.move set phase = 'copying', move_id = $1, other = $2
    where phase in ('live', 'filled', 'copying', 'closed') returning 1`,
  // Deletes the notes unless another move, which has begun meanwhile, needs them.
  forgetChanges: `delete from workspace_gateway.move_change where exists (
      select 1 from workspace_gateway.move where phase = 'live' or (phase = 'copying' and move_id = $1))`,
  // Every change leaves a note, so a key that is written all the time has millions. `distinct` returns each key once.
  drainChangeLog: `with changes as (
      delete from workspace_gateway.move_change
      where exists (select 1 from workspace_gateway.move where move_id = $1 and phase in ('copying', 'closed'))
      returning kind, key), noted as (select distinct kind, key from changes)
    select m.move_id = $1 and m.phase in ('copying', 'closed') as "isMine", noted.* from workspace_gateway.move m left join noted on true`,
  fenceWrites: `update workspace_gateway.move set phase = 'closed',
      closed_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + $2
    where phase in ('copying', 'closed') and move_id = $1 returning 1`,
  unfenceWrites: `update workspace_gateway.move set phase = 'copying' where phase = 'closed' and move_id = $1`,
  finishMove: `update workspace_gateway.move set phase = 'moved' where phase = 'closed' and move_id = $1 returning 1`,
  cancelMove: `update workspace_gateway.move set phase = 'live'
    where phase in ('copying', 'closed') and move_id = coalesce($1, move_id) returning 1`,
  // The last value of a sequence also covers ids that open or rolled-back transactions have taken.
  lastIds: `select coalesce(pg_sequence_last_value(pg_get_serial_sequence('workspace_gateway.user', 'id')::regclass), 0) as user,
    coalesce(pg_sequence_last_value(pg_get_serial_sequence('workspace_gateway.staged_export', 'id')::regclass), 0) as export,
    coalesce(pg_sequence_last_value(pg_get_serial_sequence('workspace_gateway.audit_entry', 'id')::regclass), 0) as "auditEntry"`,
  sessionsById: `select ${SESSION} from workspace_gateway.session where id = any($1::text[])`,
  lockMove: 'select phase, move_id as "moveId" from workspace_gateway.move for update',
})

export function createMoves(pool: Pool): MoveVerbs {
  async function currentState(connection: Connection): Promise<MoveState> {
    const [found] = await connection.query<MoveState & object>(SQL.moveState)
    if (!found) throw new Error('the database has no row in its table move, which says whether it has moved')
    return found
  }

  async function requireOwner(): Promise<void> {
    const [other] = await pool.repeatable((connection) =>
      connection.query<{ readonly name: string }>(SQL.tablesOfOthers, [GUARDED_TABLES]),
    )
    if (other) throw new StoreFaultError(`only the owner of the table ${other.name} can begin a move, and cancel it`)
  }

  async function forgetChanges(moveId: string | null): Promise<void> {
    await pool.unboundedTransaction((connection) => connection.query(SQL.forgetChanges, [moveId]))
  }

  /** Runs one transaction with a short lock timeout and retries it. */
  async function withLocks<T>(
    { timeoutMs, attempts, pauseMs, refusal }: LockAttempts,
    run: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      let hasBegun = false
      try {
        // Every statement is short, so the statement timeout applies: a server that hangs is given up.
        return await pool.transaction(async (connection) => {
          hasBegun = true
          await connection.script(`set local lock_timeout = ${timeoutMs}`)
          return run(connection)
        })
      } catch (error) {
        // When the connection is lost after the begin, it is unknown whether the transaction has committed. So no
        // retry.
        const isOpen = hasBegun && error instanceof ConnectionLostError
        if (!(error instanceof StoreUnavailableError) || isOpen) throw error
        if (attempt === attempts)
          throw isLockRefused(error) ? new StoreUnavailableError(refusal, { cause: error.cause }) : error
      }
      await delay(pauseMs)
    }
  }

  /** Runs each script in a transaction of its own, and skips it when the condition no longer holds. */
  async function runEach(
    scripts: readonly string[],
    condition: (state: Pick<MoveState, 'phase' | 'moveId'> | undefined) => boolean,
  ): Promise<void> {
    for (const script of scripts) {
      await withLocks(TRIGGERS, async (connection) => {
        const [state] = await connection.query<Pick<MoveState, 'phase' | 'moveId'> & object>(SQL.lockMove)
        if (condition(state)) await connection.script(script)
      })
    }
  }

  return {
    moveState: () => pool.repeatable(currentState),
    activate: () =>
      // It changes a row once in the life of a database. A start must not fail because writes do.
      pool.repeatable(async (connection) => {
        await connection.query(SQL.activate)
        return currentState(connection)
      }),
    async beginMove({ id, other }) {
      await requireOwner()
      if (!(await pool.affects(SQL.beginMove, [id, other]))) return false
      await runEach(PREPARE_SOURCE, (state) => state?.moveId === id && state.phase === 'copying')
      await forgetChanges(id)
      return true
    },
    drainChangeLog: (moveId) =>
      pool.unboundedTransaction(async (connection) => {
        const found = await connection.query<NotedChange & { readonly isMine: string }>(SQL.drainChangeLog, [moveId])
        if (found[0]?.isMine !== 't') return null
        return toChanged(found)
      }),
    fenceWrites: (moveId, milliseconds) =>
      withLocks(FENCE, async (connection) => {
        await connection.script(`select pg_advisory_xact_lock(${MOVE_LOCK})`)
        return (await connection.query(SQL.fenceWrites, [moveId, milliseconds])).length > 0
      }),
    async unfenceWrites(moveId) {
      await pool.affects(SQL.unfenceWrites, [moveId])
    },
    finishMove: (moveId) => pool.affects(SQL.finishMove, [moveId]),
    async cancelMove(moveId) {
      await requireOwner()
      // A cancelled move may have left triggers behind, where another session had locked a table.
      if (!(await pool.affects(SQL.cancelMove, [moveId])) && moveId !== null) return
      await runEach(DROP_TRIGGERS, (state) => state?.phase === 'live')
      await forgetChanges(null)
    },
    lastIds: () =>
      pool.repeatable(async (connection) => {
        const [found] = await connection.query<LastIds & object>(SQL.lastIds)
        return found ?? { user: 0, export: 0, auditEntry: 0 }
      }),
    sessionsById: (ids) =>
      pool.repeatable(async (connection) =>
        (await connection.query<SessionRow>(SQL.sessionsById, [ids])).map(toSession),
      ),
  }
}
