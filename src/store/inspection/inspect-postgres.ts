// Inspects a PostgreSQL database and its server as a gateway would see them.
import { StoreOpenError } from '../contract.ts'
import { toOpenError } from '../postgres/engine/connecting/open-errors.ts'
import { type PostgresTarget, readPostgresUrl } from '../postgres/engine/connection-string.ts'
import { createPool, type PoolOptions } from '../postgres/engine/pool.ts'
import { isServerShared } from '../postgres/engine/shared-server.ts'
import { SCHEMA_VERSION, versionOf } from '../postgres/migrations.ts'

export interface PostgresInspection {
  readonly engine: 'postgres'
  readonly schemaVersion: number
  readonly knownVersion: number
  /** Whether a connection pooler accepts connections in place of the server. */
  readonly isPooled: boolean
  /**
   * Whether connections were observed to share a server process. Checked only with pooling `session`: elsewhere it is
   * safe.
   */
  readonly sharesServers: boolean
  readonly fsync: boolean
  readonly fullPageWrites: boolean
  /** For all clients together, without the connections reserved for superusers. */
  readonly maxConnections: number
  /** The server's clock minus the local clock, in milliseconds. The error is at most half of the round-trip time. */
  readonly clockOffsetMs: number
  /** Whether the connection is encrypted or does not leave the machine. */
  readonly isPrivate: boolean
}

// Not a named prepared statement: behind an unknown pooler it could run on a server process that has not prepared it.
const FACTS = `select current_setting('fsync') as fsync, current_setting('full_page_writes') as "fullPageWrites",
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as "maxConnections",
  (extract(epoch from clock_timestamp()) * 1000)::bigint as now,
  coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as "isEncrypted"`

// Behind a pooler this also counts idle connections that the pooler keeps open.
const CLIENTS = {
  name: 'clients',
  text: `select coalesce(host(client_addr), 'this machine') as address, count(*)::int as connections
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name = $1
    group by 1 order by 1`,
}
/** The server notices only after a moment that a client has disconnected. */
const LATER = 'select pg_sleep(0.3)'

interface ClientsRow {
  readonly address: string
  readonly connections: number
}

/** Descriptions of this program's connections to the database by client address, without the connection that asks. */
export async function clientsUsing(databaseUrl: string, options: PoolOptions): Promise<readonly string[]> {
  const target = readPostgresUrl(databaseUrl)
  await using pool = createPool(target, options)
  const clients = await pool.once(async (connection) => {
    const find = () => connection.query<ClientsRow>(CLIENTS, [target.applicationName])
    if ((await find()).length === 0) return []
    await connection.script(LATER)
    return find()
  })
  return clients.map(({ address, connections: n }) => `${n} ${n === 1 ? 'connection' : 'connections'} from ${address}`)
}

export async function inspectPostgres(
  databaseUrl: string,
  options: PoolOptions,
  clock: () => number,
): Promise<PostgresInspection> {
  const target = readPostgresUrl(databaseUrl)
  await using pool = createPool(target, options)
  const inspecting = pool.once(async (connection) => {
    const schemaVersion = await versionOf(connection)
    if (schemaVersion === null) throw new StoreOpenError('the database has no tables of this program')
    const before = clock()
    const [facts] = await connection.script(FACTS)
    const middle = (before + clock()) / 2
    if (!facts) throw new Error('the database gave no answer')
    return {
      engine: 'postgres',
      schemaVersion,
      knownVersion: SCHEMA_VERSION,
      isPooled: connection.isPooled(),
      sharesServers: options.pooling === 'session' && (await isServerShared(connection, pool)),
      fsync: facts.fsync === 'on',
      fullPageWrites: facts.fullPageWrites === 'on',
      maxConnections: facts.maxConnections,
      clockOffsetMs: facts.now - middle,
      isPrivate: isEncrypted(target, facts) || target.hosts.every(({ host }) => isLocal(host)),
    } as const
  })
  return await inspecting.catch((error: unknown) => {
    throw toOpenError(error)
  })
}

/**
 * With `sslmode=prefer` the server decides, so its view counts. Behind a pooler it describes the pooler's connection.
 */
function isEncrypted({ tls, isTlsOptional }: PostgresTarget, facts: { readonly isEncrypted?: unknown }): boolean {
  return tls !== null && (!isTlsOptional || facts.isEncrypted === true)
}

function isLocal(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || host.startsWith('127.')
}
