// Settings that the promises rest on, whatever the server's defaults are: of a session, or of each transaction where a
// pooler gives every transaction another server. Set by statement, so that a pooler sees nothing unusual at start-up.
import type { QueryResultRow } from 'pg'
import type { Access } from './connection-string.ts'
import { ConnectionLostError } from './faults/pg-errors.ts'

/** `session`: one server for as long as a connection lasts, so also without a pooler. `transaction`: one for each transaction. */
export type Pooling = 'auto' | 'session' | 'transaction'

export const READ_COMMITTED = 'isolation level read committed'

/** PostgreSQL has it from 17 on. */
const HAS_TRANSACTION_TIMEOUT = `current_setting('transaction_timeout', true) is not null`

const STATE = `select pg_is_in_recovery()::text as standby, current_setting('default_transaction_read_only') as readonly,
  pg_backend_pid()::text as "processId"`

/**
 * Settings for as long as the session lasts, unless its server is another one than answered the start-up: `processId` is
 * what that one said of itself. A pooler makes up its own, since it has many servers. Answers what `isOtherServer` reads.
 */
export function beginSession(statementTimeoutMs: number, pooling: Pooling, processId: unknown): string {
  const condition = { auto: `pg_backend_pid() = ${Number(processId)}`, session: 'true', transaction: 'false' }
  return `select set_config('default_transaction_isolation', 'read committed', false),
    ${settings(statementTimeoutMs, false)} where ${condition[pooling]}; ${STATE}`
}

export function isOtherServer(state: QueryResultRow | undefined, pooling: Pooling, processId: unknown): boolean {
  return pooling === 'transaction' || (pooling === 'auto' && state?.processId !== String(processId))
}

/** The same for one transaction, with its beginning in front. */
export function beginTransaction(mode: string, statementTimeoutMs: number): string {
  return `begin ${mode}; select ${settings(statementTimeoutMs, true)}; ${STATE}`
}

/** Throws unless the server that has answered is of the kind that is wanted. */
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
    // A wait for a lock is a part of a statement, and a long transaction of many short ones is a dump.
    lock_timeout: `'0'`,
    standard_conforming_strings: `'on'`,
    // Off, a null in an array parameter is the text "NULL".
    array_nulls: `'on'`,
    // A commit whose standby was not waited for is told in a warning only.
    client_min_messages: `'warning'`,
    jit: `'off'`,
    // Only `remote_apply` waits for more.
    synchronous_commit: `case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end`,
  }
  const all = Object.entries(values).map(([name, value]) => `set_config('${name}', ${value}, ${isLocal})`)
  return [
    ...all,
    `case when ${HAS_TRANSACTION_TIMEOUT} then set_config('transaction_timeout', '0', ${isLocal}) end`,
  ].join(', ')
}
