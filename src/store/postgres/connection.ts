// One connection, to the first of the URL's hosts that will do, and the statements sent on it, one at a time.
import { Socket } from 'node:net'
import { Client, type QueryResultRow } from 'pg'
import { reasonOf } from '../../errors.ts'
import { StoreUnavailableError } from '../contract.ts'
import { requireChannelBinding } from './engine/channel-binding.ts'
import type { Access, Host, PostgresTarget } from './engine/connection-string.ts'
import { ConnectionLostError, DiskFullError, leavesCommitOpen, toStoreError } from './engine/faults/pg-errors.ts'
import { readPasswordFile } from './engine/password/password-file.ts'
import {
  assertAccess,
  beginSession,
  beginTransaction,
  isOtherServer,
  type Pooling,
  READ_COMMITTED,
} from './engine/session-settings.ts'
import { type StatementTraces, withTraceComment } from './engine/trace-comment.ts'

/** Prepared once per connection under its name, where nothing but the server can answer the connection. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export interface Connection {
  /** The rows. Throws `StoreUnavailableError` for what may work again by itself. */
  readonly query: <R extends QueryResultRow>(statement: Statement, values?: readonly unknown[]) => Promise<readonly R[]>
  /** Statements without parameters, separated by `;`, none of which begins or ends a transaction. Answers the rows of the last. */
  readonly script: (text: string) => Promise<readonly QueryResultRow[]>
  /** `mode` as SQL has it; read committed unless given. When it throws, the connection is lost. */
  readonly begin: (mode?: string) => Promise<void>
  readonly commit: () => Promise<void>
  readonly rollback: () => Promise<void>
  /** Whether each transaction may have another server: then nothing is kept between them. */
  readonly isPooled: () => boolean
  /** Whether it can take no further statement. */
  readonly isLost: () => boolean
  /** Whether the server said, with its last answer, that a transaction is open or was broken off. */
  readonly hasTransaction: () => boolean
  readonly onLost: (listener: () => void) => void
  readonly close: () => void
}

export interface ConnectionOptions {
  readonly connectTimeoutMs: number
  /** 0: none. */
  readonly statementTimeoutMs: number
  /** What stands in between; `auto`, the default, finds it out for each connection. */
  readonly pooling?: Pooling | undefined
  /** Absent: no statement says which trace it belongs to. */
  readonly traces?: StatementTraces | undefined
  /** Called with every statement that found no room. */
  readonly onDiskFull?: () => void
}

/** Without a name it is prepared for this one time. */
interface SentStatement {
  readonly name?: string
  readonly text: string
}

const UNREACHABLE: Readonly<Record<Access, string>> = {
  'read-write': 'no database server that accepts writes can be reached',
  any: 'no database server can be reached',
  standby: 'no standby of the database can be reached',
}

/** The server stops a statement that takes too long; when it does not even say so, the connection is given up after this. */
const SILENCE_MS = 500
/** After which a server that says nothing is asked whether its machine is there: a statement without a timeout waits for it. Two hours unless it is set. */
const KEEP_ALIVE_MS = 10_000
/** Of the protocol: what the server says of itself outside of any transaction. */
const IDLE = 'I'
const INT8 = 20
const INT4 = 23

const types = {
  getTypeParser: (oid: number) => (oid === INT8 || oid === INT4 ? Number : (text: string) => text),
}

/** To the first of the hosts, beginning with `first`, that will do; answers its index too. */
export async function connect(
  target: PostgresTarget,
  options: ConnectionOptions,
  first: number,
): Promise<{ readonly connection: Connection; readonly host: number }> {
  const causes: unknown[] = []
  for (let index = 0; index < target.hosts.length; index += 1) {
    const host = (first + index) % target.hosts.length
    const address = target.hosts[host]
    if (!address) continue
    try {
      return { connection: await connectTo(address, target, options), host }
    } catch (error) {
      causes.push(error)
    }
  }
  const [only] = causes
  throw new StoreUnavailableError(UNREACHABLE[target.access], {
    cause: causes.length === 1 ? only : new AggregateError(causes, causes.map(reasonOf).join('; ')),
  })
}

