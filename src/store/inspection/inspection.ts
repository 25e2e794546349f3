// Inspects a database for an operator without changing it.
import { databasePath } from '../open-store.ts'
import type { PoolOptions } from '../postgres/engine/pool.ts'
import { behindLinks } from '../sqlite/engine/files/behind-links.ts'
import type { PostgresInspection } from './inspect-postgres.ts'
import type { SqliteInspection } from './inspect-sqlite.ts'

export type Inspection = SqliteInspection | PostgresInspection

/** Throws `UsageError`, `StoreOpenError`, `StoreUnavailableError`, or an error of the engine. It only reads. */
export async function inspectDatabase(
  databaseUrl: string,
  options: PoolOptions,
  clock: () => number,
): Promise<Inspection> {
  const path = databasePath(databaseUrl)
  if (path !== null) return (await import('./inspect-sqlite.ts')).inspectSqlite(await linkTarget(path))
  return (await import('./inspect-postgres.ts')).inspectPostgres(databaseUrl, options, clock)
}

/**
 * Descriptions of the other processes or clients that have the database open; empty where that cannot be seen. Throws
 * the same errors as `inspectDatabase`. Writes nothing.
 */
export async function usersOfDatabase(databaseUrl: string, options: PoolOptions): Promise<readonly string[]> {
  const path = databasePath(databaseUrl)
  if (path !== null) return (await import('./inspect-sqlite.ts')).processesUsing(await linkTarget(path))
  return (await import('./inspect-postgres.ts')).clientsUsing(databaseUrl, options)
}

/** The `-wal` and the `-shm` are beside this path. A link that cannot be followed stays as it is, and cannot be opened. */
function linkTarget(path: string): Promise<string> {
  return behindLinks(path).catch(() => path)
}
