// Parses a `postgres://…` URL as libpq does, including several hosts: hosts, credentials and connection settings.
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { UsageError } from '../../../errors.ts'
import { CHANNEL_BINDINGS, type ChannelBinding } from './connecting/channel-binding.ts'

export interface Host {
  /** A name or an address. A path is the directory of a Unix socket. */
  readonly host: string
  readonly port: number
}

/** Which server is acceptable: a writable one, any one, or only a standby. */
export type Access = 'read-write' | 'any' | 'standby'

/** The purpose of a database URL, and the option that sets it. */
interface Role {
  readonly option: string
  /** Access by the value of `target_session_attrs`. The first entry is the default. */
  readonly sessionAttrs: Readonly<Record<string, Access>>
}

export interface PostgresTarget {
  readonly hosts: readonly Host[]
  /** Undefined members come from libpq's other sources: PGUSER, PGPASSWORD, ~/.pgpass. */
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string | undefined
  readonly applicationName: string
  /** TLS options by host; null disables TLS. */
  readonly tls: ((host: string) => ConnectionOptions) | null
  readonly access: Access
  /** Falls back to no TLS when the server does not support it: libpq's `prefer`. */
  readonly isTlsOptional: boolean
  /** `disable` unless the URL asks for it, because poolers do not support channel binding. */
  readonly channelBinding: ChannelBinding
  /** Timeout per host in milliseconds; undefined when the URL does not set it and the gateway's option applies. */
  readonly connectTimeoutMs: number | undefined
  /** Session settings, or the name by which a provider finds its database. */
  readonly startOptions: string | undefined
  /** Whether the URL announces a pooler in transaction mode. */
  readonly isPooled: boolean
}

const DEFAULT_PORT = 5432
const MAX_PORT = 65_535
const URL_PARTS = /^postgres(?:ql)?:\/\/(?:([^/?#@:]*)(?::([^/?#@]*))?@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/
const HOST = /^(\[[^\]]+\]|[^:[\]]*)(?::(\d{1,5}))?$/
/** Instead of a file of certificate authorities: those that the program trusts by itself. */
const SYSTEM_AUTHORITIES = 'system'
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** A gateway writes, so it always requires a writable server, whatever the URL says. */
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
/** The same maximum as for the gateway’s own option. */
const LONGEST_CONNECT_SECONDS = 600

export function isPostgresUrl(databaseUrl: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(databaseUrl)
}

/** Throws `UsageError`. No message contains any part of the URL except the names of its parameters. */
export function readPostgresUrl(databaseUrl: string): PostgresTarget {
  return readAs(PRIMARY, databaseUrl)
}

/** Same as `readPostgresUrl`, for a server that is only read from. */
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
  const [, user, password, hostList = '', path, search] = URL_PARTS.exec(databaseUrl) ?? wrong('the URL is not valid')
  // libpq only decodes percent signs. The class would turn a plus sign into a space.
  const parameters = new URLSearchParams(search?.replaceAll('+', '%2B'))
  for (const name of parameters.keys()) {
    if (!PARAMETERS.includes(name)) wrong(`unknown parameter "${name}" (known: ${PARAMETERS.join(', ')})`)
  }
  const known = Object.keys(sessionAttrs)
  const access = sessionAttrs[parameters.get('target_session_attrs') ?? known[0] ?? '']
  return {
    hosts: readHosts(hostList, parameters),
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

/** In seconds, as in libpq. Its value 0, "wait forever", is refused because every request has a time limit. */
function readConnectTimeout(parameters: URLSearchParams): number | undefined {
  const text = parameters.get('connect_timeout')
  if (text === null) return undefined
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= LONGEST_CONNECT_SECONDS) return seconds * 1_000
  return wrong(`connect_timeout must be a number of seconds from 1 to ${LONGEST_CONNECT_SECONDS}`)
}

/**
 * `pgbouncer=true` comes from Prisma and appears in the URLs of providers. It means that no session state survives
 * between transactions.
 */
function readIsPooled(parameters: URLSearchParams): boolean {
  const text = parameters.get('pgbouncer') ?? 'false'
  return text === 'true' || (text !== 'false' && wrong('pgbouncer must be true or false'))
}

/**
 * As in libpq, the parameters `host` and `port` replace what stands before the path. A single port is that of every
 * host.
 */
function readHosts(hostList: string, parameters: URLSearchParams): readonly Host[] {
  // Divided before they are decoded: a path is percent-encoded there, and a port may follow it.
  const addresses = hostList.split(',').map(divide)
  const names = parameters.get('host')?.split(',') ?? addresses.map(({ name }) => decoded(name) ?? '')
  const ports = parameters.get('port')?.split(',') ?? addresses.map(({ port }) => port)
  if (ports.length > 1 && ports.length !== names.length) wrong('there must be one port, or one for each host')
  return names.map((address, index) => {
    // A host of the parameter may have a port of its own, which libpq does not know.
    const { name, port } = address.startsWith('/') ? { name: address } : divide(address)
    return {
      host: name.replace(/^\[|\]$/g, '') || 'localhost',
      port: readPort(port ?? ports[ports.length > 1 ? index : 0]),
    }
  })
}

function divide(address: string): { readonly name: string; readonly port?: string | undefined } {
  const [, name = '', port] = HOST.exec(address) ?? wrong('a host is not valid')
  return { name, port }
}

function readPort(text = ''): number {
  if (text === '') return DEFAULT_PORT
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= MAX_PORT ? port : wrong(`the port must be a number from 1 to ${MAX_PORT}`)
}

function readTls(parameters: URLSearchParams): Pick<PostgresTarget, 'tls' | 'isTlsOptional' | 'channelBinding'> {
  const isSystem = parameters.get('sslrootcert') === SYSTEM_AUTHORITIES
  const text = parameters.get('sslmode') ?? (isSystem ? 'verify-full' : 'prefer')
  const mode = SSL_MODES.find((name) => name === text) ?? wrong(`sslmode must be ${SSL_MODES.join(', ')}`)
  if (isSystem && mode !== 'verify-full') wrong('sslrootcert=system needs sslmode=verify-full')
  const binding = parameters.get('channel_binding') ?? 'disable'
  const channelBinding =
    CHANNEL_BINDINGS.find((name) => name === binding) ?? wrong(`channel_binding must be ${CHANNEL_BINDINGS.join(', ')}`)
  if (mode === 'disable') {
    if (channelBinding === 'require') wrong('channel_binding=require needs TLS, and sslmode=disable forbids it')
    return { tls: null, isTlsOptional: true, channelBinding }
  }
  const readFiles = (): ConnectionOptions => ({
    ...(isSystem ? {} : readOption(parameters, 'sslrootcert', 'ca')),
    ...readOption(parameters, 'sslcert', 'cert'),
    ...readOption(parameters, 'sslkey', 'key'),
  })
  // A file that cannot be read is refused before anything connects.
  const { ca } = readFiles()
  // As in libpq: `require` with a certificate authority verifies the certificate.
  const isVerified = mode === 'verify-ca' || mode === 'verify-full' || (mode === 'require' && ca !== undefined)
  return {
    isTlsOptional: mode === 'prefer',
    channelBinding,
    // As in libpq, each connection reads the files: certificates are renewed while the gateway runs.
    tls: (servername) => ({
      ...readFiles(),
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

/** Percent-decodes the part. Undefined for an empty part. */
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
