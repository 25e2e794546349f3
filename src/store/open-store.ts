// Which adapter answers for a database URL.
import { UsageError } from '../errors.ts'
import { openSqliteStore, type SqliteStoreOptions } from './sqlite/open-sqlite-store.ts'
import type { Store } from './store.ts'

const FILE_SCHEME = 'file:'

/** `file:PATH`, relative to the working directory. */
export function openStore(databaseUrl: string, options: SqliteStoreOptions): Promise<Store> {
  if (databaseUrl.startsWith(FILE_SCHEME)) return openSqliteStore(sqlitePath(databaseUrl), options)
  throw new UsageError('--database: use file:PATH')
}

/** The path in `file:PATH`, `file:///PATH` and `file://localhost/PATH`. */
function sqlitePath(databaseUrl: string): string {
  const rest = databaseUrl.slice(FILE_SCHEME.length)
  const path = rest.replace(/^\/\/(localhost)?(?=\/)/, '')
  if (path === '') throw new UsageError('--database: file: needs a path')
  return path
}
