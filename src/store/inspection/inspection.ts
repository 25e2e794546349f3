// Inspects a database for an operator without changing it.
import { databasePath } from '../open-store.ts'
import type { PoolOptions } from '../postgres/engine/pool.ts'
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
  if (path !== null) return (await import('./inspect-sqlite.ts')).inspectSqlite(path)
  return (await import('./inspect-postgres.ts')).inspectPostgres(databaseUrl, options, clock)
}

/**
 * Descriptions of the other processes or clients that have the database open; empty where that cannot be seen. Throws
 * the same errors as `inspectDatabase`. Writes nothing.
 */
export async function usersOfDatabase(databaseUrl: string, options: PoolOptions): Promise<readonly string[]> {
  const path = databasePath(databaseUrl)
  if (path !== null) return (await import('./inspect-sqlite.ts')).processesUsing(path)
  return (await import('./inspect-postgres.ts')).clientsUsing(databaseUrl, options)
}
