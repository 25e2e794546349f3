// Where a PostgreSQL database stands in a move, and the steps of a move away from it.

import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailableError } from '../contract.ts'
import { CARRIED_TABLE_NAMES } from '../cutover/carried-tables.ts'
import { type LastIds, MAX_CLOSED_MS, type MoveState, type MoveVerbs } from '../cutover/contract.ts'
import { GUARDED_TABLES, NOTED_TABLES } from '../cutover/watched-tables.ts'
import { SESSION, type SessionRow, toSession } from './access/sessions.ts'
import type { Connection, Statement } from './connection.ts'
import type { Pool } from './engine/pool.ts'
import { MOVE_LOCK } from './migrations/2-move.ts'

/** Writes that come meanwhile wait behind whoever waits for a lock: not for long, rather again. */
interface LockAttempts {
  readonly timeoutMs: number
  readonly attempts: number
  /** Before the next attempt. In it those are answered who have waited. */
  readonly pauseMs: number
}

const FENCE: LockAttempts = { timeoutMs: 500, attempts: 20, pauseMs: 0 }
/** For longer than `deadlock_timeout`, 1 s by default, after which an autovacuum gives way. */
const TRIGGERS: LockAttempts = { timeoutMs: 1_500, attempts: 8, pauseMs: 500 }

// A closing whose time is over is none any more, though the row says so until somebody writes.
const STATE: Statement = {
  name: 'moveState',
  text: `select identity, move_id as "moveId", other, case when phase = 'closed'
      and not closed_until between now.ms and now.ms + ${MAX_CLOSED_MS} then 'copying' else phase end as phase
    from workspace_gateway.move, (select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms) now`,
}
const TAKE_INTO_USE: Statement = {
  name: 'activate',
  text: `update workspace_gateway.move set phase = 'live' where phase = 'filled'`,
}
const BEGIN: Statement = {
  name: 'beginMove',
  text: `update workspace_gateway.move set phase = 'copying', move_id = $1, other = $2
    where phase in ('live', 'filled', 'copying', 'closed') returning 1`,
}
// Not what another move, which has begun meanwhile, needs to know.
const FORGET: Statement = {
  name: 'forgetChanges',
  text: `delete from workspace_gateway.move_change where exists (
      select 1 from workspace_gateway.move where phase = 'live' or (phase = 'copying' and move_id = $1))`,
}
// There is a note of every change: of a key that is written to all the time, millions.
const TAKE_CHANGES: Statement = {
  name: 'drainChangeLog',
  text: `with changes as (
      delete from workspace_gateway.move_change
      where exists (select 1 from workspace_gateway.move where move_id = $1 and phase in ('copying', 'closed'))
      returning kind, key), noted as (select distinct kind, key from changes)
    select m.move_id = $1 and m.phase in ('copying', 'closed') as "isMine", noted.* from workspace_gateway.move m left join noted on true`,
}
const CLOSE: Statement = {
  name: 'fenceWrites',
  text: `update workspace_gateway.move set phase = 'closed',
      closed_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + $2
    where phase in ('copying', 'closed') and move_id = $1 returning 1`,
}
const OPEN: Statement = {
  name: 'unfenceWrites',
  text: `update workspace_gateway.move set phase = 'copying' where phase = 'closed' and move_id = $1`,
}
const FINISH: Statement = {
  name: 'finishMove',
  text: `update workspace_gateway.move set phase = 'moved' where phase = 'closed' and move_id = $1 returning 1`,
}
const CANCEL: Statement = {
  name: 'cancelMove',
  text: `update workspace_gateway.move set phase = 'live'
    where phase in ('copying', 'closed') and move_id = coalesce($1, move_id) returning 1`,
}
// Values that were given to transactions which are still open, or were rolled back, count too.
const LAST_IDS: Statement = {
  name: 'lastIds',
  text: `select coalesce(pg_sequence_last_value(pg_get_serial_sequence('workspace_gateway.user', 'id')::regclass), 0) as user,
    coalesce(pg_sequence_last_value(pg_get_serial_sequence('workspace_gateway.staged_export', 'id')::regclass), 0) as export,
    coalesce(pg_sequence_last_value(pg_get_serial_sequence('workspace_gateway.audit_entry', 'id')::regclass), 0) as "auditEntry"`,
}
const SESSIONS_BY_ID: Statement = {
  name: 'sessionsById',
  text: `select ${SESSION} from workspace_gateway.session where id = any($1::text[])`,
}

