// A PostgreSQL database and its server, as a gateway would find them.
import { StoreOpenError } from '../contract.ts'
import { type PostgresTarget, readPostgresUrl } from '../postgres/engine/connection-string.ts'
import { createPool, type PoolOptions } from '../postgres/engine/pool.ts'
import { isServerShared } from '../postgres/engine/shared-server.ts'
import { SCHEMA_VERSION, versionOf } from '../postgres/migrations.ts'

export interface PostgresInspection {
  readonly engine: 'postgres'
  readonly schemaVersion: number
  readonly knownVersion: number
  /** Whether something in between answers connections in place of the server. */
  readonly isPooled: boolean
  /** Whether connections were seen to share a server; not looked for where it would do no harm. */
  readonly sharesServers: boolean
  readonly fsync: boolean
  readonly fullPageWrites: boolean
  /** Of all clients together. */
  readonly maxConnections: number
  /** The server's clock less this one's, in milliseconds; half of the round trip may be error. */
  readonly clockOffsetMs: number
  /** Whether the connection is encrypted, or does not leave the machine. */
  readonly isPrivate: boolean
}

// Not prepared under a name: a pooler that is not known of would answer for another server.
const FACTS = `select current_setting('fsync') as fsync, current_setting('full_page_writes') as "fullPageWrites",
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as "maxConnections",
  (extract(epoch from clock_timestamp()) * 1000)::bigint as now,
  coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as "isEncrypted"`

// Behind a pooler it may also be a connection that the pooler keeps for later.
const CLIENTS = {
  name: 'clients',
  text: `select coalesce(host(client_addr), 'this machine') as address, count(*)::int as connections
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name = $1
    group by 1 order by 1`,
}
/** A server notices the end of a client a moment later. */
const LATER = 'select pg_sleep(0.3)'

interface ClientsRow {
  readonly address: string
  readonly connections: number
}

/** From where this program has connections to a database, the one that asks left out, in words. */
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
  return await pool.once(async (connection) => {
    const schemaVersion = await versionOf(connection)
    if (schemaVersion === null) throw new StoreOpenError('there is nothing of this program in the database')
    const before = clock()
    const [facts] = await connection.script(FACTS)
    const middle = (before + clock()) / 2
    if (!facts) throw new Error('the database answered nothing')
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
    }
  })
}

/** With `sslmode=prefer` it is the server that decides. Behind a pooler it tells of the way from there. */
function isEncrypted({ tls, isTlsOptional }: PostgresTarget, facts: { readonly isEncrypted?: unknown }): boolean {
  return tls !== null && (!isTlsOptional || facts.isEncrypted === true)
}

function isLocal(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || host.startsWith('127.')
}
