// `postgres://…` as libpq reads it, with several hosts: where to connect, as whom and how.
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { UsageError } from '../../../errors.ts'

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
}

const DEFAULT_PORT = 5432
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
  'application_name',
  'host',
  'port',
]

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
      `${option}: ${error.message}; use postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?sslmode=…`,
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
    ...readTls(parameters),
  }
}

function readHost(text: string, defaultPort: string | null): Host {
  const name = decoded(text) ?? 'localhost'
  if (name.startsWith('/')) return { host: name, port: Number(defaultPort ?? DEFAULT_PORT) }
  const [, host = '', port = defaultPort ?? DEFAULT_PORT] = HOST.exec(name) ?? wrong('a host cannot be read')
  return { host: host.replace(/^\[|\]$/g, '') || 'localhost', port: Number(port) }
}

function readTls(parameters: URLSearchParams): Pick<PostgresTarget, 'tls' | 'isTlsOptional'> {
  const text = parameters.get('sslmode') ?? 'prefer'
  const mode = SSL_MODES.find((name) => name === text) ?? wrong(`sslmode must be ${SSL_MODES.join(', ')}`)
  if (mode === 'disable') return { tls: null, isTlsOptional: true }
  const files: ConnectionOptions = {
    ...readOption(parameters, 'sslrootcert', 'ca'),
    ...readOption(parameters, 'sslcert', 'cert'),
    ...readOption(parameters, 'sslkey', 'key'),
  }
  // As libpq has it: who names an authority wants it asked.
  const isVerified = mode === 'verify-ca' || mode === 'verify-full' || (mode === 'require' && files.ca !== undefined)
  return {
    isTlsOptional: mode === 'prefer',
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