async function connectTo(host: Host, target: PostgresTarget, options: ConnectionOptions): Promise<Connection> {
  if (target.tls === null) return connectWith(host, target, options, null)
  try {
    return await connectWith(host, target, options, target.tls)
  } catch (error) {
    if (target.isTlsOptional && hasNoTls(error)) return connectWith(host, target, options, null)
    throw error
  }
}

async function connectWith(
  { host, port }: Host,
  target: PostgresTarget,
  options: ConnectionOptions,
  tls: PostgresTarget['tls'],
): Promise<Connection> {
  const socket = new Socket()
  const client = new Client({
    host,
    port,
    user: target.user,
    password: target.password,
    database: target.database,
    application_name: target.applicationName,
    ...(target.startOptions === undefined ? {} : { options: target.startOptions }),
    enableChannelBinding: target.channelBinding !== 'disable',
    ssl: tls === null || host.startsWith('/') ? false : tls(host),
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // A transaction of one statement is sent at once; whatever else is sent waits for what was sent before it.
    pipeline: true,
    stream: () => socket,
    types,
  })
  const listeners: (() => void)[] = []
  let lost = false
  let isWarned = false
  let isPooled = false
  let isInTransaction = false
  let underWay = 0

  function lose(): void {
    if (lost) return
    lost = true
    socket.destroy()
    for (const listener of listeners) listener()
  }

  /** Everything that is asked of the server passes here: it fails in the contract's words, and in time. */
  async function within<T>(asking: () => Promise<T>): Promise<T> {
    if (lost) throw new ConnectionLostError('the connection to the database was lost')
    const silence = Promise.withResolvers<never>()
    const { statementTimeoutMs } = options
    const timer = statementTimeoutMs > 0 ? setTimeout(giveUp, statementTimeoutMs + SILENCE_MS) : undefined
    function giveUp(): void {
      silence.reject(new ConnectionLostError('the database did not answer in time'))
    }
    underWay += 1
    try {
      const answer = await Promise.race([asking(), silence.promise])
      // A commit whose wait for its standby was cancelled says so in a warning, and then that it succeeded.
      if (isWarned) throw new ConnectionLostError('the database answered with a warning')
      return answer
    } catch (error) {
      const failure = toStoreError(error)
      if (failure instanceof ConnectionLostError) lose()
      if (failure instanceof DiskFullError) options.onDiskFull?.()
      throw failure
    } finally {
      underWay -= 1
      clearTimeout(timer)
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

  /** Where it fails, the transaction may be there, broken off, or not: nothing more is asked on this connection. */
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
    // Another text each time: to keep it prepared would help nobody.
    if (traceparent !== null) return { text: withTraceComment(text, traceparent) }
    return isPooled ? { text } : { name, text }
  }

  /**
   * In one round trip. Behind a part that fails, the server refuses the others and rolls back; behind a beginning that only a
   * pooler refuses, it does what it is asked.
   */
  async function runAsTransaction<R extends QueryResultRow>(
    statement: SentStatement,
    values: unknown[],
  ): Promise<readonly R[]> {
    const { stream } = client.connection
    stream.cork()
    const parts = [runBegin(READ_COMMITTED), client.query<R>({ ...statement, values }), client.query('commit')] as const
    stream.uncork()
    // Until all have ended: what is sent next is another transaction.
    const [begun] = await Promise.allSettled(parts)
    if (begun.status === 'rejected') throw toOutcomeOpen(begun.reason)
    const [, { rows }] = await Promise.all(parts)
    return rows
  }

  async function end(command: 'commit' | 'rollback'): Promise<void> {
    await runScript(command)
    isInTransaction = false
  }

  readPasswordFile(client)
  if (target.channelBinding === 'require') requireChannelBinding(client.connection)
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
      // What is under way would be waited for.
      if (underWay > 0) socket.destroy()
      else void client.end().catch(() => {})
      for (const listener of listeners) listener()
    },
  }
  try {
    await client.connect()
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
  return new ConnectionLostError(`the database began no transaction: ${reasonOf(reason)}`, { cause: reason })
}

function hasNoTls(error: unknown): boolean {
  return reasonOf(error).includes('does not support SSL')
}
