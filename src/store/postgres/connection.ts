// Opens one connection to a host and sends statements on it, one at a time.
import type { QueryResultRow } from 'pg'
import { reasonOf } from '../../errors.ts'
import { StoreFullError } from '../contract.ts'
import { createDriverClient } from './engine/connecting/driver-client.ts'
import { watchForSilence } from './engine/connecting/silent-server.ts'
import type { Host, PostgresTarget } from './engine/connection-string.ts'
import { ConnectionLostError, leavesCommitOpen, toStoreError } from './engine/faults/pg-errors.ts'
import {
  assertAccess,
  beginSession,
  beginTransaction,
  isOtherServer,
  type Pooling,
  READ_COMMITTED,
} from './engine/session-settings.ts'
import { type StatementTraces, withTraceComment } from './engine/trace-comment.ts'

/**
 * A prepared statement: the server prepares it once per connection, under its name. Behind a pooler it is not named.
 */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Statements under their names. */
export function statements<K extends string>(texts: Readonly<Record<K, string>>): { readonly [N in K]: Statement } {
  const named = Object.entries<string>(texts).map(([name, text]) => [name, { name, text }])
  return Object.fromEntries(named)
}

/** A statement and the values of its parameters. */
export type Query = readonly [statement: Statement, values: readonly unknown[]]

/** One array for each member of the rows: parameters of a statement that takes many rows by `unnest`. */
export function columns<T>(rows: readonly T[], names: readonly (keyof T)[]): readonly (readonly unknown[])[] {
  return names.map((name) => rows.map((row) => row[name]))
}

export interface Connection {
  /** Resolves to the rows. Throws `StoreUnavailableError` for a failure that a retry may cure. */
  readonly query: <R extends QueryResultRow>(statement: Statement, values?: readonly unknown[]) => Promise<readonly R[]>
  /**
   * Runs statements without parameters, separated by `;`. None of them may begin or end a transaction. Resolves to the
   * rows of the last statement.
   */
  readonly script: (text: string) => Promise<readonly QueryResultRow[]>
  /** `mode` is the SQL transaction mode; the default is read committed. When `begin` throws, the connection is lost. */
  readonly begin: (mode?: string) => Promise<void>
  readonly commit: () => Promise<void>
  readonly rollback: () => Promise<void>
  /** Whether a pooler may send each transaction to another server connection. No session state survives then. */
  readonly isPooled: () => boolean
  /** Whether the connection can take no further statement. */
  readonly isLost: () => boolean
  /** Whether the server reported, with its last response, an open or a failed transaction. */
  readonly hasTransaction: () => boolean
  /** Calls `listener` once, when the connection is lost or closed; never if it is lost already. */
  readonly onLost: (listener: () => void) => void
  readonly close: () => void
}

export interface ConnectionOptions {
  readonly connectTimeoutMs: number
  /** 0: no timeout. */
  readonly statementTimeoutMs: number
  /** The kind of pooler in front of the server. `auto`, the default, detects it for each connection. */
  readonly pooling?: Pooling | undefined
  /** Absent: statements carry no trace comment. */
  readonly traces?: StatementTraces | undefined
  /** Called for every statement that fails because the server's disk is full. */
  readonly onDiskFull?: () => void
}

/** A statement without a name is prepared for this one execution only. */
interface SentStatement {
  readonly name?: string
  readonly text: string
}

/**
 * Grace period after the statement timeout. When the server has not even reported the timeout by then, the connection
 * is lost.
 */
const SILENCE_MS = 500
/** Transaction status of the wire protocol: the server is outside of any transaction. */
const IDLE = 'I'
/**
 * Opens a connection to one host, with TLS if `tls` is not null. Rejects when the server does not have the access that
 * the target wants.
 */
