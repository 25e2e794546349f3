// `postgres://…` as libpq reads it, with several hosts: hosts, credentials and settings of a connection.
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { UsageError } from '../../../errors.ts'
import { CHANNEL_BINDINGS, type ChannelBinding } from './channel-binding.ts'

export interface Host {
  /** A path is the directory of a Unix socket. */
  readonly host: string
  readonly port: number
}

/** Which server will do: one that can be written to, any, or only a standby. */
export type Access = 'read-write' | 'any' | 'standby'

/** What a database is named for, and the option that names it. */
interface Role {
  readonly option: string
  /** By what the URL may say; the first is the default. */
  readonly sessionAttrs: Readonly<Record<string, Access>>
}

export interface PostgresTarget {
  readonly hosts: readonly Host[]
  /** What is absent comes from where libpq takes it: PGUSER, PGPASSWORD, ~/.pgpass. */
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string | undefined
  readonly applicationName: string
  /** How to speak TLS, by host; null for without. */
  readonly tls: ((host: string) => ConnectionOptions) | null
  readonly access: Access
  /** Speak without TLS to a server that has none: libpq's `prefer`. */
  readonly isTlsOptional: boolean
  /** Without a word about it none is tried: poolers know none. */
  readonly channelBinding: ChannelBinding
  /** For each host; undefined where the URL leaves it to the gateway. */
  readonly connectTimeoutMs: number | undefined
  /** Settings of a session, or what a provider finds its database by. */
  readonly startOptions: string | undefined
  /** The URL says that a pooler in transaction mode is there. */
  readonly isPooled: boolean
}

