// A bounded connection pool: it opens connections on demand and discards lost ones. Options in the URL override the
// gateway's options.
import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailableError } from '../../contract.ts'
import type { PoolStatistics } from '../../statistics-contract.ts'
import type { Connection, ConnectionOptions, Statement } from '../connection.ts'
import { connect } from './connecting/connect.ts'
import type { Host, PostgresTarget } from './connection-string.ts'
import { ConnectionLostError, isOutcomeOpen, isRolledBack, isStatementTimeout } from './faults/pg-errors.ts'
import { createWaitingLine } from './faults/waiting-line.ts'
import { areCommitsStuck, createWriteGate } from './faults/write-gate.ts'

export interface PoolOptions extends ConnectionOptions {
  /** Maximum number of connections, without the dedicated ones. */
  readonly poolSize: number
}

export interface Pool extends AsyncDisposable {
  /** Runs once, and changes nothing. */
  readonly once: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /** Same as `once`, and retries once on a new connection when the first connection was lost. */
  readonly repeatable: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /**
   * Runs a write once. After a failure the outcome is unknown, unless the database reported that it did nothing. Writes
   * hold at most half of the connections at a time, so that reads go on while no commit ends.
   */
  readonly write: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /** Writes one statement, which returns a row for each row that it changes. Whether it changed any. */
  readonly affects: (statement: Statement, values: readonly unknown[]) => Promise<boolean>
  /** For idempotent writes: retries once on a new connection when the first connection was lost. */
  readonly repeatableWrite: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /** Writes in one transaction, and retries it when the database rolled it back because of a conflict. */
  readonly transaction: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /**
   * Same as `transaction`, on a dedicated connection without a statement timeout. With `isLockTimed`, waiting for a lock
   * has that timeout still.
   */
  readonly longTransaction: <T>(run: (connection: Connection) => Promise<T>, isLockTimed?: boolean) => Promise<T>
  /**
   * Same as `transaction`. When a statement exceeds the timeout, it runs again as a `longTransaction`, whose locks are
   * timed: what a statement does depends on how much is stored. Most are short, so the first attempt needs no connection
   * of its own.
   */
  readonly unboundedTransaction: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /**
   * Opens a connection outside of the pool limit, without a statement timeout unless `isTimed`. The caller closes it.
   */
  readonly dedicated: (isTimed?: boolean) => Promise<Connection>
  /** Binds `run` to the current request, whichever request starts it later. For work that waits in a queue. */
  readonly ofRequest: (run: () => void) => () => void
  /**
   * Maximum wait for a connection, in milliseconds. After one wait has timed out, new waits are rejected at once until
   * a connection is free again.
   */
  readonly patienceMs: number
  /** Calls `listener` whenever a statement fails because the server's disk is full. */
  readonly onDiskFull: (listener: () => void) => void
  /** Counts of the connections within the pool limit. */
  readonly counts: () => Omit<PoolStatistics, 'name'>
}

const CONFLICT_ATTEMPTS = 5
/** Maximum pause before the second attempt. It grows linearly with each further attempt. */
const CONFLICT_PAUSE_MS = 50
/** From this length on, sending texts and storing them may take longer than a statement may last. */
const LONG_TEXT_LENGTH = 16_777_216
const CLOSED = 'the store is closed'
const TOO_LATE = 'no connection to the database became free in time'

