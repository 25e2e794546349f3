// One connection to a server that will do, and the statements sent on it, one at a time.
import { Socket } from 'node:net'
import { Client, type QueryResultRow } from 'pg'
import { StoreUnavailableError } from '../contract.ts'
import type { Access, Host, PostgresTarget } from './engine/connection-string.ts'
import { ConnectionLostError, toStoreError } from './engine/pg-errors.ts'

/** Prepared once per connection under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export interface Connection {
  /** The rows. Throws `StoreUnavailableError` for what may work again by itself. */
  readonly query: <R extends QueryResultRow>(statement: Statement, values?: readonly unknown[]) => Promise<readonly R[]>
  /** Statements without parameters, separated by `;`. Answers the rows of the last. */
  readonly script: (text: string) => Promise<readonly QueryResultRow[]>
  /** Whether it can take no further statement. */
  readonly isLost: () => boolean
  readonly onLost: (listener: () => void) => void
  readonly close: () => void
}

export interface ConnectionOptions {
  readonly connectTimeoutMs: number
  /** 0: none. */
  readonly statementTimeoutMs: number
}

const UNREACHABLE: Readonly<Record<Access, string>> = {
  'read-write': 'no database server that accepts writes can be reached',
  any: 'no database server can be reached',
  standby: 'no standby of the database can be reached',
}

/** The server stops a statement that takes too long; when it does not even say so, the connection is given up after this. */
const SILENCE_MS = 500
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
    cause: causes.length === 1 ? only : new AggregateError(causes, causes.map(messageOf).join('; ')),
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
    ssl: tls === null || host.startsWith('/') ? false : tls(host),
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
    stream: () => socket,
    types,
  })
  const listeners: (() => void)[] = []
  let lost = false
  let isWarned = false

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
    try {
      const answer = await Promise.race([asking(), silence.promise])
      // A commit whose wait for its standby was cancelled says so in a warning, and then that it succeeded.
      if (isWarned) throw new ConnectionLostError('the database answered with a warning')
      return answer
    } catch (error) {
      const failure = toStoreError(error)
      if (failure instanceof ConnectionLostError) lose()
      throw failure
    } finally {
      clearTimeout(timer)
    }
  }

  client.on('error', lose)
  client.on('end', lose)
  client.on('notice', ({ code = '' }) => {
    isWarned = /^(?:01|57)/.test(code)
  })
  const connection: Connection = {
    query: (statement, values = []) =>
      within(async () => (await client.query({ ...statement, values: [...values] })).rows),
    script: (text) =>
      within(async () => {
        const result = await client.query(text)
        return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? []
      }),
    isLost: () => lost,
    onLost: (listener) => listeners.push(listener),
    close() {
      if (lost) return
      lost = true
      void client.end().catch(() => {})
      for (const listener of listeners) listener()
    },
  }
  try {
    await client.connect()
    isWarned = false
    await requireAccess(connection, target.access, options)
    return connection
  } catch (error) {
    lose()
    throw error
  }
}

/**
 * Settings the promises rest on, whatever the server's defaults are. Set by statement, not at start-up, so that a
 * connection pooler in between sees nothing unusual.
 */
async function requireAccess(
  connection: Connection,
  access: Access,
  { statementTimeoutMs }: ConnectionOptions,
): Promise<void> {
  const [state] = await connection.script(`
    set statement_timeout = ${statementTimeoutMs};
    set idle_in_transaction_session_timeout = ${statementTimeoutMs};
    set default_transaction_isolation = 'read committed';
    set standard_conforming_strings = on;
    set jit = off;
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off';
    select pg_is_in_recovery()::text as standby, current_setting('transaction_read_only') as readonly,
      current_setting('server_encoding') as encoding`)
  const isStandby = state?.standby === 'true'
  if (access === 'read-write' && (isStandby || state?.readonly === 'on'))
    throw new Error('the server accepts no writes')
  if (access === 'standby' && !isStandby) throw new Error('the server is not a standby')
}

function hasNoTls(error: unknown): boolean {
  return messageOf(error).includes('does not support SSL')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
