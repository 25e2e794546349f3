// Creates the client of the driver for one connection, without connecting it.
import { Socket } from 'node:net'
import { userInfo } from 'node:os'
import { Client, defaults } from 'pg'
import type { Host, PostgresTarget } from '../connection-string.ts'
import { readPasswordFile } from '../password/password-file.ts'
import { requireChannelBinding } from './channel-binding.ts'

/**
 * Idle time after which TCP keep-alive probes a silent machine, so that a lost connection is noticed before it is used
 * again. The usual default of the operating system is two hours.
 */
const KEEP_ALIVE_MS = 10_000
/** Object ids of the types `bigint` and `integer`. */
const INT8 = 20
const INT4 = 23

/** Integers become numbers. Every other value stays the text that the server sends. */
const types = {
  getTypeParser: (oid: number) => (oid === INT8 || oid === INT4 ? Number : (text: string) => text),
}

export interface DriverClient {
  readonly client: Client
  /** The socket under it. Destroying it ends the connection at once. */
  readonly socket: Socket
  /** Says goodbye to the server, and closes the connection even if the server does not within the grace period. */
  readonly end: (graceMs: number) => void
}

export function createDriverClient(
  { host, port }: Host,
  target: PostgresTarget,
  connectTimeoutMs: number,
  tls: PostgresTarget['tls'],
): DriverClient {
  const socket = new Socket()
  if (target.user === undefined) defaults.user = systemUser() ?? defaults.user
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
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // With `pipeline`, a transaction of one statement is sent in one go. Every other statement waits for the one before
    // it.
    pipeline: true,
    stream: () => socket,
    types,
  })
  readPasswordFile(client)
  if (target.channelBinding === 'require') requireChannelBinding(client.connection)
  return {
    client,
    socket,
    end(graceMs) {
      void client.end().catch(() => {})
      const timer = setTimeout(() => socket.destroy(), graceMs)
      socket.once('close', () => clearTimeout(timer))
    },
  }
}

/** The user whom libpq assumes when neither the URL nor PGUSER names one; null for a user without a name. */
function systemUser(): string | null {
  try {
    return userInfo().username
  } catch {
    return null
  }
}
