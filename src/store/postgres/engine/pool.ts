// A bounded number of connections, made when they are needed, thrown away when they are lost; the URL's options come before the gateway's.
import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailableError } from '../../contract.ts'
import type { PoolStatistics } from '../../statistics-contract.ts'
import { type Connection, type ConnectionOptions, connect } from '../connection.ts'
import type { PostgresTarget } from './connection-string.ts'
import { ConnectionLostError, isRolledBack } from './faults/pg-errors.ts'

export interface PoolOptions extends ConnectionOptions {
  readonly poolSize: number
}

export interface Pool extends AsyncDisposable {
  /** Runs once. A failure leaves open whether it took effect, unless the database said that it did not. */
  readonly once: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /** For what may run twice: again on a new connection when the first one was lost. */
  readonly repeatable: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /** One transaction; run again when the database rolled it back to solve a conflict. */
  readonly transaction: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /** The same on a connection of its own, for statements that take longer than the statement timeout allows. */
  readonly longTransaction: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /** A connection of its own, outside the bound, without a statement timeout unless it is `isTimed`. The caller closes it. */
  readonly dedicated: (isTimed?: boolean) => Promise<Connection>
  /** `run` bound to the current request, whichever request starts it later: for work that waits in a queue. */
  readonly ofRequest: (run: () => void) => () => void
  /** How long anything may wait for a connection, in milliseconds. Once something did, more that would wait is refused at once, until one is free. */
  readonly patienceMs: number
  /** Calls `listener` whenever the server found no room for a statement. */
  readonly onDiskFull: (listener: () => void) => void
  /** Of those within the bound. */
  readonly counts: () => Omit<PoolStatistics, 'name'>
}

interface Waiter {
  readonly resolve: (connection: Connection) => void
  readonly reject: (error: unknown) => void
}

const CONFLICT_ATTEMPTS = 5
/** Before the second attempt, at most; longer before each further one. */
const CONFLICT_PAUSE_MS = 50
const CLOSED = 'the store is closed'
const TOO_LATE = 'no connection to the database became free in time'

export function createPool(target: PostgresTarget, given: PoolOptions): Pool {
  const diskFullListeners: (() => void)[] = []
  const options: PoolOptions = { ...withUrlOptions(given, target), onDiskFull: tellDiskFull }
  const open = new Set<Connection>()
  let idle: Connection[] = []
  let waiters: Waiter[] = []
  let opening = 0
  let lastHost = 0
  let isStuck = false
  const patienceMs = options.connectTimeoutMs * target.hosts.length
  let isClosed = false

  function tellDiskFull(): void {
    for (const listener of diskFullListeners) listener()
  }

  async function connectOne(connectionOptions: ConnectionOptions): Promise<Connection> {
    const { connection, host } = await connect(target, connectionOptions, lastHost)
    // A server that crashes may end it in the very bytes that begin it: nobody has listened for that.
    if (connection.isLost()) throw new ConnectionLostError('the connection to the database was lost')
    lastHost = host
    return connection
  }

  /** For the longest waiting. When it fails and there is no other connection to wait for, all who wait are told at once. */
  async function openOne(): Promise<void> {
    opening += 1
    try {
      const connection = await connectOne(options)
      open.add(connection)
      connection.onLost(() => discard(connection))
      release(connection)
    } catch (error) {
      if (open.size > 0) return
      const refused = waiters
      waiters = []
      for (const { reject } of refused) reject(error)
    } finally {
      opening -= 1
      isStuck = false
    }
  }

  /** A primary that is gone takes its other connections with it: none of them is tried first. */
  function discard(connection: Connection): void {
    isStuck = false
    open.delete(connection)
    const others = idle.filter((other) => other !== connection)
    idle = []
    for (const other of others) {
      open.delete(other)
      other.close()
    }
    if (waiters.length > opening && !isClosed) void openOne()
  }

  function release(connection: Connection): void {
    isStuck = false
    // Whoever had it next would have its statements refused, and a pooler would keep a server for it.
    if (connection.hasTransaction()) connection.close()
    if (connection.isLost()) return
    const next = waiters.shift()
    if (next) next.resolve(connection)
    else if (isClosed) connection.close()
    else idle.push(connection)
  }

  function acquire(): Promise<Connection> {
    if (isClosed) return Promise.reject(new StoreUnavailableError(CLOSED))
    const free = idle.pop()
    if (free) return Promise.resolve(free)
    if (isStuck && (opening > 0 || open.size >= options.poolSize)) {
      return Promise.reject(new StoreUnavailableError(TOO_LATE))
    }
    const { promise, resolve, reject } = Promise.withResolvers<Connection>()
    const waiter = { resolve, reject }
    waiters.push(waiter)
    if (open.size + opening < options.poolSize) void openOne()
    const timer = setTimeout(() => {
      isStuck = true
      waiters = waiters.filter((other) => other !== waiter)
      reject(new StoreUnavailableError(TOO_LATE))
    }, patienceMs)
    return promise.finally(() => clearTimeout(timer))
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
      await connection.commit()
      return answer
    } catch (error) {
      if (!connection.isLost()) await connection.rollback().catch(() => connection.close())
      throw error
    }
  }

  /** Again when the database rolled it back to solve a conflict, after a random pause: not in step with whoever it met. */
  async function untilSettled<T>(run: () => Promise<T>): Promise<T> {
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

  return {
    once,
    async repeatable(run) {
      try {
        return await once(run)
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error
        return once(run)
      }
    },
    transaction: (run) => untilSettled(() => once((connection) => inTransaction(connection, run))),
    longTransaction: (run) =>
      untilSettled(async () => {
        const connection = await dedicated()
        try {
          return await inTransaction(connection, run)
        } finally {
          connection.close()
        }
      }),
    dedicated,
    ofRequest: options.traces?.bind ?? ((run) => run),
    patienceMs,
    onDiskFull(listener) {
      diskFullListeners.push(listener)
    },
    counts: () => ({
      used: open.size - idle.length,
      idle: idle.length,
      waiting: waiters.length,
      max: options.poolSize,
    }),
    async [Symbol.asyncDispose]() {
      isClosed = true
      for (const connection of open) connection.close()
      open.clear()
      idle = []
      // Those that are being made are for the longest waiting; nothing becomes free for the others.
      for (const { reject } of waiters.splice(opening)) reject(new StoreUnavailableError(CLOSED))
    },
  }
}

/** What the URL says itself stands in for what is set for every database; a pooling that was chosen stays. */
function withUrlOptions(options: PoolOptions, { connectTimeoutMs, isPooled }: PostgresTarget): PoolOptions {
  const { pooling = 'auto' } = options
  return {
    ...options,
    connectTimeoutMs: connectTimeoutMs ?? options.connectTimeoutMs,
    pooling: isPooled && pooling === 'auto' ? 'transaction' : pooling,
  }
}
