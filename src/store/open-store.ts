// Which adapter answers for a database URL.
import { UsageError } from '../errors.ts'
import type { MigratableStore } from './cutover/contract.ts'
import { isPostgresUrl } from './postgres/engine/connection-string.ts'
import type { PostgresStoreOptions } from './postgres/open.ts'
import type { SqliteStoreOptions } from './sqlite/open.ts'

const FILE_SCHEME = 'file:'

/** Each adapter takes what concerns it. */
export type StoreOptions = SqliteStoreOptions & PostgresStoreOptions

/** `file:PATH`, relative to the working directory, or `postgres://…`. */
export async function openStore(databaseUrl: string, options: StoreOptions): Promise<MigratableStore> {
  if (databaseUrl.startsWith(FILE_SCHEME)) {
    if (options.replica) throw new UsageError('database-replica: only a database on PostgreSQL has replicas')
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
