// Which adapter answers for a database URL.
import { UsageError } from '../errors.ts'
import type { MigratableStore } from './cutover/contract.ts'
import { isPostgresUrl, readPostgresUrl, readReplicaUrl } from './postgres/engine/connection-string.ts'
import type { PostgresStoreOptions } from './postgres/open.ts'
import type { SqliteStoreOptions } from './sqlite/open.ts'

const FILE_SCHEME = 'file:'
const NO_REPLICA = 'database-replica: only a database on PostgreSQL has replicas'

/** Each adapter takes what concerns it. */
export type StoreOptions = SqliteStoreOptions & PostgresStoreOptions

export interface DatabaseUrls {
  readonly database: string
  readonly databaseNext?: string | undefined
  readonly databaseReplica?: string | undefined
}

/** Throws `UsageError` for what `openStore` would throw one for; opens nothing. */
export function requireDatabaseUrls({ database, databaseNext, databaseReplica }: DatabaseUrls): void {
  for (const url of [database, ...(databaseNext === undefined ? [] : [databaseNext])]) {
    if (databasePath(url) === null) readPostgresUrl(url)
  }
  if (databaseReplica === undefined) return
  if (databasePath(database) !== null) throw new UsageError(NO_REPLICA)
  readReplicaUrl(databaseReplica)
}

/** `file:PATH`, relative to the working directory, or `postgres://…`. */
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

/** Of the file that the URL names; null when it names a server. */
export function databasePath(databaseUrl: string): string | null {
  return databaseUrl.startsWith(FILE_SCHEME) ? sqlitePath(databaseUrl) : null
}

/** The path in `file:PATH`, `file:///PATH` and `file://localhost/PATH`. */
function sqlitePath(databaseUrl: string): string {
  const rest = databaseUrl.slice(FILE_SCHEME.length)
  const path = rest.replace(/^\/\/(localhost)?(?=\/)/, '')
  if (path === '') throw new UsageError('database: file: needs a path')
  return path
}