export function createPool(target: PostgresTarget, given: PoolOptions): Pool {
  const diskFullListeners: (() => void)[] = []
  const options: PoolOptions = { ...withUrlOptions(given, target), onDiskFull: tellDiskFull }
  const open = new Set<Connection>()
  const withoutTls = new Set<Host>()
  let idle: Connection[] = []
  let opening = 0
  let lastHost = 0
  const patienceMs = options.connectTimeoutMs * target.hosts.length
  const line = createWaitingLine<Connection>(patienceMs, TOO_LATE)
  let isClosed = false

  function tellDiskFull(): void {
    for (const listener of diskFullListeners) listener()
  }

  async function connectOne(connectionOptions: ConnectionOptions): Promise<Connection> {
    const { connection, host } = await connect(target, connectionOptions, lastHost, withoutTls)
    // A crashing server may close the connection in the same packet that opens it, before any listener was attached.
    if (connection.isLost()) throw new ConnectionLostError('the connection to the database was lost')
    lastHost = host
    return connection
  }

  /**
   * Opens a connection for the longest waiter. When it fails and no other connection is open, all waiters are rejected.
   */
  async function openOne(): Promise<void> {
    opening += 1
    try {
      const connection = await connectOne(options)
      open.add(connection)
      connection.onLost(() => discard(connection))
      release(connection)
    } catch (error) {
      if (open.size === 0) line.refuse(error)
    } finally {
      opening -= 1
      line.unblock()
    }
  }

  /** When a primary fails, its other connections are lost too. So all idle connections are closed. */
  function discard(connection: Connection): void {
    line.unblock()
    open.delete(connection)
    const others = idle.filter((other) => other !== connection)
    idle = []
    for (const other of others) {
      open.delete(other)
      other.close()
    }
    if (line.length() > opening && !isClosed) void openOne()
  }

  function release(connection: Connection): void {
    line.unblock()
    // The open transaction would make the next user's statements fail, and a pooler would keep a server reserved for
    // it.
    if (connection.hasTransaction()) connection.close()
    if (connection.isLost()) return
    if (line.serve(connection)) return
    if (isClosed) connection.close()
    else idle.push(connection)
  }

  async function acquire(): Promise<Connection> {
    if (isClosed) throw new StoreUnavailableError(CLOSED)
    const free = idle.pop()
    if (free) return free
    const served = line.join(opening === 0 && open.size < options.poolSize)
    if (open.size + opening < options.poolSize) void openOne()
    return served
  }

  async function once<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await acquire()
    try {
      return await run(connection)
    } finally {
      release(connection)
    }
  }

  async function inTransaction<T>(connection: Connection, run: (connection: Connection) => Promise<T>): Promise<T> {
    await connection.begin()
    try {
      const answer = await run(connection)
      await connection.commit().catch(leaveOpen)
      return answer
    } catch (error) {
      if (!connection.isLost()) await connection.rollback().catch(() => connection.close())
      throw error
    }
  }

  /** Retries after a conflict, with a random pause so that it does not collide with the same transaction again. */
  async function retryOnConflict<T>(run: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await run()
      } catch (error) {
        if (!isRolledBack(error) || attempt === CONFLICT_ATTEMPTS) throw error
        await delay(Math.random() * CONFLICT_PAUSE_MS * attempt)
      }
    }
  }

  const dedicated = (isTimed = false) => connectOne(isTimed ? options : { ...options, statementTimeoutMs: 0 })

  async function retryOnLoss<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error
      return run()
    }
  }

  const repeatable: Pool['repeatable'] = (run) => retryOnLoss(() => once(run))

  const gate = createWriteGate({
    maxWrites: Math.ceil(options.poolSize / 2),
    patienceMs,
    areCommitsStuck: () => repeatable((connection) => areCommitsStuck(connection, options.statementTimeoutMs)),
  })

  const writeOnce: Pool['write'] = (run) => gate.pass(() => once(run))

  const write: Pool['write'] = (run) => writeOnce(run).catch(leaveOpen)

  const transaction: Pool['transaction'] = (run) =>
    retryOnConflict(() => writeOnce((connection) => inTransaction(connection, run)))

  const longTransaction: Pool['longTransaction'] = (run, isLockTimed = false) =>
    retryOnConflict(async () => {
      const connection = await dedicated()
      try {
        return await inTransaction(connection, async (begun) => {
          if (isLockTimed) await begun.script(limitsOfLocks(options.statementTimeoutMs))
          return run(begun)
        })
      } finally {
        connection.close()
      }
    })

  return {
    once,
    repeatable,
    write,
    affects: (statement, values) => write(async (connection) => (await connection.query(statement, values)).length > 0),
    repeatableWrite: (run) => retryOnLoss(() => write(run)),
    transaction,
    longTransaction,
    async unboundedTransaction(run) {
      try {
        return await transaction(run)
      } catch (error) {
        if (!isStatementTimeout(error)) throw error
        return longTransaction(run, true)
      }
    },
    dedicated,
    ofRequest: options.traces?.bind ?? ((run) => run),
    patienceMs,
    onDiskFull(listener) {
      diskFullListeners.push(listener)
    },
    counts: () => ({
      used: open.size - idle.length,
      idle: idle.length,
      waiting: line.length() + gate.waiting(),
      max: options.poolSize,
    }),
    async [Symbol.asyncDispose]() {
      isClosed = true
      for (const connection of open) connection.close()
      open.clear()
      idle = []
      // The connections that are being opened serve the longest waiters. The other waiters are rejected.
      line.refuse(new StoreUnavailableError(CLOSED), opening)
    },
  }
}

/** Whether the texts of these steps need a `longTransaction`: with a statement timeout, a retry would fail as well. */
export function hasLongTexts(steps: readonly object[]): boolean {
  return steps.reduce((sum, step) => sum + textLengthOf(step), 0) >= LONG_TEXT_LENGTH
}

function textLengthOf(step: object): number {
  const values: readonly unknown[] = Object.values(step).flat()
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
}

/** Throws the error of a write or a commit, and tells people if it may have happened. */
function leaveOpen(error: unknown): never {
  if (!isOutcomeOpen(error)) throw error
  throw new ConnectionLostError(`${error.message}. The change may be stored nevertheless`, { cause: error.cause })
}

/** The server also ends the transaction of a client that was suspended or has vanished, so that it frees its locks. */
function limitsOfLocks(ms: number): string {
  return `set local lock_timeout = ${ms}; set local idle_in_transaction_session_timeout = ${ms}`
}

/** Options in the URL override the gateway's, except a pooling mode that was chosen explicitly. */
function withUrlOptions(options: PoolOptions, { connectTimeoutMs, isPooled }: PostgresTarget): PoolOptions {
  const { pooling = 'auto' } = options
  return {
    ...options,
    connectTimeoutMs: connectTimeoutMs ?? options.connectTimeoutMs,
    pooling: isPooled && pooling === 'auto' ? 'transaction' : pooling,
  }
}
