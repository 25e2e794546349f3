// Chooses and opens the adapter for a database URL.
import { UsageError } from '../errors.ts'
import type { MigratableStore } from './cutover/contract.ts'
import { isPostgresUrl, readPostgresUrl, readReplicaUrl } from './postgres/engine/connection-string.ts'
import type { PostgresStoreOptions } from './postgres/open.ts'
import { statOf } from './sqlite/engine/files/file-identity.ts'
import type { SqliteStoreOptions } from './sqlite/open.ts'

const FILE_SCHEME = 'file:'
const NO_REPLICA = 'database-replica: only a database on PostgreSQL has replicas'

/** Each adapter reads only the options that it knows. */
export type StoreOptions = SqliteStoreOptions & PostgresStoreOptions

export interface DatabaseUrls {
  readonly database: string
  readonly databaseNext?: string | undefined
  readonly databaseReplica?: string | undefined
}

/** Throws `UsageError` for every URL for which `openStore` would throw it. Opens nothing. */
export function requireDatabaseUrls({ database, databaseNext, databaseReplica }: DatabaseUrls): void {
  for (const url of [database, ...(databaseNext === undefined ? [] : [databaseNext])]) {
    if (databasePath(url) === null) readPostgresUrl(url)
  }
  if (databaseReplica === undefined) return
  if (databasePath(database) !== null) throw new UsageError(NO_REPLICA)
  readReplicaUrl(databaseReplica)
}

/** Opens `file:PATH`, relative to the working directory, or `postgres://…`. Throws `UsageError` for any other URL. */
export async function openStore(databaseUrl: string, options: StoreOptions): Promise<MigratableStore> {
  if (databaseUrl.startsWith(FILE_SCHEME)) {
    if (options.replica) throw new UsageError(NO_REPLICA)
    const { openSqliteStore } = await import('./sqlite/open.ts')
    return openSqliteStore(sqlitePath(databaseUrl), options)
  }
  if (isPostgresUrl(databaseUrl)) {
    const { openPostgresStore } = await import('./postgres/open.ts')
    return openPostgresStore(databaseUrl, options)
  }
  throw new UsageError('database: use file:PATH or postgres://…')
}

/** Path of the file that the URL names; null if it names a server. */
export function databasePath(databaseUrl: string): string | null {
  return databaseUrl.startsWith(FILE_SCHEME) ? sqlitePath(databaseUrl) : null
}

/**
 * Which file a database in use is, for `StoreOptions` of further connections of this process. Undefined for a server.
 */
export function fileOf(databaseUrl: string): StoreOptions['file'] {
  const path = databasePath(databaseUrl)
  return path === null ? undefined : statOf(path)
}

/** The path in `file:PATH`, `file:///PATH` and `file://localhost/PATH`. */
function sqlitePath(databaseUrl: string): string {
  const rest = databaseUrl.slice(FILE_SCHEME.length)
  const path = rest.replace(/^\/\/(localhost)?(?=\/)/, '')
  if (path === '') throw new UsageError('database: file: needs a path')
  return path
}