// One table at a time, each in a transaction of its own: no two locks are ever held that a write may want in another order.
// In each the row says whether it is still so, and nobody else changes it meanwhile: of two moves, one may begin while the other
// is being cancelled.
const ADD_TRIGGERS = [
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
const LOCK_STATE: Statement = {
  name: 'lockMove',
  text: 'select phase, move_id as "moveId" from workspace_gateway.move for update',
}

interface Change {
  readonly kind: string
  readonly key: string
}

export function createMoves(pool: Pool): MoveVerbs {
  async function currentState(connection: Connection): Promise<MoveState> {
    const [found] = await connection.query<MoveState & object>(STATE)
    if (!found) throw new Error('the database does not say where it stands')
    return found
  }

  async function affects(statement: Statement, values: readonly unknown[]): Promise<boolean> {
    return pool.once(async (connection) => (await connection.query(statement, values)).length > 0)
  }

  async function forgetChanges(moveId: string | null): Promise<void> {
    await pool.longTransaction((connection) => connection.query(FORGET, [moveId]))
  }

  /** One transaction that gives up waiting for locks soon, and is tried again. */
  async function withLocks<T>(
    { timeoutMs, attempts, pauseMs }: LockAttempts,
    run: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      // Every statement is short: a server that hangs is given up, as elsewhere.
      const connection = await pool.dedicated(true)
      let hasBegun = false
      try {
        await connection.begin()
        hasBegun = true
        await connection.script(`set local lock_timeout = ${timeoutMs}`)
        const answer = await run(connection)
        await connection.commit()
        return answer
      } catch (error) {
        // Of a connection that is lost later, nobody knows whether it has committed.
        const isOpen = hasBegun && connection.isLost()
        if (!(error instanceof StoreUnavailableError) || isOpen || attempt === attempts) throw error
        if (hasBegun) await connection.rollback()
      } finally {
        connection.close()
      }
      await delay(pauseMs)
    }
  }

  /** As long as the condition holds. */
  async function runEach(
    scripts: readonly string[],
    condition: (state: Pick<MoveState, 'phase' | 'moveId'> | undefined) => boolean,
  ): Promise<void> {
    for (const script of scripts) {
      await withLocks(TRIGGERS, async (connection) => {
        const [state] = await connection.query<Pick<MoveState, 'phase' | 'moveId'> & object>(LOCK_STATE)
        if (condition(state)) await connection.script(script)
      })
    }
  }

  return {
    moveState: () => pool.repeatable(currentState),
    activate: () =>
      pool.repeatable(async (connection) => {
        await connection.query(TAKE_INTO_USE)
        return currentState(connection)
      }),
    async beginMove({ id, other }) {
      if (!(await affects(BEGIN, [id, other]))) return false
      await runEach(ADD_TRIGGERS, (state) => state?.moveId === id && state.phase === 'copying')
      await forgetChanges(id)
      return true
    },
    drainChangeLog: (moveId) =>
      pool.longTransaction(async (connection) => {
        const found = await connection.query<Change & { readonly isMine: string }>(TAKE_CHANGES, [moveId])
        if (found[0]?.isMine !== 't') return null
        const keysOf = (kind: string) => found.filter((change) => change.kind === kind).map(({ key }) => key)
        return {
          users: keysOf('user').map(Number),
          sessions: keysOf('session'),
          hasKeys: keysOf('signing_key').length > 0,
          callDays: keysOf('rest_call'),
          rows: CARRIED_TABLE_NAMES.flatMap((table) => keysOf(table).map((key) => ({ table, key }))),
        }
      }),
    fenceWrites: (moveId, milliseconds) =>
      withLocks(FENCE, async (connection) => {
        await connection.script(`select pg_advisory_xact_lock(${MOVE_LOCK})`)
        return (await connection.query(CLOSE, [moveId, milliseconds])).length > 0
      }),
    async unfenceWrites(moveId) {
      await affects(OPEN, [moveId])
    },
    finishMove: (moveId) => affects(FINISH, [moveId]),
    async cancelMove(moveId) {
      // Of one that was cancelled the triggers may be left, where somebody had locked a table.
      if (!(await affects(CANCEL, [moveId])) && moveId !== null) return
      await runEach(DROP_TRIGGERS, (state) => state?.phase === 'live')
      await forgetChanges(null)
    },
    lastIds: () =>
      pool.repeatable(async (connection) => {
        const [found] = await connection.query<LastIds & object>(LAST_IDS)
        return found ?? { user: 0, export: 0, auditEntry: 0 }
      }),
    sessionsById: (ids) =>
      pool.repeatable(async (connection) => (await connection.query<SessionRow>(SESSIONS_BY_ID, [ids])).map(toSession)),
  }
}