const DEFAULT_PORT = 5432
const MAX_PORT = 65_535
const URL_PARTS = /^postgres(?:ql)?:\/\/(?:([^/?#@:]*)(?::([^/?#@]*))?@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/
const HOST = /^(\[[^\]]+\]|[^:[\]]*)(?::(\d{1,5}))?$/
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** A gateway writes: whatever the URL says, only a server that can be written to will do. */
const PRIMARY: Role = {
  option: 'database',
  sessionAttrs: { 'read-write': 'read-write', primary: 'read-write', any: 'read-write' },
}
const REPLICA: Role = {
  option: 'database-replica',
  sessionAttrs: { any: 'any', standby: 'standby', 'read-only': 'standby' },
}

const PARAMETERS = [
  'target_session_attrs',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'channel_binding',
  'application_name',
  'connect_timeout',
  'options',
  'pgbouncer',
  'host',
  'port',
]
/** As for the gateway’s own. */
const LONGEST_CONNECT_SECONDS = 600

export function isPostgresUrl(databaseUrl: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(databaseUrl)
}

/** Throws `UsageError`; no message holds any part of the URL but the names of its parameters. */
export function readPostgresUrl(databaseUrl: string): PostgresTarget {
  return readAs(PRIMARY, databaseUrl)
}

/** The same for a server that is only read from. */
export function readReplicaUrl(databaseUrl: string): PostgresTarget {
  return readAs(REPLICA, databaseUrl)
}

function readAs({ option, sessionAttrs }: Role, databaseUrl: string): PostgresTarget {
  try {
    return readUrl(databaseUrl, sessionAttrs)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(
      `${option}: ${error.message}; use postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?sslmode=…, special characters percent-encoded`,
    )
  }
}

function readUrl(databaseUrl: string, sessionAttrs: Role['sessionAttrs']): PostgresTarget {
  const [, user, password, hostList = '', path, search] = URL_PARTS.exec(databaseUrl) ?? wrong('it cannot be read')
  const parameters = new URLSearchParams(search)
  for (const name of parameters.keys()) {
    if (!PARAMETERS.includes(name)) wrong(`unknown parameter "${name}" (known: ${PARAMETERS.join(', ')})`)
  }
  const known = Object.keys(sessionAttrs)
  const access = sessionAttrs[parameters.get('target_session_attrs') ?? known[0] ?? '']
  return {
    hosts: (parameters.get('host') ?? hostList).split(',').map((host) => readHost(host, parameters.get('port'))),
    user: decoded(user),
    password: decoded(password),
    database: decoded(path),
    applicationName: parameters.get('application_name') ?? 'workspace-gateway',
    access: access ?? wrong(`target_session_attrs must be ${known.join(', ')}`),
    connectTimeoutMs: readConnectTimeout(parameters),
    startOptions: parameters.get('options') ?? undefined,
    isPooled: readIsPooled(parameters),
    ...readTls(parameters),
  }
}

/** In seconds, as libpq counts; its 0 for "for ever" is refused, since every request is bounded. */
function readConnectTimeout(parameters: URLSearchParams): number | undefined {
  const text = parameters.get('connect_timeout')
  if (text === null) return undefined
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= LONGEST_CONNECT_SECONDS) return seconds * 1_000
  return wrong(`connect_timeout must be a number of seconds from 1 to ${LONGEST_CONNECT_SECONDS}`)
}

/** Of Prisma, and in what providers hand out: nothing may be kept between transactions. */
function readIsPooled(parameters: URLSearchParams): boolean {
  const text = parameters.get('pgbouncer') ?? 'false'
  return text === 'true' || (text !== 'false' && wrong('pgbouncer must be true or false'))
}

function readHost(text: string, defaultPort: string | null): Host {
  const name = decoded(text) ?? 'localhost'
  if (name.startsWith('/')) return { host: name, port: readPort(defaultPort) }
  const [, host = '', port = defaultPort] = HOST.exec(name) ?? wrong('a host cannot be read')
  return { host: host.replace(/^\[|\]$/g, '') || 'localhost', port: readPort(port) }
}

function readPort(text: string | null): number {
  if (text === null || text === '') return DEFAULT_PORT
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= MAX_PORT ? port : wrong(`the port must be a number from 1 to ${MAX_PORT}`)
}

function readTls(parameters: URLSearchParams): Pick<PostgresTarget, 'tls' | 'isTlsOptional' | 'channelBinding'> {
  const text = parameters.get('sslmode') ?? 'prefer'
  const mode = SSL_MODES.find((name) => name === text) ?? wrong(`sslmode must be ${SSL_MODES.join(', ')}`)
  const binding = parameters.get('channel_binding') ?? 'disable'
  const channelBinding =
    CHANNEL_BINDINGS.find((name) => name === binding) ?? wrong(`channel_binding must be ${CHANNEL_BINDINGS.join(', ')}`)
  if (mode === 'disable') {
    if (channelBinding === 'require') wrong('channel_binding=require needs TLS, and sslmode=disable forbids it')
    return { tls: null, isTlsOptional: true, channelBinding }
  }
  const files: ConnectionOptions = {
    ...readOption(parameters, 'sslrootcert', 'ca'),
    ...readOption(parameters, 'sslcert', 'cert'),
    ...readOption(parameters, 'sslkey', 'key'),
  }
  // As libpq has it: who names an authority wants it asked.
  const isVerified = mode === 'verify-ca' || mode === 'verify-full' || (mode === 'require' && files.ca !== undefined)
  return {
    isTlsOptional: mode === 'prefer',
    channelBinding,
    tls: (servername) => ({
      ...files,
      ...(/^[\d.]+$|:|^\//.test(servername) ? {} : { servername }),
      rejectUnauthorized: isVerified,
      ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
    }),
  }
}

function readOption(parameters: URLSearchParams, name: string, option: 'ca' | 'cert' | 'key'): ConnectionOptions {
  const path = parameters.get(name)
  if (path === null) return {}
  try {
    return { [option]: readFileSync(path, 'utf8') }
  } catch {
    return wrong(`the file of ${name} cannot be read`)
  }
}

/** Undefined for nothing. */
function decoded(part: string | undefined): string | undefined {
  if (part === undefined || part === '') return undefined
  try {
    return decodeURIComponent(part)
  } catch {
    return wrong('a % in it is not followed by two hexadecimal digits: write % as %25')
  }
}

function wrong(reason: string): never {
  throw new UsageError(reason)
}