export async function openConnection(
  host: Host,
  target: PostgresTarget,
  options: ConnectionOptions,
  tls: PostgresTarget['tls'],
): Promise<Connection> {
  // Read once for this connection: a probe of its server must not fail because a file is just being replaced.
  const tlsOptions = tls?.(host.host)
  const ownTls = tlsOptions === undefined ? null : () => tlsOptions
  const { client, socket, end: endClient } = createDriverClient(host, target, options.connectTimeoutMs, ownTls)
  const listeners: (() => void)[] = []
  let lost = false
  let isWarned = false
  let isPooled = false
  let isInTransaction = false
  let inFlight = 0

  function lose(): void {
    if (lost) return
    lost = true
    socket.destroy()
    for (const listener of listeners) listener()
  }

  /** Calls `giveUp` when no answer is to be expected any more. Returns a function that ends the wait. */
  function startWait(giveUp: () => void): () => void {
    const { statementTimeoutMs, connectTimeoutMs } = options
    if (statementTimeoutMs === 0)
      return watchForSilence({ host, target, tls: ownTls, socket, connectTimeoutMs }, giveUp)
    const timer = setTimeout(giveUp, statementTimeoutMs + SILENCE_MS)
    return () => clearTimeout(timer)
  }

  /** Every request to the server passes through here. It maps errors to the store contract and enforces the timeout. */
  async function within<T>(asking: () => Promise<T>): Promise<T> {
    if (lost) throw new ConnectionLostError('the connection to the database was lost')
    const silence = Promise.withResolvers<never>()
    const endWait = startWait(() => silence.reject(new ConnectionLostError('the database did not answer in time')))
    inFlight += 1
    try {
      const answer = await Promise.race([asking(), silence.promise])
      // When the wait of a commit for its standby is cancelled, the server sends a warning and then reports success.
      if (isWarned) throw new ConnectionLostError('the database answered with a warning')
      return answer
    } catch (error) {
      const failure = toStoreError(error)
      if (failure instanceof ConnectionLostError) lose()
      if (failure instanceof StoreFullError) options.onDiskFull?.()
      throw failure
    } finally {
      inFlight -= 1
      endWait()
    }
  }

  async function runScript(text: string): Promise<readonly QueryResultRow[]> {
    const result = await client.query(text)
    return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? []
  }

  async function runBegin(mode: string): Promise<void> {
    if (!isPooled) await runScript(`begin ${mode}`)
    else assertAccess((await runScript(beginTransaction(mode, options.statementTimeoutMs)))[0], target.access)
  }

  /** After a failed begin, the state of the transaction is unknown. So the connection is not used again. */
  async function beginOrLose(mode: string): Promise<void> {
    try {
      await runBegin(mode)
    } catch (error) {
      lose()
      throw error
    }
    isInTransaction = true
  }

  function toSent({ name, text }: Statement): SentStatement {
    const traceparent = options.traces?.current() ?? null
    // The text differs each time, so a prepared statement would never be reused.
    if (traceparent !== null) return { text: withTraceComment(text, traceparent) }
    return isPooled ? { text } : { name, text }
  }

  /**
   * Sends begin, statement and commit in one round trip. When a part fails, the server skips the remaining parts and
   * rolls back. But when only a pooler refuses the begin, the server still executes the rest.
   */
  async function runAsTransaction<R extends QueryResultRow>(
    statement: SentStatement,
    values: unknown[],
  ): Promise<readonly R[]> {
    const { stream } = client.connection
    stream.cork()
    const parts = [runBegin(READ_COMMITTED), client.query<R>({ ...statement, values }), client.query('commit')] as const
    stream.uncork()
    // Wait until all parts have settled: the next statement belongs to another transaction.
    const [begun] = await Promise.allSettled(parts)
    if (begun.status === 'rejected') throw toOutcomeOpen(begun.reason)
    const [, { rows }] = await Promise.all(parts)
    return rows
  }

  async function end(command: 'commit' | 'rollback'): Promise<void> {
    await runScript(command)
    isInTransaction = false
  }

  client.on('error', lose)
  client.on('end', lose)
  client.on('notice', (notice) => {
    isWarned ||= leavesCommitOpen(notice)
  })
  const connection: Connection = {
    query: <R extends QueryResultRow>(statement: Statement, values: readonly unknown[] = []) =>
      within(async () => {
        const sent = toSent(statement)
        if (isPooled && !isInTransaction) return runAsTransaction<R>(sent, [...values])
        return (await client.query<R>({ ...sent, values: [...values] })).rows
      }),
    script: (text) => within(() => runScript(text)),
    begin: (mode = READ_COMMITTED) => within(() => beginOrLose(mode)),
    commit: () => within(() => end('commit')),
    rollback: () => within(() => end('rollback')),
    isPooled: () => isPooled,
    isLost: () => lost,
    hasTransaction: () => client.getTransactionStatus() !== IDLE,
    onLost: (listener) => listeners.push(listener),
    close() {
      if (lost) return
      lost = true
      // A graceful end would wait for the statements in flight.
      if (inFlight > 0) socket.destroy()
      else endClient(options.connectTimeoutMs)
      for (const listener of listeners) listener()
    },
  }
  try {
    await client.connect()
    // The driver waits for the close, which does not come while a proxy takes nothing of what is still to be sent.
    client.connection.stream.once('end', lose)
    isWarned = false
    const { statementTimeoutMs, pooling = 'auto' } = options
    const processId: unknown = Reflect.get(client, 'processID')
    const [state] = await connection.script(beginSession(statementTimeoutMs, pooling, processId))
    assertAccess(state, target.access)
    isPooled = isOtherServer(state, pooling, processId)
    return connection
  } catch (error) {
    lose()
    throw error
  }
}

function toOutcomeOpen(reason: unknown): ConnectionLostError {
  const failure = toStoreError(reason)
  if (failure instanceof ConnectionLostError) return failure
  return new ConnectionLostError(`the database did not begin a transaction: ${reasonOf(reason)}`, { cause: reason })
}
