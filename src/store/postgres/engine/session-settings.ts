// Sets the PostgreSQL settings that the store's guarantees rest on, whatever the server's defaults are: once per
// session, or per transaction when a pooler may give each transaction another server connection. It sends them as
// statements, so that a pooler sees no unusual startup parameters.
import type { QueryResultRow } from 'pg'
import type { Access } from './connection-string.ts'
import { ConnectionLostError } from './faults/pg-errors.ts'

/** `session`: one server connection per client connection, as without a pooler. `transaction`: one per transaction. */
export type Pooling = 'auto' | 'session' | 'transaction'

export const READ_COMMITTED = 'isolation level read committed'

const STATE = `select pg_is_in_recovery()::text as standby, current_setting('default_transaction_read_only') as readonly,
  pg_backend_pid()::text as "processId"`

/**
 * SQL that applies the settings for the whole session, unless another server answers than at startup. `processId` is
 * the process id from the startup. A pooler invents one, because it has many servers. The last statement selects the
 * row that `isOtherServer` reads.
 */
export function beginSession(statementTimeoutMs: number, pooling: Pooling, processId: unknown): string {
  const condition = { auto: `pg_backend_pid() = ${Number(processId)}`, session: 'true', transaction: 'false' }
  return `select set_config('default_transaction_isolation', 'read committed', false), ${untimed('idle_session_timeout', false)},
    ${settings(statementTimeoutMs, false)} where ${condition[pooling]}; ${STATE}`
}

export function isOtherServer(state: QueryResultRow | undefined, pooling: Pooling, processId: unknown): boolean {
  return pooling === 'transaction' || (pooling === 'auto' && state?.processId !== String(processId))
}

/** SQL that begins a transaction and applies the settings to it alone. */
export function beginTransaction(mode: string, statementTimeoutMs: number): string {
  return `begin ${mode}; select ${settings(statementTimeoutMs, true)}; ${STATE}`
}

/** Throws `ConnectionLostError` unless the server that answered fits the wanted access. */
export function assertAccess(state: QueryResultRow | undefined, access: Access): void {
  const isStandby = state?.standby === 'true'
  if (access === 'read-write' && (isStandby || state?.readonly === 'on')) {
    throw new ConnectionLostError('the server accepts no writes')
  }
  if (access === 'standby' && !isStandby) throw new ConnectionLostError('the server is not a standby')
}

function settings(statementTimeoutMs: number, isLocal: boolean): string {
  const values = {
    statement_timeout: `'${statementTimeoutMs}'`,
    idle_in_transaction_session_timeout: `'${statementTimeoutMs}'`,
    // Waiting for a lock counts towards the statement timeout. A transaction has no timeout either, because a long
    // transaction of many short statements is a dump.
    lock_timeout: `'0'`,
    standard_conforming_strings: `'on'`,
    // When off, a null in an array parameter becomes the text "NULL".
    array_nulls: `'on'`,
    // The server reports a commit that did not wait for its standby only in a warning.
    client_min_messages: `'warning'`,
    jit: `'off'`,
    // Only `remote_apply` waits for more than `on`.
    synchronous_commit: `case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end`,
  }
  const all = Object.entries(values).map(([name, value]) => `set_config('${name}', ${value}, ${isLocal})`)
  return [...all, untimed('transaction_timeout', isLocal)].join(', ')
}

/** Turns a timeout off, unless the server is too old to have it: they came with PostgreSQL 14 and 17. */
function untimed(name: 'idle_session_timeout' | 'transaction_timeout', isLocal: boolean): string {
  return `case when current_setting('${name}', true) is not null then set_config('${name}', '0', ${isLocal}) end`
}
